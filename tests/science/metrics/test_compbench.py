from dataclasses import replace

import numpy as np
import pytest

from spatialstudio.domain.scene import (
    ABOVE,
    BEHIND,
    BELOW,
    IN_FRONT_OF,
    LEFT_OF,
    NEAR,
    RIGHT_OF,
)
from spatialstudio.domain.verdict import Box, Detection
from spatialstudio.science.metrics.compbench import (
    MENDED,
    PUBLISHED,
    depth_score,
    on_top_score,
    plane_score,
)

WIDTH = 480


def found(left, top, right, bottom, score=1.0):
    box = Box(left=left, top=top, right=right, bottom=bottom)
    return Detection(mention_id="m", label="m", score=score, box=box, detector_id="fake")


def at(x, y, score=1.0, half=10):
    return found(x - half, y - half, x + half, y + half, score)


@pytest.mark.parametrize(
    ("relation_type", "score"),
    [(LEFT_OF, 1), (RIGHT_OF, 0.5), (ABOVE, 0.5), (BELOW, 0.5)],
    ids=lambda value: getattr(value, "id", value),
)
def test_the_main_direction_of_the_centres_decides(relation_type, score):
    assert plane_score(relation_type, at(100, 110), at(300, 100), WIDTH) == score


@pytest.mark.parametrize("relation_type", [LEFT_OF, ABOVE], ids=lambda kind: kind.id)
def test_an_exact_diagonal_has_no_direction(relation_type):
    assert plane_score(relation_type, at(100, 100), at(200, 200), WIDTH) == 0.5


def test_centres_on_one_line_have_no_direction():
    assert plane_score(LEFT_OF, at(100, 100), at(100, 100), WIDTH) == 0.5


@pytest.mark.parametrize(
    ("shift", "held"),
    [(90, 1), (900 / 11, 1), (50, 0.1 * 3), (60, 0.1 / 0.25)],
    ids=["IoU .05", "IoU .1", "IoU 1/3", "IoU .25"],
)
def test_overlap_above_a_tenth_lowers_the_score(shift, held):
    subject, other = found(0, 0, 100, 100), found(shift, 0, shift + 100, 100)
    assert plane_score(LEFT_OF, subject, other, WIDTH) == pytest.approx(0.5 + 0.5 * held)


@pytest.mark.parametrize(
    ("subject", "other", "score"),
    [
        (None, None, 0),
        (at(1, 1), None, 0),
        (at(100, 100, 0.6), at(300, 100, 0.6), 0.8),
        (at(300, 100, 0.6), at(100, 100, 0.6), 0),
    ],
    ids=["nothing", "one", "placed as asked", "below the cut"],
)
def test_objects_count_a_quarter_each_and_small_scores_count_zero(subject, other, score):
    assert plane_score(LEFT_OF, subject, other, WIDTH) == pytest.approx(score)


@pytest.mark.parametrize(
    ("x", "y", "published", "mended"),
    [(149, 0, 1, 1), (150, 300, 0.5, 0.5), (100, 300, 1, 0.5), (200, 300, 0.5, 0.5)],
    ids=["close", "at the limit", "close along one axis", "apart"],
)
def test_near_is_a_distance_in_pixels(x, y, published, mended):
    pair = at(10, 10), at(10 + x, 10 + y)
    assert plane_score(NEAR, *pair, WIDTH) == pytest.approx(0.5 + 0.5 * published)
    assert plane_score(NEAR, *pair, WIDTH, MENDED) == pytest.approx(0.5 + 0.5 * mended)


def test_near_does_not_depend_on_the_size_of_the_picture():
    small = plane_score(NEAR, at(10, 10), at(210, 310), WIDTH)
    large = plane_score(NEAR, at(20, 20), at(420, 620), 2 * WIDTH)
    assert small == pytest.approx(large)


def test_on_top_of_is_never_met_as_published():
    pair = at(100, 50), at(100, 200)
    assert on_top_score(*pair, WIDTH) == 0.5
    assert on_top_score(*pair, WIDTH, MENDED) == 1
    assert on_top_score(at(100, 50, 0.3), None, WIDTH) == 0


@pytest.fixture
def farther_right():
    return np.tile(np.arange(100, dtype=np.float32), (100, 1))


@pytest.mark.parametrize(
    ("side", "shift", "published", "mended"),
    [(92, 20, 1, 1), (90, 30, 0, 1), (90, 45, 2 / 3, 2 / 3), (90, 90, 0, 0), (90, 95, 0, 0)],
    ids=["IoU .64", "IoU .5", "IoU 1/3", "touching", "apart"],
)
def test_depth_counts_where_boxes_overlap(farther_right, side, shift, published, mended):
    pair = found(0, 0, side, 10), found(shift, 0, shift + side, 10)
    upright = replace(PUBLISHED, transposes_depth=False)
    by_published = depth_score(IN_FRONT_OF, *pair, farther_right, upright)
    assert by_published == pytest.approx(0.5 + 0.5 * published)
    by_mended = depth_score(IN_FRONT_OF, *pair, farther_right, MENDED)
    assert by_mended == pytest.approx(0.5 + 0.5 * mended)


def test_the_nearer_object_is_in_front(farther_right):
    near, far = found(0, 0, 60, 10), found(20, 0, 80, 10)
    assert depth_score(IN_FRONT_OF, near, far, farther_right, MENDED) == pytest.approx(1)
    assert depth_score(BEHIND, near, far, farther_right, MENDED) == 0.5
    assert depth_score(BEHIND, far, near, farther_right, MENDED) == pytest.approx(1)


def test_equal_depth_is_neither_in_front_nor_behind(farther_right):
    pair = found(20, 0, 40, 30), found(20, 10, 40, 40)
    assert depth_score(IN_FRONT_OF, *pair, farther_right, MENDED) == 0.5
    assert depth_score(BEHIND, *pair, farther_right, MENDED) == 0.5


def test_the_published_depth_is_looked_up_in_a_transposed_region(farther_right):
    upper, lower = found(0, 0, 40, 60), found(0, 10, 40, 70)
    assert depth_score(IN_FRONT_OF, upper, lower, farther_right, MENDED) == 0.5
    assert depth_score(IN_FRONT_OF, upper, lower, farther_right, PUBLISHED) == pytest.approx(1)


def test_a_region_outside_the_picture_has_no_depth(farther_right):
    pair = found(0, 0, 60, 10), found(20, 0, 80, 10)
    assert depth_score(IN_FRONT_OF, *pair, farther_right[:10], PUBLISHED) >= 0.5
    outside = found(200, 0, 260, 10), found(210, 0, 270, 10)
    assert depth_score(IN_FRONT_OF, *outside, farther_right, MENDED) == 0.5


def test_a_missing_object_leaves_a_quarter_of_the_depth_score(farther_right):
    assert depth_score(IN_FRONT_OF, at(20, 20, 0.8), None, farther_right) == pytest.approx(0.2)
