"""The figures of local repair measure what they say."""

import numpy as np

from spatialstudio.domain.repair import LocalRepair, Region
from tests.performance.repair_locally import outside_difference, table

LEFT = LocalRepair(
    start="s", sha256="", regions=(Region(x=0, y=0, width=0.5, height=1),), feather=0
)


def test_only_pixels_outside_the_regions_count_as_different():
    start = np.zeros((4, 8, 3), np.uint8)
    inside, outside = start.copy(), start.copy()
    inside[:, :4], outside[2, 5, 1] = 200, 3
    assert outside_difference(start, inside, LEFT) == 0
    assert outside_difference(start, outside, LEFT) == 3


def test_the_table_gives_shares_of_the_repaired_pictures():
    row = {"difference": 0, "found": True, "others": True, "passes": False}
    cost = {"redrawn": 0.2, "denoiser_passes": 40, "processor_s": 2.0}
    lines = table([row | cost, row | cost | {"found": False, "difference": 9}])
    assert "outside the regions within 1/255: 50.0" in lines[1]
    assert "object found in its region: 50.0" in lines[2]
    assert "largest difference outside the regions: 9 of 255" in lines
