"""Splits a mask into its connected regions."""

from collections import deque

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]


def connected_regions(mask: Mask, bridge: int) -> list[Mask]:
    """Split a mask into regions, the largest first.

    Args:
        mask: (H, W).
        bridge: Gaps of up to twice this many pixels do not separate.

    Returns:
        (H, W) masks, disjoint; together they are the mask.
    """
    joined = grown(mask, bridge).copy()
    regions = []
    for row, column in np.argwhere(mask):
        if joined[row, column]:
            regions.append(_flood(joined, int(row), int(column)) & mask)
    return sorted(regions, key=lambda region: -int(region.sum()))


def grown(mask: Mask, distance: int) -> Mask:
    """Grow a mask by a number of pixels in all directions, diagonals included."""
    for _ in range(distance):
        padded = np.pad(mask, 1)
        tall = padded[:-2] | padded[1:-1] | padded[2:]
        mask = tall[:, :-2] | tall[:, 1:-1] | tall[:, 2:]
    return mask


def _flood(remaining: Mask, row: int, column: int) -> Mask:
    """Take the region around a pixel out of ``remaining`` and return it."""
    region = np.zeros_like(remaining)
    height, width = remaining.shape
    waiting = deque([(row, column)])
    remaining[row, column] = False
    while waiting:
        row, column = waiting.popleft()
        region[row, column] = True
        for next_row in range(max(row - 1, 0), min(row + 2, height)):
            for next_column in range(max(column - 1, 0), min(column + 2, width)):
                if remaining[next_row, next_column]:
                    remaining[next_row, next_column] = False
                    waiting.append((next_row, next_column))
    return region
