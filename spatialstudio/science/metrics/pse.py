"""PSE as a metric: per relation, per prompt, and its mean over many images.

Source: Rezaei et al. 2025, arXiv:2506.23418; see ``science/pos/pse.py`` for how means are taken.
"""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from spatialstudio.domain.metric import Figures, Metric, Row, relation_values
from spatialstudio.domain.scene import SceneGraph
from spatialstudio.domain.verdict import Evaluation
from spatialstudio.science.pos.pse import MET_AT, Instances, prompt_pse

PSE = "pse"


def _of_picture(scene: SceneGraph, evaluation: Evaluation, _: object) -> Mapping[str, Any]:
    by_instances = {each.value: _prompt_pse(evaluation, scene, each) for each in Instances}
    published = by_instances[Instances.UNION.value]
    return {
        "mean_pse": published["mean"] if published else None,
        "pse_relations": len(scene.relations),
        "prompt_pse": by_instances,
    }


def _prompt_pse(
    evaluation: Evaluation, scene: SceneGraph, instances: Instances
) -> Mapping[str, Any] | None:
    least_score = evaluation.checker.detection_score
    shown = prompt_pse(scene, evaluation.perception, instances, least_score)
    if shown is None:
        return None
    return {
        "mean": shown.mean,
        "least": shown.least,
        "product": shown.product,
        "is_met": shown.is_met,
    }


def _figures(rows: Sequence[Row], _: object) -> Mapping[str, Figures]:
    scores = [score or 0.0 for score in relation_values(rows, PSE, 0.0)]
    if not scores:
        return {}
    met = sum(score >= MET_AT for score in scores)
    return {PSE: {"relations": len(scores), "mean": mean(scores), "met": met / len(scores)}}


METRIC = Metric(
    id=PSE,
    label="PSE",
    help="How clearly the masks satisfy each relation, max(0, 2 PoS - 1).",
    of_picture=_of_picture,
    score_row=lambda row: row.get("mean_pse"),
    add_up=_figures,
    order=20,
)
