"""Resizing and connected regions of pixel masks."""

from collections.abc import Iterator

import numpy as np
from PIL import Image
from scipy import ndimage  # type: ignore[import-untyped]

from spatialstudio.domain.arrays import BoolMask

WITH_DIAGONALS = np.ones((3, 3), np.bool_)


def resized(mask: BoolMask, size: tuple[int, int]) -> BoolMask:
    """Resize a mask by nearest neighbour.

    Args:
        mask: (h, w).
        size: (H, W).
    """
    height, width = size
    return np.array(Image.fromarray(mask).resize((width, height), Image.Resampling.NEAREST))


def connected_regions(
    mask: BoolMask, least_pixels: float = 1, bridge: int = 0
) -> Iterator[BoolMask]:
    """Split a mask into its connected regions, diagonals included.

    Args:
        mask: (H, W).
        least_pixels: Area of the smallest region that is returned.
        bridge: Gaps of up to twice this many pixels do not separate.

    Yields:
        (H, W) masks, disjoint subsets of the mask, ordered by their first pixel, row by row.
    """
    joined = ndimage.binary_dilation(mask, WITH_DIAGONALS, iterations=bridge) if bridge else mask
    labels, _ = ndimage.label(joined, WITH_DIAGONALS)
    numbers, firsts, areas = np.unique(labels[mask], return_index=True, return_counts=True)
    for place in np.argsort(firsts):
        if areas[place] >= least_pixels:
            yield (labels == numbers[place]) & mask
