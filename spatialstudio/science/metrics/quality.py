"""The quality score as a metric: the score of each image, and the mean over many images.

Images without a score, as without a detected object, are left out; ``scored`` is their share.
"""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from spatialstudio.domain.metric import Figures, Metric, Row
from spatialstudio.domain.scene import SceneGraph
from spatialstudio.domain.verdict import Evaluation

QUALITY, SCORE = "quality", "quality_score"


def _of_picture(_: SceneGraph, evaluation: Evaluation, __: object) -> Mapping[str, Any]:
    return {SCORE: evaluation.quality}


def _figures(rows: Sequence[Row], _: object) -> Mapping[str, Figures]:
    known = [row[SCORE] for row in rows if row.get(SCORE) is not None]
    if not known:
        return {}
    return {QUALITY: {"mean": mean(known), "scored": len(known) / len(rows)}}


METRIC = Metric(
    id=QUALITY,
    label="Quality",
    help="How surely a held-out classifier recognises the detected objects (embedded model only).",
    of_picture=_of_picture,
    add_up=_figures,
    order=35,
)
