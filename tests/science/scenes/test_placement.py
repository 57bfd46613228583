"""Where an object is, compared with its target."""

import numpy as np
import pytest

from spatialstudio.domain.generation import PlaceTarget
from spatialstudio.domain.verdict import Box, Detection, Mask, Perception
from spatialstudio.science.scenes.placement import offset_in_words, placements_of

WIDTH, HEIGHT = 200, 100


def detection(mention, left, top, right, bottom, score=0.9):
    box = Box(left=left, top=top, right=right, bottom=bottom)
    return Detection(mention_id=mention, label=mention, score=score, box=box, detector_id="by hand")


def mask(mention, rows, columns, score=0.9):
    pixels = np.zeros((HEIGHT, WIDTH), np.bool_)
    pixels[rows, columns] = True
    return Mask(mention_id=mention, pixels=pixels, score=score, source_id="by hand")


def placed(*seen, masks=(), mention="m1", x=0.5, y=0.5):
    perception = Perception(
        image_sha256="", height=HEIGHT, width=WIDTH, detections=seen, masks=masks
    )
    (found,) = placements_of([PlaceTarget(mention_id=mention, x=x, y=y)], perception)
    return found


def test_the_centroid_of_the_mask_counts_not_the_box():
    l_shape = mask("m1", slice(0, 100), slice(0, 20))
    l_shape = Mask(
        mention_id="m1",
        pixels=l_shape.pixels | mask("m1", slice(80, 100), slice(0, 100)).pixels,
        score=0.9,
        source_id="by hand",
    )
    found = placed(detection("m1", 0, 0, 100, 100), masks=(l_shape,)).found
    assert found.x == pytest.approx((2000 * 10 + 1600 * 60) / 3600 / WIDTH)
    assert found.y == pytest.approx((2000 * 50 + 1600 * 90) / 3600 / HEIGHT)
    assert found.box == (0, 0, 0.5, 1)


def test_each_axis_is_a_fraction_of_its_own_side():
    found = placed(detection("m1", 100, 50, 140, 90), x=0.3, y=0.3)
    assert found.offset_xy == pytest.approx((0.3, 0.4))
    assert found.distance == pytest.approx(0.5)


def test_the_best_instance_counts():
    poor, good = (
        mask("m1", slice(0, 9), slice(0, 9), 0.4),
        mask("m1", slice(45, 55), slice(95, 105)),
    )
    assert placed(masks=(poor, good)).distance == pytest.approx(0)


def test_the_size_is_the_diameter_of_a_disc_of_the_same_area():
    disc = np.hypot(*(np.mgrid[:HEIGHT, :WIDTH] - np.array([50, 100])[:, None, None])) < 30
    masks = (Mask(mention_id="m1", pixels=disc, score=0.9, source_id="by hand"),)
    assert placed(masks=masks).found.size == pytest.approx(60 / (WIDTH * HEIGHT) ** 0.5, rel=0.01)


def test_an_object_that_was_not_detected_has_no_offset():
    missing = placed(detection("m2", 0, 0, 10, 10))
    assert (missing.found, missing.offset_xy, missing.distance) == (None, None, None)
    assert offset_in_words(missing) == "not found"


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        (0.47, 0.54, "5 % of the side from its place (3 % right, 4 % up)"),
        (0.6, 0.5, "10 % of the side from its place (10 % left)"),
        (0.5, 0.5, "0 % of the side from its place"),
    ],
)
def test_an_offset_says_how_far_and_where(x, y, words):
    assert offset_in_words(placed(detection("m1", 90, 40, 110, 60), x=x, y=y)) == words
