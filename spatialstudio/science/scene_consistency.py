"""Claims of one scene that no picture can meet together.

Order claims are edges of a graph, one graph an axis, from the first thing to the one after it; a
closed path is a contradiction. "Near" and "far from" exclude each other, and nothing stands in a
relation to itself.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from spatialstudio.domain.prompt import MentionId, TextSpan
from spatialstudio.domain.relation import Axis, Relation, RelationId, SceneGraph, Shape

Follower = tuple[MentionId, Relation]
Order = Mapping[MentionId, Sequence[Follower]]

PAIR = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Claims that cannot hold together. Made by ``contradictions_of`` only.

    Attributes:
        message: One sentence for the user.
        relation_ids: The relations concerned; without any one of them the rest can hold.
        spans: Where the prompt claims them; relations set by hand have none.
    """

    message: str
    relation_ids: tuple[RelationId, ...]
    spans: tuple[TextSpan, ...]


def contradictions_of(scene: SceneGraph) -> tuple[Contradiction, ...]:
    """Find relations of a thing with itself, closed orders, and things both near and far."""
    reflexive = [relation for relation in scene.relations if _is_with_itself(relation)]
    others = [relation for relation in scene.relations if not _is_with_itself(relation)]
    found = [_contradiction(scene, [relation]) for relation in reflexive]
    closed: dict[frozenset[RelationId], Sequence[Relation]] = {}
    for axis in Axis:
        for cycle in _cycles(others, axis):
            closed.setdefault(frozenset(relation.id for relation in cycle), cycle)
    conflicts = [*closed.values(), *_near_and_far(others)]
    return (*found, *(_contradiction(scene, relations) for relations in conflicts))


def _is_with_itself(relation: Relation) -> bool:
    return len(set(relation.ends)) < len(relation.ends)


def _cycles(relations: Iterable[Relation], axis: Axis) -> list[list[Relation]]:
    """Find the shortest closed path through every relation that lies on one."""
    order: dict[MentionId, list[Follower]] = {}
    edges: list[tuple[MentionId, MentionId, Relation]] = []
    for relation in relations:
        for claim in relation.type.claims:
            if claim.axis is axis:
                first, second = relation.subject, relation.object
                if not claim.subject_first:
                    first, second = second, first
                edges.append((first, second, relation))
                order.setdefault(first, []).append((second, relation))
    cycles = []
    for first, second, relation in edges:
        way_back = _shortest_path(order, second, first)
        if way_back is not None:
            cycles.append([relation, *way_back])
    return cycles


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
        phrase = scene.mention(relation.subject).phrase
        message = f"The {phrase} cannot be {relation.type.phrase} itself."
    elif len(relations) == PAIR:
        message = f"{first[0]} contradicts {last}."
    else:
        message = f"{', '.join(first)} and {last} cannot all hold."
    return Contradiction(
        message=message,
        relation_ids=tuple(relation.id for relation in relations),
        spans=tuple(relation.span for relation in relations if relation.span is not None),
    )
