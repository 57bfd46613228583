import numpy as np
import pytest

from spatialstudio.application.evaluate.recorded_runs import StudiedPicture, study_corruption
from spatialstudio.domain.errors import EmptyMapError
from spatialstudio.domain.verdict import Mask, Perception
from tests.fakes import scene_of

SIDE = 240


def square(mention, left):
    pixels = np.zeros((SIDE, SIDE), bool)
    pixels[80:160, left : left + 60] = True
    return Mask(mention_id=mention, pixels=pixels, score=0.9, source_id="fake")


def picture(*masks):
    seen = Perception(image_sha256="", height=SIDE, width=SIDE, detections=(), masks=masks)
    return StudiedPicture(scene=scene_of(), perception=seen)


@pytest.fixture
def rows():
    """The study of a clear picture and of one in which nothing was seen."""
    clear = picture(square("m1", 70), square("m2", 110))
    return study_corruption([clear, picture()], least_score=0.2)


def test_the_study_has_the_published_rows(rows):
    assert [row.name for row in rows] == [
        "none",
        *["dropout"] * 4,
        *["jitter"] * 4,
        *["opening"] * 4,
    ]


def test_dropout_and_opening_hardly_matter(rows):
    base, *others = rows
    still = [row.mean_pse for row in others if row.name != "jitter"]
    assert still == pytest.approx([base.mean_pse] * 8, abs=0.01)


def test_jitter_matters_more_with_its_distance(rows):
    changes = [abs(row.mean_pse - rows[0].mean_pse) for row in rows if row.name == "jitter"]
    assert changes[0] < changes[-1]


def test_an_undetected_object_counts_zero(rows):
    (alone, *_) = study_corruption([picture(square("m1", 70), square("m2", 110))], 0.2)
    assert rows[0].mean_pse == pytest.approx(alone.mean_pse / 2)


def test_the_same_seed_gives_the_same_study(rows):
    pictures = [picture(square("m1", 70), square("m2", 110)), picture()]
    assert study_corruption(pictures, least_score=0.2) == rows
    assert study_corruption(pictures, least_score=0.2, seed=1) != rows


def test_without_relations_the_study_is_rejected():
    with pytest.raises(EmptyMapError):
        study_corruption([], least_score=0.2)
