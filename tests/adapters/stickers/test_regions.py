import numpy as np
import pytest

from spatialstudio.adapters.stickers.segmenter import connected_regions, grown


@pytest.fixture
def two_blobs():
    """Six pixels at the left, two at the right, four columns apart."""
    mask = np.zeros((5, 9), dtype=bool)
    mask[1:4, 0:2] = True
    mask[2, 6:8] = True
    return mask


def test_separate_blobs_are_separate_regions_the_largest_first(two_blobs):
    assert [int(region.sum()) for region in connected_regions(two_blobs, bridge=0)] == [6, 2]


def test_a_small_gap_can_be_bridged(two_blobs):
    (region,) = connected_regions(two_blobs, bridge=2)
    assert (region == two_blobs).all()


def test_regions_touch_at_corners():
    assert len(connected_regions(np.eye(4, dtype=bool), bridge=0)) == 1


def test_an_empty_mask_has_no_regions():
    assert connected_regions(np.zeros((4, 4), dtype=bool), bridge=1) == []


def test_growing_reaches_all_neighbours():
    point = np.zeros((5, 5), dtype=bool)
    point[2, 2] = True
    assert grown(point, 1).sum() == 9
