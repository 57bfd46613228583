"""What programs are told of a judged picture: plain data."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from spatialstudio.application.inspection import evidence_of, explain
from spatialstudio.domain.evidence import Evidence
from spatialstudio.domain.perception import Box
from spatialstudio.domain.relation import Relation, SceneGraph
from spatialstudio.domain.verdict import Evaluation, Verdict
from spatialstudio.science.center_scores import center_scores
from spatialstudio.science.pse import Instances, prompt_pse


def evaluation_answer(
    evaluation: Evaluation, scene: SceneGraph, *, mended: bool = False
) -> Mapping[str, Any]:
    """Tell all that is said of a picture, and whose settings said it.

    Args:
        evaluation: The judged picture.
        scene: What its prompt claims.
        mended: Whether the centre metrics go without the faults of their published code.
    """
    return {
        "checker": evaluation.checker.preset,
        "mean_pse": evaluation.mean_pse,
        "prompt_pse": {
            instances.value: _pse_answer(evaluation, scene, instances) for instances in Instances
        },
        "da_score": evaluation.da_score.value if evaluation.da_score else None,
        "assertions": [
            {"text": score.assertion.text, "probability_yes": score.probability_yes}
            for score in (evaluation.da_score.scores if evaluation.da_score else ())
        ],
        "verdicts": [
            _verdict_answer(verdict, scene, evaluation, mended=mended)
            for verdict in evaluation.verdicts
        ],
    }


def relation_of(verdict: Verdict, scene: SceneGraph) -> Relation:
    """Return the relation that a verdict is about."""
    return next(known for known in scene.relations if known.id == verdict.relation_id)


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
    verdict: Verdict, scene: SceneGraph, evaluation: Evaluation, *, mended: bool
) -> Mapping[str, Any]:
    measured = verdict.measurement
    relation = relation_of(verdict, scene)
    others = center_scores(relation, evaluation.perception, evaluation.checker, mended=mended)
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
        "pos": measured.pos if measured else None,
        "pse": measured.pse if measured else None,
        **asdict(others),
        "why": explain(verdict, scene),
        "evidence": _evidence_answer(evidence_of(verdict, scene, evaluation)),
    }


def _evidence_answer(evidence: Evidence) -> Mapping[str, Any]:
    """Tell boxes, bands and perturbed answers; masks and projections are for drawing."""
    return {
        "boxes": [
            {
                "mention": found.mention_id,
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
        "intersection": evidence.intersection and _edges(evidence.intersection),
        "perturbed": [
            {
                "kind": answer.perturbation.kind.value,
                "amount": answer.perturbation.amount,
                "outcome": answer.outcome.value if answer.outcome else None,
            }
            for answer in evidence.perturbed
        ],
    }


def _edges(box: Box) -> list[float]:
    return [box.left, box.top, box.right, box.bottom]
