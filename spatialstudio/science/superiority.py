"""Probability of Superiority (PoS): how surely one object comes before another.

Treat a mask or an attention map as a distribution over image positions, project it onto one axis,
and draw one coordinate from each of two objects, u from the first and v from the second. Then

    PoS = P(u < v) + P(u = v) / 2,        PSE = max(0, 2 * PoS - 1).

PoS is 1 when the first object lies wholly before the second, 1/2 when nothing tells them apart.

Source: Rezaei et al. 2025, arXiv:2506.23418, equations 2 and 3. Their code counts ties in full; we
count them half when we report, which makes PoS(a, b) + PoS(b, a) = 1 and leaves PSE unchanged. The
loss keeps their count.

Works on numpy arrays (masks) and on torch tensors (attention maps, with gradients) alike: it uses
only methods both have. Axis order is (..., H, W); x grows right, y grows down.
"""

from enum import Enum

from spatialstudio.domain.errors import EmptyMapError
from spatialstudio.domain.relation import Axis
from spatialstudio.science.arrays import ArrayT, ValueT

_SUMMED_OUT = {Axis.X: -2, Axis.Y: -1}


class Ties(Enum):
    """Which share of a tie counts as superiority."""

    HALF = 0.5
    """For reporting."""
    INCLUSIVE = 1.0
    """For the loss, as in the authors' code."""
    STRICT = 0.0


def projected_pos(first: ArrayT, second: ArrayT, axis: Axis, ties: Ties = Ties.HALF) -> ArrayT:
    """Compute PoS of two maps after projection onto one image axis.

    Args:
        first: (..., H, W), not negative.
        second: (..., H, W) likewise.
        axis: X or Y.
        ties: Which share of a tie counts.

    Returns:
        (...) chance in [0, 1] that ``first`` lies before ``second``: left of it, or above it.

    Raises:
        EmptyMapError: A map holds no mass.
    """
    return probability_of_superiority(marginal(first, axis), marginal(second, axis), ties)


def probability_of_superiority(first: ArrayT, second: ArrayT, ties: Ties = Ties.HALF) -> ArrayT:
    """Compute the chance that a draw from ``first`` comes before one from ``second``.

    Args:
        first: (..., bins) distribution over ordered bins.
        second: (..., bins) likewise.
        ties: Which share of a tie counts.

    Returns:
        (...) PoS in [0, 1].
    """
    first_lies_before = cumulative(first) - (1 - ties.value) * first
    return (second * first_lies_before).sum(-1)


def cumulative(masses: ArrayT) -> ArrayT:
    """Return how much lies in each bin and all before it.

    Args:
        masses: (..., bins) over ordered bins.

    Returns:
        (..., bins).
    """
    return masses.cumsum(-1)


def pse_from_pos(pos: ValueT) -> ValueT:
    """Turn PoS with half ties into PSE, max(0, 2 PoS - 1).

    Args:
        pos: (...) PoS in [0, 1].

    Returns:
        (...) PSE in [0, 1].
    """
    lead = 2 * pos - 1
    return (lead + abs(lead)) / 2  # max(lead, 0) for numbers and arrays alike


def marginal(weights: ArrayT, axis: Axis) -> ArrayT:
    """Project a map onto one image axis as a distribution.

    Args:
        weights: (..., H, W), not negative.
        axis: X or Y.

    Returns:
        (..., W) for X, (..., H) for Y; sums to 1 over the last dimension.

    Raises:
        EmptyMapError: A map holds no mass.
    """
    profile = weights.sum(_SUMMED_OUT[axis])
    mass = profile.sum(-1)[..., None]
    if not (mass > 0).all():
        raise EmptyMapError("An object has an empty map.", hint="Check that it was found at all.")
    return profile / mass
