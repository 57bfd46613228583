"""PoS with distance: how surely two objects are far apart.

Draw one coordinate from each of two projected objects, u and v. With a gap of c cells

    PoS^d = P(u + c < v),        PoS^dist = sum of PoS^d over left, right, above and below.

Source: Rezaei et al. 2025, arXiv:2506.23418, equations 8 and 9; no code was released. They
use c = 5 on maps 16 cells wide; ``gap_of`` keeps that share of the width for other sizes.

Works on numpy arrays and torch tensors alike. Axis order is (..., H, W).
"""

from spatialstudio.domain.relation import Axis
from spatialstudio.science.arrays import ArrayT
from spatialstudio.science.superiority import marginal

GAP_SHARE = 5 / 16


def distance_pos(first: ArrayT, second: ArrayT) -> ArrayT:
    """Compute PoS^dist, which grows as two maps move apart in any direction.

    Args:
        first: (..., H, W), not negative.
        second: (..., H, W) likewise.

    Returns:
        (...) in [0, 2]: at most 1 from the x axis and 1 from the y axis.

    Raises:
        EmptyMapError: A map holds no mass.
    """
    return _apart_along(first, second, Axis.X) + _apart_along(first, second, Axis.Y)


def apart_pos(first: ArrayT, second: ArrayT) -> ArrayT:
    """Compute the chance that two draws lie more than the gap apart along x or along y.

    This is PoS^dist brought into [0, 1]: the two axes are joined as independent events, where
    the paper adds them.

    Args:
        first: (..., H, W), not negative.
        second: (..., H, W) likewise.

    Returns:
        (...) in [0, 1].

    Raises:
        EmptyMapError: A map holds no mass.
    """
    close_x = 1 - _apart_along(first, second, Axis.X)
    close_y = 1 - _apart_along(first, second, Axis.Y)
    return 1 - close_x * close_y


def pos_beyond(first: ArrayT, second: ArrayT, gap: int) -> ArrayT:
    """Compute the chance that a draw from ``second`` lies more than ``gap`` bins after ``first``.

    Args:
        first: (..., bins) distribution over ordered bins.
        second: (..., bins) likewise.
        gap: Bins, >= 0; with 0 this is strict PoS.

    Returns:
        (...) in [0, 1].
    """
    reach = max(second.shape[-1] - gap - 1, 0)
    first_lies_before = first.cumsum(-1)[..., :reach]
    return (second[..., gap + 1 :] * first_lies_before).sum(-1)


def gap_of(width: int) -> int:
    """Return the paper's gap, 5 of 16 cells, for maps of another width."""
    return int(GAP_SHARE * width)


def _apart_along(first: ArrayT, second: ArrayT, axis: Axis) -> ArrayT:
    gap = gap_of(first.shape[-1])
    first, second = marginal(first, axis), marginal(second, axis)
    return pos_beyond(first, second, gap) + pos_beyond(second, first, gap)
