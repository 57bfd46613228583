"""The two graphs of a match side by side: a row for each object, an arc for each relation."""

from collections import Counter
from collections.abc import Sequence

from spatialstudio.domain.graph_match import (
    VERB,
    GraphArc,
    GraphMatch,
    GraphObject,
    GraphRow,
    GraphRows,
    MatchState,
    ObjectGraph,
    RelationMatch,
)
from spatialstudio.domain.scene import Axis, Shape, relation_types


def graph_rows(match: GraphMatch, *, with_extra: bool = False) -> GraphRows:
    """Arrange the graphs of prompt and picture in rows.

    Args:
        match: The matching.
        with_extra: Whether relations that the prompt does not state are included.
    """
    wanted, found = _words(match.target), _words(match.picture)
    rows = tuple(
        GraphRow(
            wanted=wanted.get(each.target or "", ""),
            found=found.get(each.found or "", ""),
            match=each,
        )
        for each in match.objects
    )
    row_of_wanted = {each.target: place for place, each in enumerate(match.objects)}
    row_of_found = {each.found: place for place, each in enumerate(match.objects)}
    stated, shown = [], []
    for number, each in enumerate(match.relations):
        if each.target is not None:
            ends = row_of_wanted[each.target.subject], row_of_wanted[each.target.object]
            label = relation_words(each.target.relation_type)
            stated.append((number, ends, label, each.state))
        if each.found is not None and (with_extra or each.target is not None):
            ends = row_of_found[each.found[0]], row_of_found[each.found[1]]
            shown.append((number, ends, _held_words(each), each.state))
    return GraphRows(rows=rows, wanted=_arcs(stated), found=_arcs(shown))


def relation_words(type_id: str) -> str:
    """Return a relation in few words: "left of"."""
    return type_id.removeprefix(VERB).replace("_", " ")


def object_words(thing: GraphObject) -> str:
    """Return an object with its attributes: "red cup"."""
    return " ".join((*sorted(thing.attributes), thing.kind))


def _words(graph: ObjectGraph) -> dict[str, str]:
    """Return each object in words, with its number where several are of one class."""
    totals, numbers = Counter(each.kind for each in graph.objects), Counter[str]()
    words = {}
    for each in graph.objects:
        numbers[each.kind] += 1
        number = f" {numbers[each.kind]}" if totals[each.kind] > 1 else ""
        words[each.id] = f"{object_words(each)}{number}"
    return words


def _held_words(match: RelationMatch) -> str:
    """Return what holds in the picture: the required relation, else others of the same kind."""
    if match.target is not None and match.state is MatchState.MATCHED:
        return relation_words(match.target.relation_type)
    held = match.predicates
    if match.target is not None and not match.target.relation_type.startswith(VERB):
        required = relation_types[match.target.relation_type]
        axes = {claim.axis for claim in required.claims}
        alike = [name for name in held if _is_comparable(name, required.shape, axes)]
        held = tuple(alike) or held
    return ", ".join(map(relation_words, held)) or "not related"


def _is_comparable(name: str, shape: Shape, axes: set[Axis]) -> bool:
    if name.startswith(VERB):
        return False
    shown = relation_types[name]
    return shown.shape is shape and (
        shape is not Shape.ORDER or not axes.isdisjoint(claim.axis for claim in shown.claims)
    )


_Drawn = tuple[int, tuple[int, int], str, MatchState]


def _arcs(drawn: Sequence[_Drawn]) -> tuple[GraphArc, ...]:
    """Give each arc the lowest lane in which it overlaps no shorter arc."""
    lanes: list[list[tuple[int, int]]] = []
    arcs = []
    for number, ends, label, state in sorted(drawn, key=lambda each: abs(each[1][0] - each[1][1])):
        low, high = min(ends), max(ends)
        lane = next(
            (
                place
                for place, taken in enumerate(lanes)
                if all(high <= first or last <= low for first, last in taken)
            ),
            len(lanes),
        )
        lanes[lane:] = lanes[lane:] or [[]]
        lanes[lane].append((low, high))
        arcs.append(GraphArc(match=number, rows=ends, lane=lane, label=label, state=state))
    return tuple(sorted(arcs, key=lambda arc: arc.match))
