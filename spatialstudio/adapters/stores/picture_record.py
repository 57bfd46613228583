"""What a picture file of ours tells of its making: ``parameters`` for others, a record for us.

Version 1 of the record, a JSON object:

    version, app    1; of Spatial Studio
    request         all that determines the picture, whole
    relations       sentence, type, and who read it: an extractor's id, or "hand"
    pos             for each relation its first, last and best PoS while drawing
    verdicts        for each judged relation its outcome, reason, confidence, PSE
    environment     versions and device
    picture         height and width
"""

import json
from collections.abc import Mapping
from typing import Any

from spatialstudio.adapters.metadata import a1111
from spatialstudio.adapters.stores.json_codec import Json, decode, encode
from spatialstudio.adapters.stores.run_summary import last_pos
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.generation import GenerationRequest
from spatialstudio.domain.picture_settings import EmbeddedTexts
from spatialstudio.domain.record import RunRecord
from spatialstudio.domain.relation import Relation, RelationId
from spatialstudio.domain.verdict import Evaluation, Verdict

VERSION = 1
CREATOR = "Spatial Studio"
BY_HAND = "hand"


def texts_of(
    record: RunRecord,
    evaluation: Evaluation | None,
    size: tuple[int, int],
    *,
    is_marked: bool = True,
) -> EmbeddedTexts:
    """Return what is written into the picture of a run.

    Args:
        record: The run.
        evaluation: None when the picture was not judged.
        size: Height and width of the picture, pixels.
        is_marked: Whether it says that a model drew it.
    """
    told: Json = {
        "version": VERSION,
        "app": record.environment.app,
        "request": encode(record.request, {}),
        "relations": [_told_relation(record, r) for r in record.request.scene.relations],
        "pos": {r.id: _told_pos(record, r.id) for r in record.request.scene.relations},
        "verdicts": {v.relation_id: _told_verdict(v) for v in _verdicts(evaluation)},
        "environment": encode(record.environment, {}),
        "picture": {"height": size[0], "width": size[1]},
    }
    return EmbeddedTexts(
        parameters=_parameters(record, evaluation, size),
        record=json.dumps(told, separators=(",", ":")),
        creator=f"{CREATOR} {record.environment.app}",
        is_marked_as_generated=is_marked,
    )


def request_in(record: str) -> GenerationRequest:
    """Return the request that a picture's record holds.

    Raises:
        StoreError: The record is damaged, or of a newer version.
    """
    try:
        told = json.loads(record)
    except (ValueError, RecursionError) as error:
        raise StoreError("The picture's record is damaged.", hint="Take its prompt.") from error
    if not isinstance(told, dict) or told.get("version") != VERSION:
        raise StoreError(
            "The picture was written by a newer Spatial Studio.", hint="Update to open it."
        )
    return decode(GenerationRequest, told.get("request"), {})


def _verdicts(evaluation: Evaluation | None) -> tuple[Verdict, ...]:
    return evaluation.verdicts if evaluation else ()


def _told_relation(record: RunRecord, relation: Relation) -> Json:
    scene = record.request.scene
    origin = BY_HAND if relation.span is None else scene.extractor_id
    return {
        "id": relation.id,
        "sentence": scene.sentence(relation),
        "type": relation.type.id,
        "origin": origin,
    }


def _told_pos(record: RunRecord, relation_id: RelationId) -> Json:
    course = [float(step.pos[relation_id]) for step in record.trace if relation_id in step.pos]
    if not course:
        return None
    return encode({"first": course[0], "last": course[-1], "best": max(course)}, {})


def _told_verdict(verdict: Verdict) -> Json:
    measured = verdict.measurement
    told = {
        "outcome": verdict.outcome,
        "reason": verdict.reason,
        "confidence": verdict.confidence,
        "pse": measured.pse if measured else None,
    }
    return encode(told, {})


def _parameters(record: RunRecord, evaluation: Evaluation | None, size: tuple[int, int]) -> str:
    request = record.request
    prompt = request.scene.prompt
    return a1111.write(
        prompt.text,
        prompt.negative,
        {
            "Steps": request.steps,
            "Sampler": request.scheduler_id or "default",
            "CFG scale": f"{request.guidance_scale:g}",
            "Seed": request.seed,
            "Model": request.model.id,
            **({"Model hash": request.model.sha256[:10]} if request.model.sha256 else {}),
            "Version": f"{CREATOR} {record.environment.app}",
            "Spatial": json.dumps(_brief(record, evaluation), ensure_ascii=False),
        },
        size=(size[1], size[0]),
    )


def _brief(record: RunRecord, evaluation: Evaluation | None) -> Mapping[str, Any]:
    """Tell of the relations what fits into one line that others pass on."""
    scene, pos = record.request.scene, last_pos(record)
    outcomes = {verdict.relation_id: verdict.outcome.value for verdict in _verdicts(evaluation)}
    return {
        "guidance": record.request.guidance.method_id,
        "strength": record.request.guidance.strength,
        "relations": [
            {
                "claim": scene.sentence(relation),
                "pos": round(pos[relation.id], 3) if relation.id in pos else None,
                "verdict": outcomes.get(relation.id),
            }
            for relation in scene.relations
        ],
    }
