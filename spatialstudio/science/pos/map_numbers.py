"""What an attention map is in numbers: how wide, where, and how much two of them share.

A map is read as a distribution over the picture's positions, each the middle of its cell; places
and distances are shares of the picture's sides, x to the right and y down.

Source: Shannon 1948 for entropy; the overlap of two distributions as in Inman and Bradley 1989.
"""

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.arrays import FloatMap
from spatialstudio.domain.frozen import frozen

Shares = npt.NDArray[np.float64]


@frozen
class MapNumbers:
    """One map in numbers.

    Attributes:
        entropy: In bits, 0 for one cell to log2(h * w) for all alike.
        centre_xy: Mean position, [0, 1] each.
        spread: Root of the mean squared distance from the centre, >= 0.
    """

    entropy: float
    centre_xy: tuple[float, float]
    spread: float


def map_numbers(weights: FloatMap) -> MapNumbers | None:
    """Measure a map.

    Args:
        weights: (h, w), not negative.

    Returns:
        None where the map is empty.
    """
    shares = _shares(weights)
    if shares is None:
        return None
    height, width = shares.shape
    xs, ys = (np.arange(width) + 0.5) / width, (np.arange(height) + 0.5) / height
    along_x, along_y = shares.sum(0), shares.sum(1)
    x, y = float(along_x @ xs), float(along_y @ ys)
    variance = float(along_x @ (xs - x) ** 2 + along_y @ (ys - y) ** 2)
    held = shares[shares > 0]
    entropy = max(-float(held @ np.log2(held)), 0.0)
    return MapNumbers(entropy=entropy, centre_xy=(x, y), spread=variance**0.5)


def map_overlap(first: FloatMap, second: FloatMap) -> float | None:
    """Return how much two maps share, [0, 1]: 0 stand apart, 1 are the same distribution.

    Args:
        first: (h, w), not negative.
        second: (h, w) likewise.

    Returns:
        None where one is empty, or they differ in shape.
    """
    one, other = _shares(first), _shares(second)
    if one is None or other is None or one.shape != other.shape:
        return None
    return float(np.minimum(one, other).sum())


def _shares(weights: FloatMap) -> Shares | None:
    total = float(weights.sum(dtype=np.float64))
    return weights.astype(np.float64) / total if total > 0 else None
