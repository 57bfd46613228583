import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from spatialstudio.adapters.mask_regions import connected_regions

MASKS = arrays(np.bool_, st.tuples(st.integers(1, 12), st.integers(1, 12)))


@pytest.fixture
def two_blobs():
    """Two pixels at the top right, six at the left, four columns apart."""
    mask = np.zeros((5, 9), dtype=bool)
    mask[1:4, 0:2] = True
    mask[0, 6:8] = True
    return mask


def flooded(mask, bridge):
    """The regions of a mask, found pixel by pixel."""
    left = {tuple(place) for place in np.argwhere(mask).tolist()}
    reach = 2 * bridge + 1
    while left:
        region, waiting = set(), [min(left)]
        while waiting:
            row, column = waiting.pop()
            near = {(r, c) for r, c in left if max(abs(r - row), abs(c - column)) <= reach}
            left -= near
            region |= near
            waiting += near
        yield region


def test_separate_blobs_are_separate_regions_in_reading_order(two_blobs):
    assert [int(region.sum()) for region in connected_regions(two_blobs)] == [2, 6]


def test_a_small_gap_can_be_bridged(two_blobs):
    (region,) = connected_regions(two_blobs, bridge=2)
    assert (region == two_blobs).all()


def test_regions_touch_at_corners():
    assert len(list(connected_regions(np.eye(4, dtype=bool)))) == 1


def test_smaller_regions_can_be_left_out(two_blobs):
    assert [int(region.sum()) for region in connected_regions(two_blobs, 2.5)] == [6]


def test_an_empty_mask_has_no_regions():
    assert list(connected_regions(np.zeros((4, 4), dtype=bool), bridge=1)) == []


@given(mask=MASKS, bridge=st.integers(0, 2))
def test_regions_are_the_connected_pixels(mask, bridge):
    regions = [
        set(map(tuple, np.argwhere(each).tolist())) for each in connected_regions(mask, 1, bridge)
    ]
    assert regions == list(flooded(mask, bridge))
