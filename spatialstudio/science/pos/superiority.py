"""Probability of Superiority (PoS): the probability that one object comes before another.

Treat a mask or an attention map as a distribution over image positions, project it onto one axis,
and draw one coordinate from each of two objects, u from the first and v from the second. Then

    PoS = P(u < v) + P(u = v) / 2,        PSE = max(0, 2 * PoS - 1).

PoS is 1 when the first object is entirely before the second, 1/2 when they have the same
distribution.

Source: Rezaei et al. 2025, arXiv:2506.23418, equations 2 and 3. Their code counts ties in full; we
count them half in reports, which makes PoS(a, b) + PoS(b, a) = 1 and leaves PSE unchanged. The loss
counts them as their code does.

Works on numpy arrays (masks) and on torch tensors (attention maps, with gradients): it uses only
methods both have. Axis order is (..., H, W); x grows right, y grows down.

A relation type is data (its shape and its claims), so a registered type needs no separate rule.
Directions are in image coordinates, y down. Ours, as the paper does not define them: a diagonal has
the lower PoS of its two claims; "between" is the maximum over axes and orders of min(PoS(flank,
subject), PoS(subject, other flank)); far is the probability that two draws are more than 5/16 of
the width apart along x or y, and near is its complement.
"""

from collections.abc import Sequence
from enum import Enum
from functools import reduce

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.arrays import BoolMask, FloatMap
from spatialstudio.domain.errors import EmptyMapError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import (
    Axis,
    AxisClaim,
    RelationType,
    Shape,
)
from spatialstudio.domain.verdict import DepthMap
from spatialstudio.science.arrays import ArrayT, ValueT

_SUMMED_OUT = {Axis.X: -2, Axis.Y: -1}


class Ties(Enum):
    """The fraction of a tie that counts as superiority."""

    HALF = 0.5
    """For reporting."""
    INCLUSIVE = 1.0
    """For the loss, as in the authors' code."""
    STRICT = 0.0


def projected_pos(first: ArrayT, second: ArrayT, axis: Axis, ties: Ties = Ties.HALF) -> ArrayT:
    """Compute PoS of two maps after projection onto one image axis.

    Args:
        first: (..., H, W), not negative.
        second: (..., H, W), not negative.
        axis: X or Y.
        ties: How ties are counted.

    Returns:
        (...) probability in [0, 1] that ``first`` is before ``second``: left of it, or above it.

    Raises:
        EmptyMapError: A map sums to 0.
    """
    return probability_of_superiority(marginal(first, axis), marginal(second, axis), ties)


def probability_of_superiority(first: ArrayT, second: ArrayT, ties: Ties = Ties.HALF) -> ArrayT:
    """Compute the probability that a draw from ``first`` comes before one from ``second``.

    Args:
        first: (..., bins) distribution over ordered bins.
        second: (..., bins) distribution over ordered bins.
        ties: How ties are counted.

    Returns:
        (...) PoS in [0, 1].
    """
    first_lies_before = cumulative(first) - (1 - ties.value) * first
    return (second * first_lies_before).sum(-1)


def cumulative(masses: ArrayT) -> ArrayT:
    """Return the cumulative sum over bins.

    Args:
        masses: (..., bins) over ordered bins.

    Returns:
        (..., bins).
    """
    return masses.cumsum(-1)


def pse_from_pos(pos: ValueT) -> ValueT:
    """Convert PoS with half ties to PSE, max(0, 2 PoS - 1).

    Args:
        pos: (...) PoS in [0, 1].

    Returns:
        (...) PSE in [0, 1].
    """
    lead = 2 * pos - 1
    return (lead + abs(lead)) / 2  # max(lead, 0) for both numbers and arrays


def marginal(weights: ArrayT, axis: Axis) -> ArrayT:
    """Return the marginal distribution of a map on one image axis.

    Args:
        weights: (..., H, W), not negative.
        axis: X or Y.

    Returns:
        (..., W) for X, (..., H) for Y; sums to 1 over the last dimension.

    Raises:
        EmptyMapError: A map sums to 0.
    """
    profile = weights.sum(_SUMMED_OUT[axis])
    mass = profile.sum(-1)[..., None]
    if not (mass > 0).all():
        raise EmptyMapError(
            "An object has an empty map.", hint=("Check that the object was detected.")
        )
    return profile / mass


def depth_pos(depth: FloatMap, first: BoolMask, second: BoolMask) -> float:
    """Compute the probability that a pixel of ``first`` is nearer than one of ``second``.

    Args:
        depth: (H, W), larger is farther.
        first: (H, W) bool.
        second: (H, W) bool.

    Returns:
        PoS in [0, 1]; ties count half.

    Raises:
        EmptyMapError: A mask is empty.
    """
    if not (first.any() and second.any()):
        raise EmptyMapError(
            "An object has an empty mask.", hint=("Check that the object was detected.")
        )
    nearer, farther = depth[first], np.sort(depth[second])
    not_beyond = np.searchsorted(farther, nearer, side="right")
    before = np.searchsorted(farther, nearer, side="left")
    return float(1 - (not_beyond + before).mean() / 2 / farther.size)


GAP_SHARE = 5 / 16


def distance_pos(first: ArrayT, second: ArrayT) -> ArrayT:
    """Compute PoS^dist, which increases with the distance of two maps in any direction.

    Args:
        first: (..., H, W), not negative.
        second: (..., H, W), not negative.

    Returns:
        (...) in [0, 2]: at most 1 from the x axis and 1 from the y axis.

    Raises:
        EmptyMapError: A map sums to 0.
    """
    return _apart_along(first, second, Axis.X) + _apart_along(first, second, Axis.Y)


def apart_pos(first: ArrayT, second: ArrayT) -> ArrayT:
    """Compute the probability that two draws are more than the gap apart along x or along y.

    This is PoS^dist mapped to [0, 1]: the axes are combined as independent events, where the paper
    adds them.

    Args:
        first: (..., H, W), not negative.
        second: (..., H, W), not negative.

    Returns:
        (...) in [0, 1].

    Raises:
        EmptyMapError: A map sums to 0.
    """
    close_x = 1 - _apart_along(first, second, Axis.X)
    close_y = 1 - _apart_along(first, second, Axis.Y)
    return 1 - close_x * close_y


def pos_beyond(first: ArrayT, second: ArrayT, gap: int) -> ArrayT:
    """Compute the probability that a draw from ``second`` is over ``gap`` bins after ``first``.

    Args:
        first: (..., bins) distribution over ordered bins.
        second: (..., bins) distribution over ordered bins.
        gap: Number of bins, >= 0; with 0 this is strict PoS.

    Returns:
        (...) in [0, 1].
    """
    reach = max(second.shape[-1] - gap - 1, 0)
    first_lies_before = first.cumsum(-1)[..., :reach]
    return (second[..., gap + 1 :] * first_lies_before).sum(-1)


def gap_of(width: int) -> int:
    """Return the paper's gap, 5 of 16 cells, scaled to the width of a map."""
    return int(GAP_SHARE * width)


def _apart_along(first: ArrayT, second: ArrayT, axis: Axis) -> ArrayT:
    gap = gap_of(first.shape[-1])
    first, second = marginal(first, axis), marginal(second, axis)
    return pos_beyond(first, second, gap) + pos_beyond(second, first, gap)


Curve = npt.NDArray[np.float32]


@frozen
class DividingLine:
    """The line with equal mass of the first distribution before it and of the second after it.

    Attributes:
        place: Position as a fraction of the axis, [0, 1].
        share: That mass, [0, 1].
    """

    place: float
    share: float


def cumulative_at_edges(profile: Curve) -> Curve:
    """Return the cumulative distribution at the edges of the bins.

    Args:
        profile: (bins,), sums to 1.

    Returns:
        (bins + 1,) from 0 to 1.
    """
    return np.concatenate([[0], cumulative(profile.astype(np.float64))]).astype(np.float32)


def dividing_line(first: Curve, second: Curve) -> DividingLine:
    """Find the line with equal mass of ``first`` before it and of ``second`` after it.

    Args:
        first: (bins,) distribution of the object that should come first; sums to 1.
        second: (bins,) distribution of the object that should come second; sums to 1.
    """
    rising, other = cumulative_at_edges(first), cumulative_at_edges(second)
    lead = rising + other - 1  # increases from -1 to 1
    edges = np.linspace(0, 1, len(lead))
    after = int(np.argmax(lead >= 0))
    before = after - 1
    step = lead[after] - lead[before]
    part = float(-lead[before] / step)
    place = edges[before] + part * (edges[after] - edges[before])
    share = rising[before] + part * (rising[after] - rising[before])
    return DividingLine(place=float(place), share=float(share))


PICTURE_AXES = (Axis.X, Axis.Y)


def can_guide(relation_type: RelationType) -> bool:
    """Return True if a relation type can be measured on attention maps, which have no depth."""
    return not relation_type.needs_depth


def relation_pos(
    relation_type: RelationType, maps: Sequence[ArrayT], ties: Ties = Ties.HALF
) -> ArrayT:
    """Compute the probability that a relation holds on the maps of its mentions.

    Args:
        relation_type: A type that ``can_guide``.
        maps: (..., H, W) each, not negative: subject, object and, for "between", second object.
        ties: How ties are counted; near and far have no ties.

    Returns:
        (...) PoS in [0, 1].

    Raises:
        EmptyMapError: A map sums to 0.
    """
    match relation_type.shape:
        case Shape.ORDER:
            subject, other = maps
            claims = relation_type.claims
            chances = [_claim_pos(claim, subject, other, ties) for claim in claims]
            return reduce(_lesser, chances).clip(0, 1)
        case Shape.NEAR:
            return (1 - apart_pos(*maps)).clip(0, 1)
        case Shape.FAR:
            return apart_pos(*maps).clip(0, 1)
        case Shape.BETWEEN:
            return _between_pos(maps, ties).clip(0, 1)


def relation_pos_on_masks(
    relation_type: RelationType, masks: Sequence[BoolMask], depth: DepthMap | None = None
) -> float | None:
    """Compute the probability that a relation holds on the masks of its mentions.

    Args:
        relation_type: Any type.
        masks: (H, W) bool each: subject, object and, for "between", second object.
        depth: Required for depth relations.

    Returns:
        PoS in [0, 1], ties half; None where a mask is empty or required depth is missing.
    """
    if not all(mask.any() for mask in masks):
        return None
    if can_guide(relation_type):
        return float(relation_pos(relation_type, masks))
    if depth is None:
        return None
    return min(_claim_pos_on_masks(claim, masks, depth) for claim in relation_type.claims)


def _claim_pos(claim: AxisClaim, subject: ArrayT, other: ArrayT, ties: Ties = Ties.HALF) -> ArrayT:
    first, second = (subject, other) if claim.subject_first else (other, subject)
    return projected_pos(first, second, claim.axis, ties)


def _claim_pos_on_masks(claim: AxisClaim, masks: Sequence[BoolMask], depth: DepthMap) -> float:
    subject, other = masks
    if claim.axis is not Axis.DEPTH:
        return float(_claim_pos(claim, subject, other))
    first, second = (subject, other) if claim.subject_first else (other, subject)
    return depth_pos(depth.values, first, second)


def _between_pos(maps: Sequence[ArrayT], ties: Ties) -> ArrayT:
    subject, one, other = maps
    arrangements = [
        _lesser(
            projected_pos(before, subject, axis, ties), projected_pos(subject, after, axis, ties)
        )
        for axis in PICTURE_AXES
        for before, after in ((one, other), (other, one))
    ]
    return reduce(_greater, arrangements)


def _lesser(one: ArrayT, other: ArrayT) -> ArrayT:
    return one.clip(None, other)


def _greater(one: ArrayT, other: ArrayT) -> ArrayT:
    return one.clip(other)
