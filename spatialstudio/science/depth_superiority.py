"""PoS along depth: how surely one object stands in front of another.

Draw one pixel from each of two masks and compare their depths, larger being farther:

    PoS = P(d1 < d2) + P(d1 = d2) / 2,

the Mann-Whitney statistic over the number of pairs, by sorting.

Source: Rezaei et al. 2025, arXiv:2506.23418, PSG/3D.py. They compare histograms of 128 bins
over an 8-bit depth picture, which drop the pixels at the end of the range; we compare the float
depths themselves.
"""

import numpy as np

from spatialstudio.domain.arrays import BoolMask, FloatMap
from spatialstudio.domain.errors import EmptyMapError


def depth_pos(depth: FloatMap, first: BoolMask, second: BoolMask) -> float:
    """Compute the chance that a pixel of ``first`` is nearer than one of ``second``.

    Args:
        depth: (H, W), larger is farther.
        first: (H, W) bool.
        second: (H, W) bool.

    Returns:
        PoS in [0, 1]; ties count half.

    Raises:
        EmptyMapError: A mask holds no pixel.
    """
    if not (first.any() and second.any()):
        raise EmptyMapError("An object has an empty mask.", hint="Check that it was found at all.")
    nearer, farther = depth[first], np.sort(depth[second])
    not_beyond = np.searchsorted(farther, nearer, side="right")
    before = np.searchsorted(farther, nearer, side="left")
    return float(1 - (not_beyond + before).mean() / 2 / farther.size)
