"""The scene-graph score as a metric; see ``science/scene_graph/score.py``.

A picture that could not be evaluated counts 0; one whose prompt names no object is left out.
"""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from spatialstudio.domain.graph_match import GraphMatch, MatchState
from spatialstudio.domain.graph_settings import GraphSettings
from spatialstudio.domain.metric import Figures, Metric, Row
from spatialstudio.domain.scene import SceneGraph
from spatialstudio.domain.verdict import Evaluation
from spatialstudio.science.scene_graph.score import score_picture

SCENE_GRAPH = "scene_graph"
PARTS = ("objects", "attributes", "relations", "foreground", "background", "weighted")


def _of_picture(
    scene: SceneGraph, evaluation: Evaluation, settings: GraphSettings
) -> Mapping[str, Any]:
    match = score_picture(scene, evaluation, settings)
    if match is None:
        return {"scene_graph_score": None, "scene_graph_parts": None, "scene_graph_edits": []}
    return {
        "scene_graph_score": match.score,
        "scene_graph_parts": {
            "objects": match.object_score,
            "attributes": match.attribute_score,
            "relations": match.relation_score,
            "foreground": match.foreground,
            "background": match.background,
            "weighted": match.weighted,
            "distance": match.distance,
            "of": match.most,
            "is_approximate": not match.is_exact,
        },
        "scene_graph_edits": [*_edits(match)],
    }


def _edits(match: GraphMatch) -> Sequence[Mapping[str, Any]]:
    """Return what differs between the graphs, as JSON values."""
    objects = [
        {"object": each.target or each.found, "state": each.state.value, "cost": each.cost}
        for each in match.objects
        if each.state is not MatchState.MATCHED
    ]
    relations = [
        {
            "subject": each.target.subject,
            "object": each.target.object,
            "wanted": each.target.relation_type,
            "found": list(each.predicates),
            "state": each.state.value,
            "cost": each.cost,
        }
        for each in match.relations
        if each.target is not None and each.state is not MatchState.MATCHED
    ]
    return [*objects, *relations]


def _figures(rows: Sequence[Row], _: object) -> Mapping[str, Figures]:
    scores = [
        0.0 if row["error"] else row["scene_graph_score"]
        for row in rows
        if row["error"] or row.get("scene_graph_score") is not None
    ]
    parts = [row["scene_graph_parts"] for row in rows if row.get("scene_graph_parts")]
    if not scores or not parts:
        return {}
    figures: dict[str, Any] = {"pictures": len(scores), "mean": mean(scores)}
    for name in PARTS:
        values = [each[name] for each in parts if each[name] is not None]
        if values:
            figures[name] = mean(values)
    figures["approximate"] = sum(each["is_approximate"] for each in parts)
    return {SCENE_GRAPH: figures}


METRIC = Metric(
    id=SCENE_GRAPH,
    label="Scene graph",
    help=(
        "1 - edit distance between the graphs of prompt and picture, over that of an empty picture."
    ),
    of_picture=_of_picture,
    score_row=lambda row: row.get("scene_graph_score"),
    add_up=_figures,
    rules=GraphSettings(),
    order=35,
)
"""The metric, with the default settings."""
