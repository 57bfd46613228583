"""Layout boxes for the mentions of a scene, computed from its relations.

Each mention gets a topological rank on each axis, and the ranks divide the image side evenly. Two
objects side by side get the boxes of SpatialBench-UC.

Source: Rostane 2026, arXiv:2601.13462, generation settings, for two objects; ours for all others:
near and far are placed side by side, "between" in a row, and unranked objects are centred.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import Axis, MentionId, Relation, Shape

EDGE = 0.05
"""Border on both sides, fraction of the image side."""

FILLING = 0.6
"""Total size of the boxes of a row, fraction of the image side."""

ALONE = (0.25, 0.75)
"""Interval of a box without a rank on an axis."""

Order: TypeAlias = tuple[Axis, MentionId, MentionId]
"""The first mention comes before the second along the axis."""


@frozen
class ShareBox:
    """A box in fractions of the image sides, [0, 1], y down."""

    left: float
    top: float
    right: float
    bottom: float


def relation_boxes(relations: Sequence[Relation]) -> Mapping[MentionId, ShareBox]:
    """Return a box for each mention of the relations; depth relations are ignored."""
    orders = [order for relation in relations for order in _orders_of(relation)]
    mentions = tuple(dict.fromkeys(end for _, *ends in orders for end in ends))
    across = _intervals(mentions, [(a, b) for axis, a, b in orders if axis is Axis.X])
    down = _intervals(mentions, [(a, b) for axis, a, b in orders if axis is Axis.Y])
    return {
        mention: ShareBox(
            left=across[mention][0],
            top=down[mention][0],
            right=across[mention][1],
            bottom=down[mention][1],
        )
        for mention in mentions
    }


def _orders_of(relation: Relation) -> Iterator[Order]:
    match relation.type.shape:
        case Shape.ORDER:
            for claim in relation.type.claims:
                ends = (relation.subject, relation.object)
                first, second = ends if claim.subject_first else ends[::-1]
                if claim.axis is not Axis.DEPTH:
                    yield claim.axis, first, second
        case Shape.BETWEEN:
            assert relation.second_object is not None
            yield Axis.X, relation.object, relation.subject
            yield Axis.X, relation.subject, relation.second_object
        case Shape.NEAR | Shape.FAR:
            yield Axis.X, relation.subject, relation.object


def _intervals(
    mentions: Sequence[MentionId], orders: Sequence[tuple[MentionId, MentionId]]
) -> Mapping[MentionId, tuple[float, float]]:
    ranks = dict.fromkeys(mentions, 0)
    for _ in mentions:  # longest chain; also terminates for cycles
        for first, second in orders:
            ranks[second] = max(ranks[second], ranks[first] + 1)
    ordered = {end for ends in orders for end in ends}
    count = max(ranks.values(), default=0) + 1
    width = FILLING / count
    return {
        mention: (
            start := EDGE + ranks[mention] * (1 - 2 * EDGE - width) / (count - 1),
            start + width,
        )
        if mention in ordered
        else ALONE
        for mention in mentions
    }
