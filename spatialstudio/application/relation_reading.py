"""Two words of one relation side by side: both profiles, where they cross, PoS in words."""

from spatialstudio.application.inspection import relation_in_words
from spatialstudio.application.map_reading import PERCENT, Maps
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.prompt import MentionId
from spatialstudio.domain.relation import Axis, AxisClaim, Relation, SceneGraph
from spatialstudio.science.dividing_line import (
    Curve,
    DividingLine,
    cumulative_at_edges,
    dividing_line,
)
from spatialstudio.science.relation_rules import can_guide, relation_pos
from spatialstudio.science.superiority import marginal

SIDES = {Axis.X: ("left", "right", "width"), Axis.Y: ("above", "below", "height")}
"""Before, behind, and what a place on the axis is a share of."""


@frozen(eq=False)
class AxisReading:
    """How two words are parted along one axis.

    Attributes:
        axis: X or Y.
        first: The word that is claimed to come first: left, or above.
        second: The other.
        rising: (bins + 1,) share of the first before each edge.
        falling: (bins + 1,) share of the second behind each edge.
        line: Where these cross.
    """

    axis: Axis
    first: MentionId
    second: MentionId
    rising: Curve
    falling: Curve
    line: DividingLine


@frozen(eq=False)
class RelationReading:
    """What the maps of a step say of a relation.

    Attributes:
        relation: The claim.
        pos: [0, 1]; None where flat maps cannot tell, or one of them is empty.
        sentence: The PoS in words, or why there is none.
        axes: One reading for each claim about an axis of the picture.
        details: The readings in words.
    """

    relation: Relation
    pos: float | None
    sentence: str
    axes: tuple[AxisReading, ...] = ()
    details: tuple[str, ...] = ()


def relation_between(scene: SceneGraph, one: MentionId, other: MentionId) -> Relation | None:
    """Return the first relation in which both words take part."""
    for relation in scene.relations:
        if {one, other} <= set(relation.ends):
            return relation
    return None


def read_relation(relation: Relation, scene: SceneGraph, maps: Maps) -> RelationReading:
    """Read a relation on the maps of one step.

    Args:
        relation: Of the scene.
        scene: Says how its ends are called.
        maps: Of the step.
    """
    claim = scene.sentence(relation)
    if not can_guide(relation.type):
        sentence = f"Flat maps cannot tell whether {claim}: that takes depth."
        return RelationReading(relation=relation, pos=None, sentence=sentence)
    if not all(end in maps and maps[end].any() for end in relation.ends):
        sentence = f"There is no attention from which to tell whether {claim}."
        return RelationReading(relation=relation, pos=None, sentence=sentence)
    pos = float(relation_pos(relation.type, [maps[end] for end in relation.ends]))
    axes = tuple(_read_axis(each, relation, maps) for each in relation.type.claims)
    return RelationReading(
        relation=relation,
        pos=pos,
        sentence=relation_in_words(relation, pos, scene),
        axes=axes,
        details=tuple(_line_in_words(axis, scene) for axis in axes),
    )


def _read_axis(claim: AxisClaim, relation: Relation, maps: Maps) -> AxisReading:
    ends = (relation.subject, relation.object)
    first, second = ends if claim.subject_first else reversed(ends)
    before, behind = marginal(maps[first], claim.axis), marginal(maps[second], claim.axis)
    return AxisReading(
        axis=claim.axis,
        first=first,
        second=second,
        rising=cumulative_at_edges(before),
        falling=1 - cumulative_at_edges(behind),
        line=dividing_line(before, behind),
    )


def _line_in_words(reading: AxisReading, scene: SceneGraph) -> str:
    before, behind, side = SIDES[reading.axis]
    first, second = map(scene.name, (reading.first, reading.second))
    preposition = " of it" if reading.axis is Axis.X else " it"
    share = f"{reading.line.share * PERCENT:.0f} %"
    return (
        f"The curves cross at {reading.line.place * PERCENT:.0f} % of the {side}: {share} of the "
        f"attention to {first} lies {before}{preposition}, {share} of that to {second} "
        f"{behind}{preposition}."
    )
