import numpy as np
import pytest

from spatialstudio.domain.scene import (
    ABOVE,
    ABOVE_LEFT_OF,
    BEHIND,
    BELOW,
    BETWEEN,
    FAR_FROM,
    IN_FRONT_OF,
    LEFT_OF,
    NEAR,
    RIGHT_OF,
)
from spatialstudio.domain.verdict import (
    Box,
    CheckerSettings,
    DepthMap,
    Perception,
)
from spatialstudio.science.checker.measurement import read_boxes, read_depth

SETTINGS = CheckerSettings()
PICTURE = Perception(image_sha256="", height=50, width=100, detections=(), masks=())


def at(x, y):
    """A box of 4 x 4 pixels centred at x, y in a picture 100 wide and 50 high."""
    return Box(left=x - 2, top=y - 2, right=x + 2, bottom=y + 2)


def offset(relation_type, *boxes):
    return read_boxes(relation_type, boxes, PICTURE, SETTINGS).offset


@pytest.mark.parametrize(
    ("relation_type", "expected"),
    [(LEFT_OF, 0.3), (RIGHT_OF, -0.3), (ABOVE, -0.2), (BELOW, 0.2), (ABOVE_LEFT_OF, -0.2)],
    ids=lambda value: getattr(value, "id", value),
)
def test_the_offset_is_positive_where_the_relation_holds(relation_type, expected):
    assert offset(relation_type, at(20, 30), at(50, 20)) == pytest.approx(expected)


@pytest.mark.parametrize("relation_type", [LEFT_OF, RIGHT_OF], ids=lambda known: known.id)
def test_delta_is_negative_on_the_left_for_every_relation(relation_type):
    reading = read_boxes(relation_type, [at(20, 30), at(50, 20)], PICTURE, SETTINGS)
    assert reading.delta == pytest.approx(-0.3)


def test_a_diagonal_has_no_single_delta():
    assert read_boxes(ABOVE_LEFT_OF, [at(20, 30), at(50, 20)], PICTURE, SETTINGS).delta is None


@pytest.mark.parametrize(
    ("x", "near_is_clear", "near_holds"),
    [(25, True, True), (40, False, True), (50, False, False), (90, True, False)],
    ids=["side by side", "rather near", "rather far", "across the picture"],
)
def test_near_and_far_leave_an_undecidable_band(x, near_is_clear, near_holds):
    near = read_boxes(NEAR, [at(20, 25), at(x, 25)], PICTURE, SETTINGS)
    far = read_boxes(FAR_FROM, [at(20, 25), at(x, 25)], PICTURE, SETTINGS)
    assert near.is_clear is far.is_clear is near_is_clear
    assert (near.offset > 0) is (far.offset < 0) is near_holds


def test_distance_is_the_gap_between_the_boxes():
    reading = read_boxes(NEAR, [at(20, 25), at(64, 25)], PICTURE, SETTINGS)
    assert reading.gap == pytest.approx(40 / np.hypot(100, 50))


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [(50, 25, 0.4), (20, 25, 0.1), (95, 25, -0.05), (50, 5, 0.4)],
    ids=["in the middle", "nearer to one", "outside", "in the middle but higher"],
)
def test_between_uses_the_nearer_flank(x, y, expected):
    assert offset(BETWEEN, at(x, y), at(10, 25), at(90, 25)) == pytest.approx(expected)
    assert offset(BETWEEN, at(x, y), at(90, 25), at(10, 25)) == pytest.approx(expected)


def test_between_compares_along_the_axis_that_separates_the_flanks():
    assert offset(BETWEEN, at(90, 25), at(20, 5), at(30, 45)) == pytest.approx(0.4)


@pytest.fixture
def halves():
    left = np.zeros((4, 6), dtype=bool)
    left[:, :3] = True
    return [left, ~left]


@pytest.fixture
def slope():
    values = np.tile(np.arange(6, dtype=np.float32), (4, 1))
    return DepthMap(values=values, estimator_id="slope")


@pytest.mark.parametrize(("relation_type", "expected"), [(IN_FRONT_OF, 0.5), (BEHIND, -0.5)])
def test_depth_compares_pos_with_one_half(relation_type, expected, halves, slope):
    reading = read_depth(relation_type, halves, slope, SETTINGS)
    assert reading.offset == expected
    assert reading.margin == SETTINGS.depth_margin
    assert reading.delta == pytest.approx(-0.6)


def test_depth_cannot_be_measured_without_a_depth_map(halves):
    assert read_depth(IN_FRONT_OF, halves, None, SETTINGS) is None


def test_depth_cannot_be_measured_without_masks(halves, slope):
    masks = [halves[0], np.zeros_like(halves[0])]
    assert read_depth(IN_FRONT_OF, masks, slope, SETTINGS) is None
