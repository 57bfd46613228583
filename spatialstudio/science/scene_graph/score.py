"""The scene-graph score of a picture: 1 - graph edit distance / distance of the trivial edit.

Source: the scene-graph score of PSG-Bench, of which only the supplement is published: it names
graph matching and edit distance with NetworkX, and a foreground from saliency. Costs, matching and
normalisation are ours, and the class decides on the foreground; ``GraphSettings`` names every
choice. An empty picture scores 0, and a picture with everything required and nothing else scores 1.
A further error never raises the score of a prompt whose objects are of different classes. Objects
of one class are matched at the least cost: an error that completes an exchange of two of them, or
a further object that replaces a wrong one, raises it.
"""

from collections.abc import Iterable, Sequence
from statistics import mean

from spatialstudio.domain.graph_match import (
    VERB,
    GraphMatch,
    GraphObject,
    GraphRelation,
    MatchState,
    ObjectGraph,
    ObjectMatch,
    RelationMatch,
)
from spatialstudio.domain.graph_settings import EdgeGround, ForegroundWeight, GraphSettings
from spatialstudio.domain.scene import SceneGraph, relation_types
from spatialstudio.domain.verdict import Evaluation
from spatialstudio.science.scene_graph.edit_costs import EditCosts
from spatialstudio.science.scene_graph.edit_distance import EditDistance, edit_distance
from spatialstudio.science.scene_graph.picture_graph import picture_graph
from spatialstudio.science.scene_graph.prompt_graph import prompt_graph
from spatialstudio.science.scene_graph.verbs import answered_verbs, with_verbs


def score_picture(
    scene: SceneGraph,
    evaluation: Evaluation,
    settings: GraphSettings | None = None,
) -> GraphMatch | None:
    """Compute the scene-graph score of an evaluated picture.

    Args:
        scene: Scene of the prompt.
        evaluation: The picture's evaluation for that scene.
        settings: None for the defaults.

    Returns:
        None when the scene has no objects.
    """
    settings = settings or GraphSettings()
    verbs = answered_verbs(scene, evaluation)
    target = with_verbs(prompt_graph(scene, settings), verbs)
    picture = picture_graph(scene, evaluation, settings)
    return match_graphs(target, with_verbs(picture, verbs, settings.least_answer), settings)


def match_graphs(
    target: ObjectGraph, picture: ObjectGraph, settings: GraphSettings | None = None
) -> GraphMatch | None:
    """Match two graphs and compute the score; None when the target has no objects.

    Args:
        target: Graph of the prompt.
        picture: Graph of the picture; each predicate with its inverse.
        settings: None for the defaults.
    """
    settings = settings or GraphSettings()
    if not target.objects:
        return None
    costs = EditCosts(target, picture, settings)
    found = edit_distance(costs)
    objects = _object_matches(costs, found)
    relations = _relation_matches(costs, found)
    layers = _Layers(costs, objects, relations)
    score = costs.score(found.cost, costs.deleted, costs.inserted)
    return GraphMatch(
        target=target,
        picture=picture,
        objects=objects,
        relations=relations,
        distance=found.cost,
        most=costs.most,
        score=score,
        object_score=_object_score(objects, costs),
        attribute_score=_attribute_score(objects, target),
        relation_score=_relation_score(relations, costs),
        foreground=layers.score(True),
        background=layers.score(False),
        weighted=layers.weighted(score),
        is_exact=found.is_exact,
        settings=settings,
    )


def _object_matches(costs: EditCosts, found: EditDistance) -> tuple[ObjectMatch, ...]:
    """Return the objects of the prompt in order, then the extra ones."""
    seen = costs.picture.objects
    matches = [
        _matched(thing, None if place is None else seen[place], costs)
        for thing, place in zip(costs.target.objects, found.assignment, strict=True)
    ]
    extra = [thing for place, thing in enumerate(seen) if place not in set(found.assignment)]
    return (
        *matches,
        *(
            ObjectMatch(
                target=None, found=each.id, state=MatchState.EXTRA, cost=costs.insertion(each)
            )
            for each in extra
        ),
    )


def _matched(thing: GraphObject, seen: GraphObject | None, costs: EditCosts) -> ObjectMatch:
    if seen is None:
        state, cost = MatchState.MISSING, costs.deletion(thing)
        return ObjectMatch(target=thing.id, found=None, state=state, cost=cost)
    similarity = costs.similarity(thing, seen)
    is_right = similarity is None or similarity == 1
    return ObjectMatch(
        target=thing.id,
        found=seen.id,
        state=MatchState.MATCHED if is_right else MatchState.WRONG,
        cost=costs.substitution(thing, seen),
        similarity=similarity,
    )


def _relation_matches(costs: EditCosts, found: EditDistance) -> tuple[RelationMatch, ...]:
    """Return the relations of the prompt in order, then the extra ones in one direction."""
    index = {thing.id: place for place, thing in enumerate(costs.target.objects)}
    seen = costs.picture.objects
    matches, compared = [], set[frozenset[int]]()
    for relation in costs.target.relations:
        one = found.assignment[index[relation.subject]]
        other = found.assignment[index[relation.object]]
        if one is None or other is None:
            matches.append(_missing(relation, costs.settings))
            continue
        compared.add(frozenset((one, other)))
        held = costs.held.get((one, other), frozenset())
        cost = min(costs.relation(relation.relation_type, held), costs.settings.missing_relation)
        matches.append(
            RelationMatch(
                target=relation,
                found=(seen[one].id, seen[other].id),
                predicates=tuple(sorted(held)),
                state=MatchState.WRONG if cost else MatchState.MATCHED,
                cost=cost,
            )
        )
    return (*matches, *_extra_relations(costs, compared))


def _missing(relation: GraphRelation, settings: GraphSettings) -> RelationMatch:
    return RelationMatch(
        target=relation,
        found=None,
        predicates=(),
        state=MatchState.MISSING,
        cost=settings.missing_relation,
    )


def _extra_relations(costs: EditCosts, compared: set[frozenset[int]]) -> Iterable[RelationMatch]:
    """Yield the relations between objects that the prompt does not relate, each once."""
    seen = costs.picture.objects
    for (one, other), names in costs.held.items():
        if frozenset((one, other)) in compared:
            continue
        listed = tuple(sorted(name for name in names if _is_first(name, one, other)))
        if listed:
            yield RelationMatch(
                target=None,
                found=(seen[one].id, seen[other].id),
                predicates=listed,
                state=MatchState.EXTRA,
                cost=costs.settings.extra_relation * len(listed),
            )


def _is_first(name: str, one: int, other: int) -> bool:
    """Return True for one of a predicate and its inverse: "left of", not "right of"."""
    claims = () if name.startswith(VERB) else relation_types[name].claims
    return claims[0].subject_first if claims else one < other


def _object_score(objects: Sequence[ObjectMatch], costs: EditCosts) -> float:
    edits = (MatchState.MISSING, MatchState.EXTRA)
    cost = sum(each.cost for each in objects if each.state in edits)
    inserted = sum(costs.insertion(each) for each in costs.picture.objects)
    deleted = sum(costs.deletion(each) for each in costs.target.objects)
    return costs.score(cost, deleted, inserted)


def _attribute_score(objects: Sequence[ObjectMatch], target: ObjectGraph) -> float | None:
    required = {thing.id for thing in target.objects if thing.attributes}
    values = [
        0.0 if each.similarity is None else each.similarity
        for each in objects
        if each.target in required
        and (each.similarity is not None or each.state is MatchState.MISSING)
    ]
    return mean(values) if values else None


def _relation_score(relations: Sequence[RelationMatch], costs: EditCosts) -> float | None:
    stated = costs.target.relations
    if not stated:
        return None
    cost = sum(each.cost for each in relations if each.target is not None)
    return costs.score(cost, costs.settings.missing_relation * len(stated), 0.0)


class _Layers:
    """The costs of foreground and background."""

    def __init__(
        self,
        costs: EditCosts,
        objects: Sequence[ObjectMatch],
        relations: Sequence[RelationMatch],
    ) -> None:
        self._costs = costs
        self._objects = objects
        self._relations = relations
        self._target = {thing.id: thing.is_foreground for thing in costs.target.objects}
        self._seen = {thing.id: thing.is_foreground for thing in costs.picture.objects}

    def score(self, is_foreground: bool) -> float | None:
        """Return the score of one ground; None where prompt and picture have nothing there."""
        costs = self._costs
        wanted = [thing for thing in costs.target.objects if thing.is_foreground is is_foreground]
        edges = [each for each in self._relations if self._ground(each) is is_foreground]
        stated = sum(each.target is not None for each in edges)
        if not wanted and not stated:
            return None
        inserted = sum(
            costs.insertion(thing)
            for thing in costs.picture.objects
            if thing.is_foreground is is_foreground
        )
        things = [e for e in self._objects if self._object_ground(e) is is_foreground]
        cost = sum(each.cost for each in things)
        cost += sum(each.cost for each in edges)
        deleted = sum(costs.deletion(thing) for thing in wanted)
        deleted += costs.settings.missing_relation * stated
        return costs.score(cost, deleted, inserted)

    def weighted(self, score: float) -> float:
        """Return the mean of both grounds with their weights; ``score`` if neither has a weight."""
        objects = self._costs.target.objects
        match self._costs.settings.foreground_weight:
            case ForegroundWeight.OBJECTS:
                weight = sum(thing.is_foreground for thing in objects) / len(objects)
            case ForegroundWeight.EQUAL:
                weight = 0.5
            case ForegroundWeight.FOREGROUND:
                weight = 1.0
        parts = [
            (share, value)
            for share, value in ((weight, self.score(True)), (1 - weight, self.score(False)))
            if value is not None
        ]
        total = sum(share for share, _ in parts)
        return sum(share * value for share, value in parts) / total if total else score

    def _object_ground(self, match: ObjectMatch) -> bool:
        if match.target is not None:
            return self._target[match.target]
        return self._seen[match.found or ""]

    def _ground(self, match: RelationMatch) -> bool:
        if match.target is not None:
            ends = self._target[match.target.subject], self._target[match.target.object]
        else:
            one, other = match.found or ("", "")
            ends = self._seen[one], self._seen[other]
        is_subject = self._costs.settings.edge_ground is EdgeGround.SUBJECT
        return ends[0] if is_subject else all(ends)
