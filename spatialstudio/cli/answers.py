"""What the commands answer: plain data for programs, lines for people."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

from spatialstudio.application.compose.compare_readings import dispute_in_words
from spatialstudio.application.compose.scene_advice import AdviceKind, advice_on
from spatialstudio.application.evaluate.metrics import (
    ChosenMetrics,
    all_metrics,
)
from spatialstudio.application.inspect.inspection import attention_at_the_end, evidence_of, explain
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.evidence import Evidence
from spatialstudio.domain.generation import UNGUIDED
from spatialstudio.domain.perception import Box
from spatialstudio.domain.prompt import TextSpan, TokenSpan
from spatialstudio.domain.relation import (
    Basis,
    Relation,
    RelationId,
    SceneGraph,
)
from spatialstudio.domain.verdict import Evaluation, Verdict
from spatialstudio.science.metrics.visor import ends_found
from spatialstudio.science.pos.pse import pse_of

NO_ATTENTION: Mapping[RelationId, float] = MappingProxyType({})


def evaluation_answer(
    evaluation: Evaluation,
    scene: SceneGraph,
    metrics: ChosenMetrics | None = None,
    attention: Mapping[RelationId, float] = NO_ATTENTION,
) -> Mapping[str, Any]:
    """Tell all that is said of a picture, and whose settings said it.

    Args:
        evaluation: The judged picture.
        scene: What its prompt claims.
        metrics: The metrics to compute; None for all.
        attention: PoS on the attention of the last step, where the picture was drawn here.
    """
    metrics = metrics or all_metrics()
    answer: dict[str, Any] = {
        "checker": evaluation.checker.preset,
        "judges": list(metrics.names),
        "objects": len(scene.mentions),
    }
    for metric in metrics.chosen:
        if metric.of_picture is not None:
            answer |= metric.of_picture(scene, evaluation, metrics.rules[metric.id])
    answer["verdicts"] = [
        _verdict_answer(verdict, scene, evaluation, attention.get(verdict.relation_id))
        | _metric_answer(relation_of(verdict, scene), scene, evaluation, metrics)
        for verdict in evaluation.verdicts
    ]
    return answer


def relation_of(verdict: Verdict, scene: SceneGraph) -> Relation:
    """Return the relation that a verdict is about."""
    return next(known for known in scene.relations if known.id == verdict.relation_id)


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


def _metric_answer(
    relation: Relation, scene: SceneGraph, evaluation: Evaluation, metrics: ChosenMetrics
) -> dict[str, Any]:
    """Tell what the chosen metrics say of a relation, and whether its ends were found at all."""
    return {"found": ends_found(relation, evaluation.perception)} | {
        metric.id: metric.of_relation(relation, scene, evaluation, metrics.rules[metric.id])
        for metric in metrics.chosen
        if metric.of_relation is not None
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


Answer = Mapping[str, Any]

BASES = {
    Basis.STATED: "",
    Basis.IMPLIED: "  (implied)",
    Basis.UNCONFIRMED: "  (not confirmed by the grammar)",
    Basis.UNSAID: "  (not in the prompt)",
}


def scene_answer(scene: SceneGraph, tokens: Sequence[TokenSpan] = ()) -> Answer:
    """Tell all that was read in a prompt, and where a model's text encoders hold it."""
    positions = {token_span.mention_id: token_span.indices for token_span in tokens}
    return {
        "prompt": scene.prompt.text,
        "objects": [
            {
                "id": mention.id,
                "phrase": mention.phrase,
                "head": mention.head,
                "attributes": mention.attributes,
                "count": mention.count or None,
                "is_plural": mention.is_plural,
                "span": _ends(mention.span),
                "tokens": positions.get(mention.id),
            }
            for mention in scene.mentions
        ],
        "relations": [_relation_answer(relation, scene) for relation in scene.relations],
        "disputed": [
            {**_relation_answer(claim, scene), "message": dispute_in_words(claim, scene)}
            for claim in scene.disputed
        ],
        "contradictions": _advice_answers(scene, AdviceKind.CONTRADICTION),
        "redundancies": _advice_answers(scene, AdviceKind.REDUNDANCY),
        "notes": [{"message": note.message, "span": _ends(note.span)} for note in scene.notes],
    }


def scene_lines(scene: SceneGraph, tokens: Sequence[TokenSpan] = ()) -> Iterator[str]:
    """Say what was read in a prompt, and where a model's text encoders hold it."""
    positions = {token_span.mention_id: token_span.indices for token_span in tokens}
    for mention in scene.mentions:
        places = ", ".join(str(index) for index in positions.get(mention.id, ()))
        tail = f"  (tokens {places})" if places else ""
        yield f"{mention.id}  {mention.phrase}{tail}"
    for relation in scene.relations:
        yield f"{relation.id}  {scene.sentence(relation)}{BASES[relation.basis]}"
    for claim in scene.disputed:
        yield f"Disputed: {dispute_in_words(claim, scene)}"
    yield from _warnings(scene)


def run_answer(run: OpenRun) -> Answer:
    """Tell of a picture that was drawn or only judged."""
    answer: dict[str, Any] = {"prompt": run.scene.prompt.text}
    if run.request is not None:
        answer |= {
            "model": run.request.model.id,
            "seed": run.request.sampling.seed,
            "guidance": run.request.sampling.guidance.method_id,
            "candidates": [asdict(score) for score in run.candidates],
            "device": run.device,
            **asdict(run.setup),
            "seconds": run.seconds,
            "picture": None if run.path is None else str(run.path.resolve()),
        }
    if run.evaluation is not None:
        attention = attention_at_the_end(run)
        answer |= evaluation_answer(run.evaluation, run.scene, attention=attention)
    return answer | {"notes": [note.message for note in run.scene.notes]}


def run_lines(run: OpenRun) -> Iterator[str]:
    """Say what came of a picture that was drawn or only judged."""
    attention = attention_at_the_end(run)
    for verdict in run.evaluation.verdicts if run.evaluation else ():
        relation = relation_of(verdict, run.scene)
        yield f"{verdict.outcome.value}: {run.scene.sentence(relation)}"
        yield f"  {explain(verdict, run.scene, attention.get(verdict.relation_id))}"
        if verdict.measurement is not None:
            yield f"  PSE {verdict.measurement.pse:.2f}, confidence {verdict.confidence:.2f}"
    if run.evaluation is not None and not run.evaluation.verdicts:
        yield "There is no relation to judge."
    if (asked := run.request) is not None:
        model_id, guidance = asked.model.id, asked.sampling.guidance
        yield asked_line(
            model_id,
            asked.sampling.seed,
            asked.sampling.steps,
            guidance.method_id,
            guidance.strength,
        )
    if run.path is not None and run.seconds is not None:
        yield f"Drawn in {run.seconds:.1f} s on {run.device}, stored in {run.path}"
    for place, score in enumerate(run.candidates, 1):
        yield (
            f"{place}. seed {score.seed}: PSE {score.pse:.2f}, "
            f"the checker accepts {score.second:.0%} of the relations"
        )
    yield from _warnings(run.scene)


def asked_line(model_id: str, seed: int, steps: int, method_id: str, strength: float) -> str:
    """Say what was asked of a picture beside its prompt."""
    held = f"{method_id}, step size {strength:g}" if strength else UNGUIDED
    noun = "step" if steps == 1 else "steps"
    return f"{model_id}, seed {seed}, {steps} {noun}, guidance {held}"


def _relation_answer(relation: Relation, scene: SceneGraph) -> Answer:
    objects = [scene.mention(end).head for end in relation.ends[1:]]
    return {
        "id": relation.id,
        "relation": relation.type.id,
        "subject": scene.mention(relation.subject).head,
        "object": objects if relation.second_object else objects[0],
        "mentions": relation.ends,
        "span": _ends(relation.span),
        "basis": relation.basis.value,
        "source": scene.source_of(relation),
    }


def _advice_answers(scene: SceneGraph, kind: AdviceKind) -> list[Answer]:
    return [
        {
            "message": advice.message,
            "relations": advice.relation_ids,
            "spans": [_ends(span) for span in advice.spans],
            "fix": advice.fix,
            "leaves_out": advice.leaves_out,
        }
        for advice in advice_on(scene)
        if advice.kind is kind
    ]


def _warnings(scene: SceneGraph) -> Iterator[str]:
    for advice in advice_on(scene):
        yield f"{advice.kind.value.capitalize()}: {advice.message}"
        yield f"  Fix: {advice.fix}."
    yield from dict.fromkeys(f"Note: {note.message}" for note in scene.notes)


def _ends(span: TextSpan | None) -> tuple[int, int] | None:
    return None if span is None else (span.start, span.stop)
