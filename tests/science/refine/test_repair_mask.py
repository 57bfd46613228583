"""Which pixels a repair changes."""

import numpy as np
import pytest

from spatialstudio.domain.repair import LocalRepair, Region
from spatialstudio.science.refine.repair_mask import composed, redrawn_share


def share_of(*regions, feather=0.0, height=100, width=100):
    repair = LocalRepair(start="s", sha256="", regions=regions, feather=feather)
    return redrawn_share(repair, height, width)


def test_without_a_feather_a_region_is_its_pixels():
    share = share_of(Region(x=0.2, y=0.1, width=0.3, height=0.5), width=200)
    assert set(np.unique(share)) == {0, 1}
    assert np.array_equal(np.flatnonzero(share.any(0)), np.arange(40, 100))
    assert np.array_equal(np.flatnonzero(share.any(1)), np.arange(10, 60))


def test_the_feather_lies_inside_the_region():
    share = share_of(Region(x=0.2, y=0.2, width=0.6, height=0.6), feather=0.1)
    row = share[50]
    assert not row[:20].any()
    assert not row[80:].any()
    assert np.all(np.diff(row[20:30]) > 0)
    assert np.all(row[30:70] == 1)
    assert np.array_equal(row, row[::-1])


def test_an_edge_on_the_border_of_the_picture_does_not_fade():
    share = share_of(Region(x=0.0, y=0.0, width=0.5, height=1.0), feather=0.1)
    assert np.all(share[:, :40] == 1)
    assert share[50, 45] < 1


def test_regions_are_joined():
    one, other = Region(x=0, y=0, width=0.3, height=1), Region(x=0.7, y=0, width=0.3, height=1)
    both = share_of(one, other, feather=0.05)
    assert np.array_equal(
        both, np.maximum(share_of(one, feather=0.05), share_of(other, feather=0.05))
    )


@pytest.mark.parametrize("value", [0, 255])
def test_the_picture_is_mixed_by_the_share(value):
    start = np.full((1, 3, 3), 100, np.uint8)
    redrawn = np.full((1, 3, 3), value, np.uint8)
    share = np.array([[0, 0.5, 1]], np.float32)
    mixed = composed(start, redrawn, share)
    assert mixed.dtype == np.uint8
    assert mixed[0, :, 0].tolist() == [100, round(50 + value / 2), value]
