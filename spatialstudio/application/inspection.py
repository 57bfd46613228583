"""The numbers and sentences that a window shows about maps, relations and verdicts."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from spatialstudio.application.session import OpenRun
from spatialstudio.domain.arrays import FloatMap
from spatialstudio.domain.assertion import DaSettings
from spatialstudio.domain.evidence import Evidence
from spatialstudio.domain.relation import Axis, Relation, SceneGraph
from spatialstudio.domain.verdict import CheckerSettings, Evaluation, Verdict
from spatialstudio.science.checker import decide_again
from spatialstudio.science.da_score import score_again
from spatialstudio.science.evidence import explain as explain_verdict
from spatialstudio.science.show_evidence import evidence_of as gather_evidence
from spatialstudio.science.superiority import marginal

PERCENT = 100


def marginals(weights: FloatMap) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Project a map onto both axes of the picture.

    Args:
        weights: (h, w), not negative.

    Returns:
        (w,) along x and (h,) along y, each summing to 1; zeros where the map is empty.
    """
    if not weights.any():
        height, width = weights.shape
        return np.zeros(width, np.float32), np.zeros(height, np.float32)
    return marginal(weights, Axis.X), marginal(weights, Axis.Y)


def relation_in_words(relation: Relation, pos: float, scene: SceneGraph) -> str:
    """Say a relation's PoS plainly, as "In 83 % of draws the cat is to the left of the dog.".

    Args:
        relation: The claim.
        pos: Its PoS, [0, 1].
        scene: Where its mentions are.
    """
    subject, *others = (f"the {scene.name(end)}" for end in relation.ends)
    objects = " and ".join(others)
    share = _share_in_words(pos)
    return f"In {share} of draws {subject} is {relation.type.phrase} {objects}."


def _share_in_words(share: float) -> str:
    """Say a share in whole percent; only what is never or always so is called 0 or 100 %."""
    percent = f"{share * PERCENT:.0f} %"
    if percent == "100 %" and share < 1:
        return "more than 99 %"
    if percent == "0 %" and share > 0:
        return "less than 1 %"
    return percent


def explain(verdict: Verdict, scene: SceneGraph) -> str:
    """Say a verdict in one sentence with its numbers."""
    return explain_verdict(verdict, scene)


def evidence_of(verdict: Verdict, scene: SceneGraph, evaluation: Evaluation) -> Evidence:
    """Gather the boxes, masks, bands and projections behind a verdict, to be drawn."""
    return gather_evidence(verdict, scene, evaluation)


def judged_again(
    run: OpenRun, settings: CheckerSettings, da_settings: DaSettings | None = None
) -> OpenRun:
    """Return a run judged by other settings from what was seen; an unjudged one as it is.

    Args:
        run: The run.
        settings: Of the checker.
        da_settings: Of the DA-score; None to leave it as it is.
    """
    evaluation = run.evaluation
    if evaluation is None:
        return run
    if da_settings is not None and evaluation.da_score is not None:
        weighed = score_again(evaluation.da_score, da_settings)
        evaluation = replace(evaluation, da_score=weighed)
    return replace(run, evaluation=decide_again(evaluation, run.scene, settings))
