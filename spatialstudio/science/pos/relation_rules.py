"""PoS of each relation type on maps and masks: the probability that the relation holds.

A relation type is data (its shape and its claims), so a registered type needs no separate rule.

Source: Rezaei et al. 2025, arXiv:2506.23418, with directions in image coordinates, y down. Ours,
as the paper does not define them: a diagonal has the lower PoS of its two claims; "between" is the
maximum over axes and orders of min(PoS(flank, subject), PoS(subject, other flank)); far is the
probability that two draws are more than 5/16 of the width apart along x or y, and near is its
complement.
"""

from collections.abc import Sequence
from functools import reduce

from spatialstudio.domain.arrays import BoolMask
from spatialstudio.domain.scene import (
    Axis,
    AxisClaim,
    RelationType,
    Shape,
)
from spatialstudio.domain.verdict import DepthMap
from spatialstudio.science.arrays import ArrayT
from spatialstudio.science.pos.superiority import Ties, apart_pos, depth_pos, projected_pos

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
