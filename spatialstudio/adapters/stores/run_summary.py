"""Takes out of a record what its run is listed and found by."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from spatialstudio.domain.library import ClaimSummary, RunSummary
from spatialstudio.domain.record import RunRecord
from spatialstudio.domain.relation import Relation, RelationId
from spatialstudio.domain.verdict import AbstentionReason, Evaluation, Verdict


def summarise(
    record: RunRecord, evaluation: Evaluation | None, size: tuple[int, int]
) -> RunSummary:
    """Return the summary of a run.

    Args:
        record: The run.
        evaluation: None when its picture was not judged.
        size: Height and width of the picture, pixels.
    """
    request = record.request
    pos = last_pos(record)
    unjudged = RunSummary(
        id=record.id,
        request_id=request.id,
        created=record.created,
        prompt=request.scene.prompt.text,
        model_id=request.model.id,
        seed=request.seed,
        steps=request.steps,
        method_id=request.guidance.method_id,
        strength=request.guidance.strength,
        height=size[0],
        width=size[1],
        device=record.environment.device,
        parent_run_id=request.parent_run_id,
        objects=tuple(mention.head for mention in request.scene.mentions),
        claims=tuple(
            _claim(record, relation, pos.get(relation.id)) for relation in request.scene.relations
        ),
        sweep=request.sweep,
        setup=record.environment.setup,
    )
    return with_verdicts(unjudged, evaluation.verdicts if evaluation else ())


def with_verdicts(summary: RunSummary, verdicts: Iterable[Verdict]) -> RunSummary:
    """Return a summary that says of every relation what these verdicts say, and nothing else."""
    by_relation = {verdict.relation_id: verdict for verdict in verdicts}
    claims = tuple(_judged(each, by_relation.get(each.relation_id)) for each in summary.claims)
    return replace(summary, claims=claims)


def last_pos(record: RunRecord) -> Mapping[RelationId, float]:
    """Return every relation's PoS at the last step that tells it."""
    last: dict[RelationId, float] = {}
    for step in record.trace:
        last |= {relation_id: float(pos) for relation_id, pos in step.pos.items()}
    return last


def _claim(record: RunRecord, relation: Relation, pos: float | None) -> ClaimSummary:
    subject, *objects = (record.request.scene.mention(end).head for end in relation.ends)
    return ClaimSummary(
        relation_id=relation.id,
        type_id=relation.type.id,
        subject=subject,
        object=" and ".join(objects),
        pos=pos,
    )


def _judged(claim: ClaimSummary, verdict: Verdict | None) -> ClaimSummary:
    measured = verdict.measurement if verdict else None
    is_missing = verdict is not None and verdict.reason is AbstentionReason.MISSING_OBJECT
    return replace(
        claim,
        outcome=verdict.outcome if verdict else None,
        pse=measured.pse if measured else 0.0 if is_missing else None,
        confidence=verdict.confidence if verdict else None,
    )
