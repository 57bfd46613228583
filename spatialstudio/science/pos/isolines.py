"""Isolines of maps, and the levels that enclose a fraction of the mass.

Marching squares with linear interpolation: Lorensen and Cline 1987 (doi:10.1145/37402.37422) in two
dimensions. The map is padded with zeros, so that every line is closed; saddles are resolved by the
mean of their four corners.
"""

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.arrays import FloatMap
from spatialstudio.science.pos.superiority import cumulative

Segments = npt.NDArray[np.float32]
"""(n, 2, 2): start and end, each x and y as fractions of the image sides, [0, 1]."""

Corner = npt.NDArray[np.float64]

_TOP, _RIGHT, _BOTTOM, _LEFT = range(4)
_EDGES = {
    1: ((_LEFT, _TOP),),
    2: ((_TOP, _RIGHT),),
    3: ((_LEFT, _RIGHT),),
    4: ((_RIGHT, _BOTTOM),),
    5: ((_LEFT, _BOTTOM), (_TOP, _RIGHT)),
    6: ((_TOP, _BOTTOM),),
    7: ((_LEFT, _BOTTOM),),
    8: ((_LEFT, _BOTTOM),),
    9: ((_TOP, _BOTTOM),),
    10: ((_LEFT, _TOP), (_RIGHT, _BOTTOM)),
    11: ((_RIGHT, _BOTTOM),),
    12: ((_LEFT, _RIGHT),),
    13: ((_TOP, _RIGHT),),
    14: ((_LEFT, _TOP),),
}
"""Edges of a cell that a line connects, by corners above the level: 1, 2, 4, 8 clockwise."""
_SADDLES = (5, 10)
"""Cells with two opposite high corners; swapped where the mean of the corners is low."""


def mass_level(weights: FloatMap, share: float) -> float:
    """Return the level at or above which positions contain a fraction of the mass.

    Args:
        weights: (h, w), not negative.
        share: Fraction of the mass, (0, 1].

    Returns:
        The lowest value among the included positions; 0 for an empty map.
    """
    falling = np.sort(weights, axis=None)[::-1].astype(np.float64)
    held = cumulative(falling)
    if held[-1] <= 0:
        return 0.0
    place = np.searchsorted(held, share * held[-1] * (1 - 1e-9))
    return float(falling[min(int(place), len(falling) - 1)])


def isolines(weights: FloatMap, level: float) -> Segments:
    """Compute the isoline of a map at a level; values are located at the centres of their cells.

    Args:
        weights: (h, w), not negative.
        level: Above 0.

    Returns:
        Segments of the line, unordered; empty where the map stays below the level.
    """
    height, width = weights.shape
    padded = np.pad(np.asarray(weights, np.float64), 1)
    corners = (padded[:-1, :-1], padded[:-1, 1:], padded[1:, 1:], padded[1:, :-1])
    kind = sum((corner >= level).astype(np.int64) << bit for bit, corner in enumerate(corners))
    is_parted = np.isin(kind, _SADDLES) & (sum(corners) / 4 < level)
    kind = np.where(is_parted, sum(_SADDLES) - kind, kind)
    pieces = [
        np.stack([_crossing(edge, corners, level, kind == case) for edge in ends], 1)
        for case, lines in _EDGES.items()
        for ends in lines
    ]
    grid_xy = np.concatenate(pieces) + 0.5 - 1  # minus the padding, plus half a cell
    return np.clip(grid_xy / (width, height), 0, 1).astype(np.float32)


def _crossing(
    edge: int, corners: tuple[Corner, ...], level: float, cells: npt.NDArray[np.bool_]
) -> Corner:
    """Return (n, 2) crossings of the level with an edge of the cells, x and y in the grid."""
    first, second = ((0, 1), (1, 2), (3, 2), (0, 3))[edge]
    low, high = corners[first][cells], corners[second][cells]
    share = (level - low) / (high - low)
    rows, columns = np.nonzero(cells)
    if edge in (_TOP, _BOTTOM):
        return np.stack([columns + share, rows + (edge == _BOTTOM)], -1)
    return np.stack([columns + (edge == _RIGHT), rows + share], -1)
