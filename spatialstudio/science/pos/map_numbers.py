"""Statistics of attention maps: entropy, centre, spread, and overlap of two maps.

A map is a distribution over the centres of its cells; positions and distances are fractions of the
image sides, x to the right and y down.

Source: Shannon 1948 for entropy; the overlap of two distributions as in Inman and Bradley 1989.
"""

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.arrays import FloatMap
from spatialstudio.domain.frozen import frozen

Shares = npt.NDArray[np.float64]


@frozen
class MapNumbers:
    """The statistics of one map.

    Attributes:
        entropy: Bits, from 0 for a single cell to log2(h * w) for a constant map.
        centre_xy: Mean position, [0, 1] each.
        spread: Root mean squared distance from the centre, >= 0.
    """

    entropy: float
    centre_xy: tuple[float, float]
    spread: float


def map_numbers(weights: FloatMap) -> MapNumbers | None:
    """Compute the statistics of a map.

    Args:
        weights: (h, w), not negative.

    Returns:
        None for an empty map.
    """
    shares = _shares(weights)
    if shares is None:
        return None
    height, width = shares.shape
    xs, ys = (np.arange(width) + 0.5) / width, (np.arange(height) + 0.5) / height
    along_x, along_y = shares.sum(0), shares.sum(1)
    x, y = float(along_x @ xs), float(along_y @ ys)
    variance = float(along_x @ (xs - x) ** 2 + along_y @ (ys - y) ** 2)
    entropy = float(_bits(shares))
    return MapNumbers(entropy=entropy, centre_xy=(x, y), spread=variance**0.5)


def entropies(weights: FloatMap) -> Shares:
    """Compute the entropy of many maps, as in ``MapNumbers``.

    Args:
        weights: (..., h, w), not negative.

    Returns:
        (...) bits; NaN for empty maps.
    """
    shares, is_empty = _all_shares(weights)
    return np.where(is_empty, np.nan, _bits(shares))


def overlaps(first: FloatMap, second: FloatMap) -> Shares:
    """Compute the overlap of many pairs of maps, as in ``map_overlap``.

    Args:
        first: (..., h, w), not negative.
        second: (..., h, w), not negative.

    Returns:
        (...) in [0, 1]; NaN where a map is empty.
    """
    (one, is_empty), (other, is_other_empty) = _all_shares(first), _all_shares(second)
    return np.where(is_empty | is_other_empty, np.nan, _common(one, other))


def map_overlap(first: FloatMap, second: FloatMap) -> float | None:
    """Return the overlap of two maps, [0, 1]: 0 for disjoint, 1 for equal distributions.

    Args:
        first: (h, w), not negative.
        second: (h, w), not negative.

    Returns:
        None if a map is empty, or the shapes differ.
    """
    one, other = _shares(first), _shares(second)
    if one is None or other is None or one.shape != other.shape:
        return None
    return float(_common(one, other))


def _bits(shares: Shares) -> Shares:
    held = np.where(shares > 0, shares, 1.0)  # empty cells add nothing
    return np.maximum(-(held * np.log2(held)).sum((-2, -1)), 0.0)


def _common(one: Shares, other: Shares) -> Shares:
    return np.minimum(one, other).sum((-2, -1))


def _all_shares(weights: FloatMap) -> tuple[Shares, npt.NDArray[np.bool_]]:
    """Return (..., h, w) shares, 0 for empty maps, and (...) whether a map is empty."""
    totals = weights.sum((-2, -1), dtype=np.float64)
    is_empty = ~(totals > 0)
    return weights / np.where(is_empty, 1.0, totals)[..., None, None], is_empty


def _shares(weights: FloatMap) -> Shares | None:
    total = float(weights.sum(dtype=np.float64))
    return weights.astype(np.float64) / total if total > 0 else None
