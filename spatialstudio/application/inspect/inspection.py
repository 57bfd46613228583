"""Measurements and descriptions of maps, relations and verdicts for display."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from spatialstudio.application.session import OpenRun
from spatialstudio.domain.arrays import FloatMap
from spatialstudio.domain.assertion import DaSettings
from spatialstudio.domain.evidence import DOUBTFUL_POS, SURE_POS, Evidence
from spatialstudio.domain.generation import StepEvent
from spatialstudio.domain.picture_settings import place_in_words
from spatialstudio.domain.run_settings import places_of
from spatialstudio.domain.scene import (
    Axis,
    Relation,
    RelationId,
    SceneGraph,
)
from spatialstudio.domain.verdict import (
    CheckerSettings,
    Evaluation,
    MentionVerdict,
    Verdict,
)
from spatialstudio.science.checker.decide import decide_again
from spatialstudio.science.checker.evidence import evidence_of as gather_evidence
from spatialstudio.science.checker.evidence import explain as explain_verdict
from spatialstudio.science.checker.evidence import explain_mention as explain_count_or_colour
from spatialstudio.science.checker.evidence import share_in_words
from spatialstudio.science.checker.instances import measure_instances
from spatialstudio.science.pos.superiority import marginal
from spatialstudio.science.questions.da_score import score_again
from spatialstudio.science.scenes.placement import Placement, offset_in_words, placements_of


def marginals(weights: FloatMap) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Project a map onto both image axes.

    Args:
        weights: (h, w), not negative.

    Returns:
        (w,) along x and (h,) along y, each summing to 1; zeros for an empty map.
    """
    if not weights.any():
        height, width = weights.shape
        return np.zeros(width, np.float32), np.zeros(height, np.float32)
    return marginal(weights, Axis.X), marginal(weights, Axis.Y)


def relation_in_words(relation: Relation, pos: float, scene: SceneGraph) -> str:
    """Describe a PoS: "Attention PoS 83 %: the maps show that the cat is above the dog.".

    Args:
        relation: The relation.
        pos: Its PoS on attention maps, [0, 1].
        scene: Scene with its mentions.
    """
    subject, *others = (f"the {scene.name(end)}" for end in relation.ends)
    objects = " and ".join(others)
    verb = "are" if scene.mention(relation.subject).is_plural else "is"
    claim = f"{subject} {verb} {relation.type.phrase} {objects}"
    return f"Attention PoS {share_in_words(pos)}: the maps {_finding(pos)} {claim}."


def _finding(pos: float) -> str:
    """Return what maps of a PoS say of the relation."""
    if pos >= SURE_POS:
        return "show that"
    return "contradict that" if pos <= DOUBTFUL_POS else "do not show whether"


def attention_at_the_end(run: OpenRun) -> Mapping[RelationId, float]:
    """Return the attention PoS of a run's last step, by relation of its scene."""
    drawn = run.request.scene if run.request else None
    return {} if drawn is None else last_attention(run.steps, drawn, run.scene)


def run_placements(run: OpenRun) -> tuple[Placement, ...]:
    """Return the sketched places of a run with the objects found; none before the evaluation."""
    if run.request is None:
        return ()
    targets = places_of(run.request).within(run.scene).targets
    if run.evaluation is None:
        return tuple(Placement(target=target, found=None) for target in targets)
    return placements_of(targets, run.evaluation.perception)


def places_in_words(run: OpenRun) -> tuple[str, ...]:
    """Return the sketched places of a run, and how far off the objects are: "cat: 3 % of ..."."""
    is_judged = run.evaluation is not None
    return tuple(
        f"{run.scene.name(each.target.mention_id)}: "
        + (offset_in_words(each) if is_judged else f"at {place_in_words(each.target)}")
        for each in run_placements(run)
    )


def last_attention(
    steps: Sequence[StepEvent], drawn: SceneGraph, judged: SceneGraph
) -> Mapping[RelationId, float]:
    """Return the PoS of the last step for relations in both the drawn and the judged scene."""
    claims = {_claim(each, drawn) for each in drawn.relations}
    last = steps[-1].pos if steps else {}
    return {
        each.id: float(last[each.id])
        for each in judged.relations
        if each.id in last and _claim(each, judged) in claims
    }


def _claim(relation: Relation, scene: SceneGraph) -> tuple[object, ...]:
    return relation.id, relation.type.id, *(scene.mention(end).phrase for end in relation.ends)


def explain(
    verdict: Verdict,
    scene: SceneGraph,
    evaluation: Evaluation,
    attention_pos: float | None = None,
) -> str:
    """Describe a verdict with its measurements, disagreeing attention, and omitted checks."""
    unknown = evaluation.perception.missing_classes
    return explain_verdict(verdict, scene, attention_pos, unknown, evaluation.mention_verdicts)


def explain_mention(verdict: MentionVerdict, scene: SceneGraph, evaluation: Evaluation) -> str:
    """Describe a verdict on a count or colour with its measurements."""
    return explain_count_or_colour(verdict, scene, evaluation.perception.missing_classes)


def evidence_of(
    verdict: Verdict,
    scene: SceneGraph,
    evaluation: Evaluation,
    attention_pos: float | None = None,
) -> Evidence:
    """Return the boxes, masks, bands and projections behind a verdict, for drawing."""
    return gather_evidence(verdict, scene, evaluation, attention_pos)


def judged_again(
    run: OpenRun, settings: CheckerSettings, da_settings: DaSettings | None = None
) -> OpenRun:
    """Return a run evaluated with other settings from its perception; unchanged without evaluation.

    Args:
        run: The run.
        settings: Settings of the checker.
        da_settings: Settings of the DA-score; None for no change.
    """
    evaluation = run.evaluation
    if evaluation is None:
        return run
    if da_settings is not None and evaluation.da_score is not None:
        weighed = score_again(evaluation.da_score, da_settings)
        evaluation = replace(evaluation, da_score=weighed)
    if not evaluation.instances and run.image is not None:  # of a version that measured none
        instances = measure_instances(run.scene, evaluation.perception, run.image)
        evaluation = replace(evaluation, instances=instances)
    return replace(run, evaluation=decide_again(evaluation, run.scene, settings))
