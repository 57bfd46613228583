"""The graph edit distance between the graphs of a prompt and of a picture.

Small graphs are solved exactly by NetworkX (Abu-Aisheh et al. 2015, "An exact graph edit distance
algorithm for solving pattern recognition problems"). Larger graphs, and searches that exceed the
time limit, are solved approximately by one assignment of objects with their own relations (Riesen
and Bunke 2009, "Approximate graph edit distance computation by means of bipartite graph matching"),
improved by exchanges; its distance is an upper bound.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, product
from time import perf_counter

import numpy as np

from spatialstudio.domain.frozen import frozen
from spatialstudio.science.arrays import FloatArray
from spatialstudio.science.scene_graph.edit_costs import Assignment, EditCosts

_ROUNDING = 1e-9
_MOST_TRIALS = 1000
"""Matchings tried by exchanges."""


@frozen
class EditDistance:
    """A matching of objects and its cost.

    Attributes:
        assignment: For each object of the prompt the index of the picture's object, or None.
        cost: Cost of the edits, not negative.
        is_exact: Whether no matching costs less.
    """

    assignment: tuple[int | None, ...]
    cost: float
    is_exact: bool


def edit_distance(costs: EditCosts) -> EditDistance:
    """Find the cheapest matching: exactly for small graphs, else approximately."""
    rough = approximate_distance(costs)
    sizes = len(costs.target.objects), len(costs.picture.objects)
    if rough.is_exact or max(sizes) > costs.settings.exact_objects:
        return rough
    return exact_distance(costs, rough)


def exact_distance(costs: EditCosts, rough: EditDistance) -> EditDistance:
    """Search for the cheapest matching with NetworkX.

    Args:
        costs: The costs.
        rough: Any matching; the search looks for cheaper ones.

    Returns:
        The best matching found; it is approximate if the time limit ended the search.
    """
    import networkx as nx  # type: ignore[import-untyped]  # takes a third of a second

    target, picture = nx.DiGraph(), nx.DiGraph()
    for graph, things in ((target, costs.target.objects), (picture, costs.picture.objects)):
        graph.add_nodes_from((place, {"thing": thing}) for place, thing in enumerate(things))
    target.add_edges_from((*pair, {"names": names}) for pair, names in costs.wanted.items())
    picture.add_edges_from((*pair, {"names": names}) for pair, names in _comparable(costs).items())
    settings, best = costs.settings, rough
    start = perf_counter()
    paths = nx.optimize_edit_paths(
        target,
        picture,
        node_subst_cost=lambda one, other: (
            costs.substitution(one["thing"], other["thing"])
            if costs.are_alike(one["thing"], other["thing"])
            else costs.forbidden
        ),
        node_del_cost=lambda one: costs.deletion(one["thing"]),
        node_ins_cost=lambda one: costs.insertion(one["thing"]),
        edge_subst_cost=lambda one, other: costs.relations(one["names"], other["names"]),
        edge_del_cost=lambda one: settings.missing_relation * len(one["names"]),
        edge_ins_cost=lambda one: settings.extra_relation * len(one["names"]),
        upper_bound=rough.cost + _ROUNDING,
        timeout=settings.exact_seconds,
    )
    for path, _, _ in paths:
        chosen = {one: other for one, other in path if one is not None}
        assignment = tuple(chosen[place] for place in range(len(costs.target.objects)))
        cost = costs.total(assignment)
        if cost < best.cost:
            best = EditDistance(assignment=assignment, cost=cost, is_exact=False)
    is_exact = perf_counter() - start < settings.exact_seconds
    return EditDistance(assignment=best.assignment, cost=best.cost, is_exact=is_exact)


def _comparable(costs: EditCosts) -> dict[tuple[int, int], frozenset[str]]:
    """Return the picture's relations that a relation of the prompt may be compared with.

    The others cost nothing, whatever the matching, unless further relations are charged.
    """
    if costs.settings.extra_relation:
        return dict(costs.held)
    wanted = [costs.kind(thing) for thing in costs.target.objects]
    found = [costs.kind(thing) for thing in costs.picture.objects]
    kinds = {(wanted[one], wanted[other]) for one, other in costs.wanted}
    return {
        pair: names
        for pair, names in costs.held.items()
        if (found[pair[0]], found[pair[1]]) in kinds
    }


def approximate_distance(costs: EditCosts) -> EditDistance:
    """Match objects by their classes, attributes and own relations, and improve by exchanges.

    Returns:
        A matching, exact if its cost equals a lower bound.
    """
    from scipy.optimize import linear_sum_assignment  # type: ignore[import-untyped]

    things, found = costs.target.objects, costs.picture.objects
    if not things:
        return EditDistance(assignment=(), cost=costs.total(()), is_exact=True)
    matrix = _assignment_costs(costs)
    rows, columns = linear_sum_assignment(matrix)
    chosen = dict(zip(rows.tolist(), columns.tolist(), strict=True))
    bound = float(matrix[rows, columns].sum())
    picks = [chosen[place] for place in range(len(things))]
    start = [pick if pick < len(found) else None for pick in picks]
    assignment, cost = _improved(start, costs, bound)
    is_exact = costs.settings.extra_relation == 0 and cost <= bound + _ROUNDING
    return EditDistance(assignment=tuple(assignment), cost=cost, is_exact=is_exact)


def _assignment_costs(costs: EditCosts) -> FloatArray:
    """Return the costs of a bipartite assignment, (n + m, n + m), of which any is a lower bound.

    The relations of an object count half, as they belong to two objects.
    """
    things, found = costs.target.objects, costs.picture.objects
    rows, columns = len(things), len(found)
    matrix = np.full((rows + columns, rows + columns), costs.forbidden)
    matrix[rows:, columns:] = 0
    own = _own_relations(costs)
    reach = _reachable(costs)
    missing = costs.settings.missing_relation
    for row, thing in enumerate(things):
        unmatched = sum(missing * len(names) for *_, names in own[row])
        matrix[row, columns + row] = costs.deletion(thing) + unmatched / 2
        for column, other in enumerate(found):
            if costs.are_alike(thing, other):
                related = sum(
                    _least_cost(names, reach[column].get((role, kind), ()), costs)
                    for role, kind, names in own[row]
                )
                matrix[row, column] = costs.substitution(thing, other) + related / 2
    for column, other in enumerate(found):
        matrix[rows + column, column] = costs.insertion(other)
    return matrix


def _least_cost(names: Sequence[str], shown: Collection[frozenset[str]], costs: EditCosts) -> float:
    """Return the least cost of required predicates over sets of predicates that hold."""
    missing = costs.settings.missing_relation
    return min(
        (sum(min(costs.relation(name, held), missing) for name in names) for held in shown),
        default=missing * len(names),
    )


_Own = dict[int, list[tuple[bool, str, tuple[str, ...]]]]


def _own_relations(costs: EditCosts) -> _Own:
    """Return each object's required relations: its role, the class of the other, predicates."""
    own: _Own = defaultdict(list)
    kinds = [costs.kind(thing) for thing in costs.target.objects]
    for (one, other), names in costs.wanted.items():
        own[one].append((True, kinds[other], names))
        own[other].append((False, kinds[one], names))
    return own


def _reachable(costs: EditCosts) -> dict[int, dict[tuple[bool, str], set[frozenset[str]]]]:
    """Return, for each object of the picture, the distinct sets of predicates by role and class.

    An unrelated object holds none, which costs as much as a missing relation.
    """
    reach: dict[int, dict[tuple[bool, str], set[frozenset[str]]]] = defaultdict(
        lambda: defaultdict(set)
    )
    kinds = [costs.kind(thing) for thing in costs.picture.objects]
    for (one, other), names in costs.held.items():
        reach[one][True, kinds[other]].add(names)
        reach[other][False, kinds[one]].add(names)
    return reach


def _improved(start: Assignment, costs: EditCosts, bound: float) -> tuple[Assignment, float]:
    """Exchange matches, and take unused objects, as long as that lowers the cost."""
    best, cost = list(start), costs.total(start)
    trials = 0
    is_lower = True
    while is_lower:
        is_lower = False
        for trial in list(_neighbours(best, costs)):
            trials += 1
            if cost <= bound + _ROUNDING or trials > _MOST_TRIALS:
                return best, cost
            if (lower := costs.total(trial)) < cost - _ROUNDING:
                best, cost, is_lower = trial, lower, True
                break
    return best, cost


def _neighbours(picks: Sequence[int | None], costs: EditCosts) -> Iterator[list[int | None]]:
    """Yield matchings in which two objects of one class are exchanged, or one takes another."""
    things, found = costs.target.objects, costs.picture.objects
    unused = [place for place in range(len(found)) if place not in set(picks)]
    for one, other in combinations(range(len(things)), 2):
        if picks[one] != picks[other] and costs.are_alike(things[one], things[other]):
            trial = list(picks)
            trial[one], trial[other] = trial[other], trial[one]
            yield trial
    for one, place in product(range(len(things)), unused):
        if costs.are_alike(things[one], found[place]):
            yield [*picks[:one], place, *picks[one + 1 :]]
