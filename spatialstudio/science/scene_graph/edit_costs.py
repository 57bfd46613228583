"""Costs of the edits between the graph of a prompt and that of a picture.

Relations are charged by predicate: between two objects several predicates may hold, and several
may be required. A relation is compared with all that holds from its subject to its object, so that
a picture's graph lists each predicate and its inverse.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

from spatialstudio.domain.graph_match import VERB, GraphObject, ObjectGraph
from spatialstudio.domain.graph_settings import AttributeForm, GraphSettings, ScoreScale, Unjudged
from spatialstudio.domain.scene import AxisClaim, RelationType, Shape, relation_types

Assignment = Sequence[int | None]
"""For each object of the prompt the index of the picture's object; None where it is missing."""


Predicates: TypeAlias = frozenset[str] | tuple[str, ...]
"""Predicates that hold from one object to another."""


class EditCosts:
    """Costs of edits from one graph to another, objects by their index.

    Attributes:
        target: The prompt's graph.
        picture: The picture's graph.
        settings: The costs.
        wanted: Predicates required from one object to another.
        held: Predicates that hold from one object to another.
        deleted: Cost of deleting the whole target.
        inserted: Cost of inserting the whole picture.
        forbidden: Cost of matching objects of different classes. The 2 of ``methods.md`` would be
            less than deletion and insertion of an object with several relations.
    """

    def __init__(self, target: ObjectGraph, picture: ObjectGraph, settings: GraphSettings) -> None:
        self.target, self.picture, self.settings = target, picture, settings
        self.wanted = _predicates(target)
        self.held = {pair: frozenset(names) for pair, names in _predicates(picture).items()}
        self._relations: dict[tuple[str, Predicates], float] = {}
        self._kinds = {name: group[0] for group in settings.synonym_groups for name in group}
        self.deleted, self.inserted = self._deleted(), self._inserted()
        self.forbidden = 2 * self.most + 1

    def kind(self, thing: GraphObject) -> str:
        """Return an object's class, the first name of its synonyms."""
        return self._kinds.get(thing.kind, thing.kind)

    def are_alike(self, wanted: GraphObject, found: GraphObject) -> bool:
        """Return True if two objects are of one class."""
        return self.kind(wanted) == self.kind(found)

    @property
    def most(self) -> float:
        """Cost of the trivial edit: everything deleted, everything inserted."""
        return self.deleted + self.inserted

    def score(self, cost: float, deleted: float, inserted: float) -> float:
        """Return the score of a cost on the scale of the settings, [0, 1].

        Args:
            cost: The cost of the edits.
            deleted: The cost of deleting the target, or the scored part of it.
            inserted: The same for inserting the picture.
        """
        match self.settings.score_scale:
            case ScoreScale.RECIPROCAL:
                return 1 / (1 + cost)
            case ScoreScale.TARGET:
                most = deleted
            case ScoreScale.TRIVIAL:
                most = deleted + inserted
        return min(max(1 - cost / most, 0.0), 1.0) if most > 0 else 1.0

    def similarity(self, wanted: GraphObject, found: GraphObject) -> float | None:
        """Return the Jaccard index of the judged attributes; None if the target has none."""
        required, shown = wanted.attributes, found.attributes
        if self.settings.unjudged is Unjudged.LEFT_OUT:
            required = required - found.unjudged
        return len(required & shown) / len(required | shown) if required else None

    def substitution(self, wanted: GraphObject, found: GraphObject) -> float:
        """Return the cost of matching two objects of one class."""
        if self.settings.attribute_form is AttributeForm.NODE:
            lacking = wanted.attributes - found.attributes
            if self.settings.unjudged is Unjudged.LEFT_OUT:
                lacking = lacking - found.unjudged
            return len(lacking) * self._attribute_node
        similarity = self.similarity(wanted, found)
        return 0.0 if similarity is None else self.settings.attribute_cost * (1 - similarity)

    def deletion(self, wanted: GraphObject) -> float:
        """Return the cost of a missing object, with its attributes where they are nodes."""
        nodes = len(wanted.attributes) if self.settings.attribute_form is AttributeForm.NODE else 0
        return self.settings.missing_object + nodes * self._attribute_node

    @property
    def _attribute_node(self) -> float:
        """The cost of a missing attribute with the edge to its object."""
        return self.settings.missing_object + self.settings.missing_relation

    def insertion(self, found: GraphObject) -> float:
        """Return the cost of an extra object."""
        if found.is_free:
            return 0.0
        settings = self.settings
        return settings.extra_foreground if found.is_foreground else settings.extra_background

    def relations(self, wanted: Sequence[str], held: Predicates) -> float:
        """Return the cost of the predicates between two matched objects."""
        missing, extra = self.settings.missing_relation, self.settings.extra_relation
        costs = [self.relation(name, held) for name in wanted]
        substituted = sum(cost <= missing for cost in costs) if held else 0
        left = max(len(held) - substituted, 0)
        return sum(min(cost, missing) for cost in costs) + extra * left

    def relation(self, wanted: str, held: Predicates) -> float:
        """Return the cost of a required predicate where others hold; computed once for each."""
        if (wanted, held) not in self._relations:
            self._relations[wanted, held] = self._relation(wanted, held)
        return self._relations[wanted, held]

    def _relation(self, wanted: str, held: Predicates) -> float:
        if not held:
            return self.settings.missing_relation
        if wanted in held:
            return 0.0
        if wanted.startswith(VERB):
            return self.settings.missing_relation
        required, shown = relation_types[wanted], registered(held)
        if required.shape is Shape.ORDER:
            return self._order(required.claims, {c for each in shown for c in each.claims})
        is_same = any(each.shape is required.shape for each in shown)
        return 0.0 if is_same else self.settings.wrong_relation

    def _order(self, required: Sequence[AxisClaim], shown: Collection[AxisClaim]) -> float:
        opposite = {AxisClaim(each.axis, not each.subject_first) for each in required}
        met = sum(claim in shown for claim in required)
        if met == 0 or not opposite.isdisjoint(shown):
            return self.settings.wrong_relation
        return 0.0 if met == len(required) else self.settings.family_cost

    def total(self, assignment: Assignment) -> float:
        """Return the cost of the edits that a matching of objects implies."""
        things, found = self.target.objects, self.picture.objects
        cost = 0.0
        for thing, index in zip(things, assignment, strict=True):
            if index is None:
                cost += self.deletion(thing)
            elif self.are_alike(thing, found[index]):
                cost += self.substitution(thing, found[index])
            else:
                cost += self.forbidden
        used = set(assignment)
        cost += sum(self.insertion(each) for k, each in enumerate(found) if k not in used)
        return cost + self._edges(assignment)

    def _edges(self, assignment: Assignment) -> float:
        settings, cost, compared = self.settings, 0.0, set[tuple[int, int]]()
        for (one, other), names in self.wanted.items():
            pair = assignment[one], assignment[other]
            if pair[0] is None or pair[1] is None:
                cost += settings.missing_relation * len(names)
                continue
            compared.add((pair[0], pair[1]))
            cost += self.relations(names, self.held.get((pair[0], pair[1]), ()))
        if settings.extra_relation:
            rest = (names for pair, names in self.held.items() if pair not in compared)
            cost += settings.extra_relation * sum(map(len, rest))
        return cost

    def _deleted(self) -> float:
        relations = self.settings.missing_relation * sum(map(len, self.wanted.values()))
        return relations + sum(self.deletion(each) for each in self.target.objects)

    def _inserted(self) -> float:
        relations = self.settings.extra_relation * sum(map(len, self.held.values()))
        return relations + sum(self.insertion(each) for each in self.picture.objects)


def registered(names: Iterable[str]) -> list[RelationType]:
    """Return the relation types of predicates, without verbs."""
    return [relation_types[name] for name in names if not name.startswith(VERB)]


def _predicates(graph: ObjectGraph) -> Mapping[tuple[int, int], tuple[str, ...]]:
    """Return the predicates from one object to another, each once, by the objects' indices."""
    index = {thing.id: place for place, thing in enumerate(graph.objects)}
    names = defaultdict[tuple[int, int], list[str]](list)
    for each in graph.relations:
        names[index[each.subject], index[each.object]].append(each.relation_type)
    return {pair: tuple(dict.fromkeys(listed)) for pair, listed in names.items()}
