"""The DA-score as a metric: assertions of each image, and the mean over many images.

An image that could not be evaluated counts 0; one whose prompt has no assertions is left out.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from spatialstudio.domain.assertion import AssertionScore
from spatialstudio.domain.metric import Figures, Metric, Row
from spatialstudio.domain.scene import SceneGraph
from spatialstudio.domain.verdict import Evaluation

DA_SCORE = "da"


def _of_picture(_: SceneGraph, evaluation: Evaluation, __: object) -> Mapping[str, Any]:
    score = evaluation.da_score
    if score is None:
        return {"da_score": None, "assertions": []}
    return {
        "da_score": score.value,
        "da_settings": score.settings.preset,
        "answered_by": score.source_id,
        "asserted_by": score.asserted_by,
        "da_notes": list(score.notes),
        "assertions": [_assertion(each) for each in score.scores],
    }


def _assertion(score: AssertionScore) -> Mapping[str, Any]:
    return {
        "text": score.assertion.text,
        "question": score.assertion.question,
        "kind": score.assertion.kind.value,
        "weight": score.assertion.weight,
        "probability_yes": score.probability_yes,
        "log_yes": score.chances.log_yes if score.chances else None,
        "log_no": score.chances.log_no if score.chances else None,
        "note": score.note,
    }


def _figures(rows: Sequence[Row], _: object) -> Mapping[str, Figures]:
    answered = [row["da_score"] for row in rows if row.get("da_score") is not None]
    if not answered:
        return {}
    errors = sum(bool(row["error"]) for row in rows)
    return {
        DA_SCORE: {
            "mean": sum(answered) / (len(answered) + errors),
            "answered": len(answered) / len(rows),
        }
    }


METRIC = Metric(
    id=DA_SCORE,
    label="DA-score",
    help=(
        "Degree to which the picture shows the prompt's assertions, by visual question answering."
    ),
    of_picture=_of_picture,
    score_row=lambda row: row.get("da_score"),
    add_up=_figures,
    order=30,
)
