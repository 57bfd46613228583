"""Detection of contradictory and redundant relations in a scene.

Order claims are edges of a directed graph per axis; a cycle is a contradiction, and an edge
parallel to another path is redundant. "Near" and "far from" exclude each other, and no object has
a relation to itself; but two cats may flank an object, and be near each other.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import (
    Axis,
    AxisClaim,
    MentionId,
    Relation,
    RelationId,
    SceneGraph,
    Shape,
    TextSpan,
)

Follower = tuple[MentionId, Relation]
Order = Mapping[MentionId, Sequence[Follower]]

PAIR = 2


@frozen
class Removal:
    """The removal of a relation as a fix.

    Attributes:
        message: Text for a button.
        relation_id: The relation to remove.
    """

    message: str
    relation_id: RelationId


@frozen
class Contradiction:
    """Relations that cannot hold together. Created only by ``contradictions_of``.

    Attributes:
        message: One sentence for the user.
        relation_ids: The relations concerned; removing any one resolves the contradiction.
        spans: Their positions in the prompt; relations set by the user have none.
        fix: Removal of the last of them.
    """

    message: str
    relation_ids: tuple[RelationId, ...]
    spans: tuple[TextSpan, ...]
    fix: Removal


@frozen
class Redundancy:
    """A relation that is implied by others. Created only by ``redundancies_of``.

    Attributes:
        message: One sentence for the user.
        relation_id: The redundant relation.
        spans: Its position in the prompt; a relation set by the user has none.
        fix: Its removal.
    """

    message: str
    relation_id: RelationId
    spans: tuple[TextSpan, ...]
    fix: Removal


def contradictions_of(scene: SceneGraph) -> tuple[Contradiction, ...]:
    """Find reflexive relations, cycles of order, and pairs that are both near and far."""
    reflexive = [
        relation
        for relation in scene.relations
        if _is_with_itself(relation) and not _is_near_each_other(scene, relation)
    ]
    others = [relation for relation in scene.relations if not _is_with_itself(relation)]
    found = [_contradiction(scene, [relation]) for relation in reflexive]
    closed: dict[frozenset[RelationId], Sequence[Relation]] = {}
    for axis in Axis:
        for cycle in _cycles(others, axis):
            closed.setdefault(frozenset(relation.id for relation in cycle), cycle)
    conflicts = [*closed.values(), *_near_and_far(others)]
    return (*found, *(_contradiction(scene, relations) for relations in conflicts))


def redundancies_of(scene: SceneGraph) -> tuple[Redundancy, ...]:
    """Find relations implied by the others; of equivalent relations, the last is redundant.

    Relations in a contradiction are ignored.
    """
    at_odds = {name for found in contradictions_of(scene) for name in found.relation_ids}
    kept = [relation for relation in scene.relations if relation.id not in at_odds]
    found: list[Redundancy] = []
    for relation in reversed(kept):
        others = [other for other in kept if other is not relation]
        if _follows(relation, others):
            kept = others
            found.append(_redundancy(scene, relation))
    return tuple(reversed(found))


def _follows(relation: Relation, others: Sequence[Relation]) -> bool:
    if relation.type.shape is not Shape.ORDER:
        return any(_says_the_same(relation, other) for other in others)
    return all(_is_ordered(relation, claim, others) for claim in relation.type.claims)


def _is_ordered(relation: Relation, claim: AxisClaim, others: Sequence[Relation]) -> bool:
    first, second = _in_order(relation, claim)
    return _shortest_path(_order(others, claim.axis), first, second) is not None


def _says_the_same(relation: Relation, other: Relation) -> bool:
    if relation.type != other.type or set(relation.ends) != set(other.ends):
        return False
    return relation.type.shape is not Shape.BETWEEN or relation.subject == other.subject


def _is_with_itself(relation: Relation) -> bool:
    return relation.subject in relation.ends[1:]


def _is_near_each_other(scene: SceneGraph, relation: Relation) -> bool:
    return relation.type.shape is Shape.NEAR and scene.mention(relation.subject).is_plural


def _cycles(relations: Iterable[Relation], axis: Axis) -> list[list[Relation]]:
    """Return the shortest cycle through each relation that lies on one."""
    relations = list(relations)
    order = _order(relations, axis)
    cycles = []
    for relation in relations:
        for claim in relation.type.claims:
            if claim.axis is axis:
                first, second = _in_order(relation, claim)
                way_back = _shortest_path(order, second, first)
                if way_back is not None:
                    cycles.append([relation, *way_back])
    return cycles


def _order(relations: Iterable[Relation], axis: Axis) -> Order:
    order: dict[MentionId, list[Follower]] = {}
    for relation in relations:
        for claim in relation.type.claims:
            if claim.axis is axis:
                first, second = _in_order(relation, claim)
                order.setdefault(first, []).append((second, relation))
    return order


def _in_order(relation: Relation, claim: AxisClaim) -> tuple[MentionId, MentionId]:
    """Return the mention with the smaller coordinate, then the other."""
    ends = (relation.subject, relation.object)
    return ends if claim.subject_first else (ends[1], ends[0])


def _shortest_path(order: Order, start: MentionId, goal: MentionId) -> list[Relation] | None:
    reached: dict[MentionId, list[Relation]] = {start: []}
    waiting = deque([start])
    while waiting:
        place = waiting.popleft()
        if place == goal:
            return reached[place]
        for follower, relation in order.get(place, ()):
            if follower not in reached:
                reached[follower] = [*reached[place], relation]
                waiting.append(follower)
    return None


def _near_and_far(relations: Sequence[Relation]) -> list[list[Relation]]:
    return [
        [first, second]
        for first, second in combinations(relations, PAIR)
        if {first.type.shape, second.type.shape} == {Shape.NEAR, Shape.FAR}
        and set(first.ends) == set(second.ends)
    ]


def _contradiction(scene: SceneGraph, relations: Sequence[Relation]) -> Contradiction:
    *first, last = (f'"{scene.sentence(relation)}"' for relation in relations)
    if not first:
        (relation,) = relations
        phrase = scene.name(relation.subject)
        message = f"The {phrase} cannot be {relation.type.phrase} itself."
    elif len(relations) == PAIR:
        message = f"{first[0]} contradicts {last}."
    else:
        message = f"{', '.join(first)} and {last} cannot all be satisfied."
    return Contradiction(
        message=message,
        relation_ids=tuple(relation.id for relation in relations),
        spans=tuple(relation.span for relation in relations if relation.span is not None),
        fix=_removal(scene, max(relations, key=scene.relations.index)),
    )


def _redundancy(scene: SceneGraph, relation: Relation) -> Redundancy:
    return Redundancy(
        message=f'"{scene.sentence(relation)}" is redundant.',
        relation_id=relation.id,
        spans=(relation.span,) if relation.span is not None else (),
        fix=_removal(scene, relation),
    )


def _removal(scene: SceneGraph, relation: Relation) -> Removal:
    return Removal(message=f'Remove "{scene.sentence(relation)}"', relation_id=relation.id)
