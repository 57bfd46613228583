import numpy as np
import pytest

from spatialstudio.domain.verdict import Box
from spatialstudio.science.checker.measurement import (
    box_gap,
    center_offset_xy,
    depth_offset,
    intersection_over_union,
)


def box(left, top, right, bottom):
    return Box(left=left, top=top, right=right, bottom=bottom)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (box(0, 0, 4, 4), box(0, 0, 4, 4), 1),
        (box(0, 0, 4, 4), box(2, 0, 6, 4), 1 / 3),
        (box(0, 0, 4, 4), box(1, 1, 3, 3), 1 / 4),
        (box(0, 0, 4, 4), box(4, 0, 8, 4), 0),
        (box(0, 0, 2, 2), box(5, 5, 9, 9), 0),
        (box(3, 3, 3, 3), box(3, 3, 3, 3), 0),
    ],
    ids=["the same", "half shifted", "inside", "touching", "apart", "empty"],
)
def test_iou_is_the_shared_part_of_the_union(first, second, expected):
    assert intersection_over_union(first, second) == pytest.approx(expected)
    assert intersection_over_union(second, first) == intersection_over_union(first, second)


def test_the_offset_is_a_share_of_each_side():
    first, second = box(0, 10, 20, 20), box(60, 60, 80, 70)
    assert center_offset_xy(first, second, 100, 200) == (-0.6, -0.25)


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        (box(2, 2, 6, 6), 0),
        (box(4, 0, 8, 4), 0),
        (box(54, 0, 58, 4), 0.5),
        (box(34, 44, 40, 50), 0.5),
    ],
    ids=["overlapping", "touching", "beside", "across a corner"],
)
def test_the_gap_is_between_the_nearest_edges(second, expected):
    first = box(0, 0, 4, 4)
    assert box_gap(first, second, 60, 80) == pytest.approx(expected)
    assert box_gap(second, first, 60, 80) == pytest.approx(expected)


def test_an_object_in_front_has_a_negative_depth_offset():
    depth = np.array([[0, 1, 3, 4]], dtype=np.float32)
    front = np.array([[True, True, False, False]])
    assert depth_offset(depth, front, ~front) == pytest.approx(-0.75)


def test_a_flat_picture_has_no_depth_offset():
    half = np.array([[True, False]])
    assert depth_offset(np.ones((1, 2), dtype=np.float32), half, ~half) == 0
