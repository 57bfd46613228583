"""What programs are told of a judged picture: plain data."""

from collections.abc import Mapping
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

from spatialstudio.application.flow.choose_metrics import ALL_METRICS, ChosenMetrics, MetricKind
from spatialstudio.application.inspection import evidence_of
from spatialstudio.domain.assertion import AssertionScore, DaScore
from spatialstudio.domain.evidence import Evidence
from spatialstudio.domain.perception import Box
from spatialstudio.domain.relation import Relation, RelationId, SceneGraph
from spatialstudio.domain.verdict import Evaluation, Verdict
from spatialstudio.science.center_scores import center_scores, hrs_of_scene
from spatialstudio.science.hrs import other_form
from spatialstudio.science.pse import Instances, prompt_pse, pse_of

NO_ATTENTION: Mapping[RelationId, float] = MappingProxyType({})
CENTER_NAMES = ("visor", "compbench", "hrs", "geneval")


def evaluation_answer(
    evaluation: Evaluation,
    scene: SceneGraph,
    metrics: ChosenMetrics = ALL_METRICS,
    attention: Mapping[RelationId, float] = NO_ATTENTION,
) -> Mapping[str, Any]:
    """Tell all that is said of a picture, and whose settings said it.

    Args:
        evaluation: The judged picture.
        scene: What its prompt claims.
        metrics: Who is asked beside the checker.
        attention: PoS on the attention of the last step, where the picture was drawn here.
    """
    answer: dict[str, Any] = {
        "checker": evaluation.checker.preset,
        "judges": list(metrics.names),
        "objects": len(scene.mentions),
    }
    if MetricKind.PSE in metrics.kinds:
        answer |= _pse_answers(evaluation, scene)
    if MetricKind.DA_SCORE in metrics.kinds:
        answer |= _da_answer(evaluation.da_score)
    if MetricKind.HRS in metrics.kinds:
        rules = metrics.center_rules.hrs
        answer["hrs"] = hrs_of_scene(scene, evaluation.perception, rules)
        name, others = other_form(rules)
        answer[name] = hrs_of_scene(scene, evaluation.perception, others)
    answer["verdicts"] = [
        _verdict_answer(verdict, scene, evaluation, attention.get(verdict.relation_id))
        | _center_answer(relation_of(verdict, scene), scene, evaluation, metrics)
        for verdict in evaluation.verdicts
    ]
    return answer


def relation_of(verdict: Verdict, scene: SceneGraph) -> Relation:
    """Return the relation that a verdict is about."""
    return next(known for known in scene.relations if known.id == verdict.relation_id)


def _da_answer(score: DaScore | None) -> Mapping[str, Any]:
    if score is None:
        return {"da_score": None, "assertions": []}
    return {
        "da_score": score.value,
        "da_settings": score.settings.preset,
        "answered_by": score.source_id,
        "asserted_by": score.asserted_by,
        "da_notes": list(score.notes),
        "assertions": [_assertion_answer(one) for one in score.scores],
    }


def _assertion_answer(score: AssertionScore) -> Mapping[str, Any]:
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


def _pse_answers(evaluation: Evaluation, scene: SceneGraph) -> Mapping[str, Any]:
    """Tell PSE of the whole prompt; its mean is that of all ``pse_relations``, as published."""
    by_instances = {
        instances.value: _pse_answer(evaluation, scene, instances) for instances in Instances
    }
    published = by_instances[Instances.UNION.value]
    return {
        "mean_pse": published["mean"] if published else None,
        "pse_relations": len(scene.relations),
        "prompt_pse": by_instances,
    }


def _pse_answer(
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


def _verdict_answer(
    verdict: Verdict, scene: SceneGraph, evaluation: Evaluation, attention_pos: float | None
) -> dict[str, Any]:
    evidence = evidence_of(verdict, scene, evaluation, attention_pos)
    measured = verdict.measurement
    relation = relation_of(verdict, scene)
    return {
        "relation_id": verdict.relation_id,
        "relation": scene.sentence(relation),
        "outcome": verdict.outcome.value,
        "reason": verdict.reason.value if verdict.reason else None,
        "confidence": verdict.confidence,
        "components": asdict(verdict.components),
        "delta": measured.delta if measured else None,
        "margin": measured.margin if measured else None,
        "overlap": measured.overlap if measured else None,
        "gap": measured.gap if measured else None,
        "pos": measured.pos if measured else None,
        "pse": pse_of(relation, evaluation),
        "attention_pos": attention_pos,
        "not_checked": [
            {"mention": each.mention_id, "kind": each.kind.value, "words": each.words}
            for each in evidence.not_checked
        ],
        "why": evidence.sentence,
        "evidence": _evidence_answer(evidence),
    }


def _center_answer(
    relation: Relation, scene: SceneGraph, evaluation: Evaluation, metrics: ChosenMetrics
) -> dict[str, Any]:
    """Tell what the chosen centre metrics say, and whether both ends were found at all."""
    scores = asdict(center_scores(relation, scene, evaluation.perception, metrics.center_rules))
    chosen = {kind.value for kind in metrics.kinds}
    return {"found": scores["found"]} | {
        name: scores[name] for name in CENTER_NAMES if name in chosen
    }


def _evidence_answer(evidence: Evidence) -> Mapping[str, Any]:
    """Tell boxes, bands and perturbed answers; masks and projections are for drawing."""
    return {
        "boxes": [
            {
                "mention": found.mention_id,
                "label": found.label,
                "role": found.role.value,
                "score": found.score,
                "box": _edges(found.box),
            }
            for found in evidence.boxes
        ],
        "bands": [
            {"axis": band.axis.value, "start": band.start, "stop": band.stop}
            for band in evidence.bands
        ],
        "gap": evidence.gap and asdict(evidence.gap),
        "pos_band": evidence.pos_band,
        "intersection": evidence.intersection and _edges(evidence.intersection),
        "perturbed": [
            {
                "kind": answer.perturbation.kind.value,
                "amount": answer.perturbation.amount,
                "outcome": answer.outcome.value if answer.outcome else None,
                "boxes": [_edges(box) for box in answer.boxes],
            }
            for answer in evidence.perturbed
        ],
    }


def _edges(box: Box) -> list[float]:
    return [box.left, box.top, box.right, box.bottom]
