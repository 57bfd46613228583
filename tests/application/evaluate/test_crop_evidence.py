import numpy as np
import pytest

from spatialstudio.adapters.perturbations import PillowPerturber
from spatialstudio.application.evaluate.crops import crop_of, perturbed_crops
from spatialstudio.application.evaluate.evaluate_image import JudgeSet, evaluate_image
from spatialstudio.application.inspect.inspection import evidence_of
from spatialstudio.domain.verdict import REPRODUCE, Box
from tests.fakes import CountingToken, FakeDepth, FakeDetector, scene_of

PICTURE = np.full((16, 16, 3), 100, np.uint8)


@pytest.fixture
def evidence():
    """Of a picture whose left half is a dog and whose right half is a car."""
    judges = JudgeSet(detector=FakeDetector(), depth=FakeDepth(), perturber=PillowPerturber())
    scene = scene_of()
    evaluation = evaluate_image(PICTURE, scene, judges, CountingToken())
    return evidence_of(evaluation.verdicts[0], scene, evaluation)


def test_every_perturbation_has_a_crop(evidence):
    crops = perturbed_crops(PICTURE, evidence, PillowPerturber())
    assert len(crops) == len(evidence.perturbed) == len(REPRODUCE.perturbations)
    assert [int(crop.max()) for crop in crops] == [110, 90, 100, 100]
    assert {crop.shape for crop in crops} == {(16, 16, 3)}


def test_a_crop_holds_every_pixel_that_the_box_touches():
    picture = np.arange(16 * 16 * 3, dtype=np.uint8).reshape(16, 16, 3)
    crop = crop_of(picture, Box(left=1.5, top=2, right=4.2, bottom=6))
    assert np.array_equal(crop, picture[2:6, 1:5])
