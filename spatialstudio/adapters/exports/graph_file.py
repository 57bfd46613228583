"""The graphs of prompt and picture with their matching as GraphML."""

from collections.abc import Mapping
from dataclasses import asdict

from spatialstudio.adapters.exports.scene_graph import match_of
from spatialstudio.domain.export import ExportedRun, ExportLook
from spatialstudio.domain.foreign_text import plain_text
from spatialstudio.domain.graph_match import GraphMatch, GraphObject
from spatialstudio.domain.options import values_of

PROMPT, PICTURE = "prompt", "picture"
"""Names of the graphs, and first part of the ids of their nodes."""
RELATION, MATCH = "relation", "match"
"""Kinds of edges."""

Attributes = dict[str, str | float | bool]


def graphml_bytes(run: ExportedRun, look: ExportLook) -> bytes:
    """Return one directed multigraph: the nodes and relations of both graphs, joined by matches.

    Raises:
        ExportError: The run is not judged, or its prompt names no object.
    """
    import networkx as nx  # type: ignore[import-untyped]  # takes a third of a second

    match = match_of(run, look)
    graph = nx.MultiDiGraph(**_graph_attributes(run, match))
    states, node = _states(match), _node_ids(match)
    for name, each in ((PROMPT, match.target), (PICTURE, match.picture)):
        for thing in each.objects:
            known = _object_attributes(thing)
            graph.add_node(node[name, thing.id], graph=name, state=states[name, thing.id], **known)
    for pair in match.objects:
        if pair.target is not None and pair.found is not None:
            ends = node[PROMPT, pair.target], node[PICTURE, pair.found]
            graph.add_edge(*ends, kind=MATCH, state=pair.state.value, cost=pair.cost)
    for related in match.relations:
        if (stated := related.target) is not None:
            ends = node[PROMPT, stated.subject], node[PROMPT, stated.object]
            graph.add_edge(
                *ends,
                kind=RELATION,
                relation=plain_text(stated.relation_type),
                state=related.state.value,
                cost=related.cost,
            )
    for held in match.picture.relations:
        ends = node[PICTURE, held.subject], node[PICTURE, held.object]
        graph.add_edge(*ends, kind=RELATION, relation=plain_text(held.relation_type))
    return "\n".join(nx.generate_graphml(graph, encoding="utf-8")).encode()


def _graph_attributes(run: ExportedRun, match: GraphMatch) -> Attributes:
    """Return prompt, run, score, sub-scores and settings; undefined scores are left out."""
    scores: Mapping[str, float | None] = {
        "score": match.score,
        "objects": match.object_score,
        "attributes": match.attribute_score,
        "relations": match.relation_score,
        "foreground": match.foreground,
        "background": match.background,
        "weighted": match.weighted,
        "distance": match.distance,
        "trivial_distance": match.most,
    }
    settings = values_of(match.settings)
    return {
        "prompt": plain_text(run.record.request.scene.prompt.text),
        "run": plain_text(run.record.id),
        "is_exact": match.is_exact,
        **{name: value for name, value in scores.items() if value is not None},
        **{f"setting_{k}": plain_text(v) if isinstance(v, str) else v for k, v in settings.items()},
    }


def _object_attributes(thing: GraphObject) -> Attributes:
    sides = asdict(thing.box) if thing.box else {}
    return {
        "id": plain_text(thing.id),
        "class": plain_text(thing.kind),
        "attributes": plain_text(", ".join(sorted(thing.attributes))),
        "unjudged": plain_text(", ".join(sorted(thing.unjudged))),
        "is_foreground": thing.is_foreground,
        **{name: float(value) for name, value in sides.items()},
    }


def _node_ids(match: GraphMatch) -> Mapping[tuple[str, str], str]:
    """Return unique ids in plain text for the objects of both graphs: "picture.2"."""
    return {
        (name, thing.id): f"{name}.{number}"
        for name, each in ((PROMPT, match.target), (PICTURE, match.picture))
        for number, thing in enumerate(each.objects, 1)
    }


def _states(match: GraphMatch) -> Mapping[tuple[str, str], str]:
    states = {}
    for pair in match.objects:
        for name, thing in ((PROMPT, pair.target), (PICTURE, pair.found)):
            if thing is not None:
                states[name, thing] = pair.state.value
    return states
