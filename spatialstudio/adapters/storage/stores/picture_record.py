"""What a picture file of ours tells of its making: ``parameters`` for others, a record for us.

Version 2 of the record, a JSON object:

    version, app    2; of Spatial Studio
    request         all that determines the picture, whole
    relations       sentence, type, and who read it: an extractor's id, or "hand"
    pos             for each relation its first, last and best PoS while drawing
    verdicts        for each judged relation its outcome, reason, confidence, PSE
    environment     versions, device, how the model computed, hashes of its weights and of our code
    picture         height and width
    hashes          sha256 of "prompt", "request", and of the run's parts where they lie beside:
                    "picture" (pixels), "trace" (file), "evaluation" (empty: not judged),
                    "repetition" (empty: not compared with the run that it repeats)

Version 1 had no hashes, and told less of the environment. A change of how anything is told here
or in ``parameters`` takes a new version: ``compare_told`` holds records of this one to it.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from spatialstudio.adapters.storage.metadata.dialects import a1111
from spatialstudio.adapters.storage.metadata.picture_texts import (
    OWN_RECORD,
    PARAMETERS,
    XMP,
)
from spatialstudio.adapters.storage.metadata.provenance import CREATOR, says_generated
from spatialstudio.adapters.storage.stores.json_codec import (
    Json,
    decode,
    encode,
)
from spatialstudio.adapters.storage.stores.json_text import MAX_RECORD_BYTES, hash_of_json
from spatialstudio.adapters.storage.stores.sidecar import last_pos
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GenerationRequest
from spatialstudio.domain.picture_settings import EmbeddedTexts
from spatialstudio.domain.record import RunRecord
from spatialstudio.domain.relation import Relation, RelationId
from spatialstudio.domain.safe_json import parse_limited
from spatialstudio.domain.verdict import Evaluation, Verdict

VERSION = 2
SHORT_HASH = 10
"""So many letters of a model's hash do others write."""


def texts_of(
    record: RunRecord,
    evaluation: Evaluation | None,
    size: tuple[int, int],
    *,
    is_marked: bool = True,
    parts: Mapping[str, str] | None = None,
) -> EmbeddedTexts:
    """Return what is written into the picture of a run.

    Args:
        record: The run.
        evaluation: None when the picture was not judged.
        size: Height and width of the picture, pixels.
        is_marked: Whether it says that a model drew it.
        parts: Hashes of the run's parts, where they lie beside.
    """
    verdicts = recorded_verdicts(evaluation)
    return record_texts(record, verdicts, size, is_marked=is_marked, parts=parts)


def record_texts(
    record: RunRecord,
    verdicts: Mapping[str, Json],
    size: tuple[int, int],
    *,
    is_marked: bool,
    parts: Mapping[str, str] | None = None,
) -> EmbeddedTexts:
    """Return the same for verdicts as a record tells them; see ``recorded_verdicts``."""
    request = encode(record.request, {})
    record_json: Json = {
        "version": VERSION,
        "app": record.environment.app,
        "request": request,
        "relations": [_relation_json(record, r) for r in record.request.scene.relations],
        "pos": {r.id: _pos_json(record, r.id) for r in record.request.scene.relations},
        "verdicts": dict(verdicts),
        "environment": encode(record.environment, {}),
        "picture": {"height": size[0], "width": size[1]},
        "hashes": {**_hashes_of_request(record.request, request), **(parts or {})},
    }
    return EmbeddedTexts(
        parameters=_parameters(record, verdicts, size),
        record=json.dumps(record_json, separators=(",", ":")),
        creator=f"{CREATOR} {record.environment.app}",
        is_marked_as_generated=is_marked,
    )


def recorded_verdicts(evaluation: Evaluation | None) -> Mapping[str, Json]:
    """Return what a record tells of verdicts, by relation."""
    verdicts = evaluation.verdicts if evaluation else ()
    return {verdict.relation_id: _verdict_json(verdict) for verdict in verdicts}


def with_hash(texts: Mapping[str, str], part: str, digest: str) -> EmbeddedTexts:
    """Return what a PNG file of ours tells, with another hash of one part and all else as it was.

    Raises:
        StoreError: It tells nothing, or its record is damaged or of a newer version.
    """
    record_json = _parsed(texts.get(OWN_RECORD, ""))
    hashes = record_json.get("hashes")
    record_json["hashes"] = (hashes if isinstance(hashes, dict) else {}) | {part: digest}
    return EmbeddedTexts(
        parameters=texts.get(PARAMETERS, ""),
        record=json.dumps(record_json, separators=(",", ":")),
        creator=f"{CREATOR} {record_json.get('app')}",
        is_marked_as_generated=says_generated(texts.get(XMP, "")),
    )


@frozen
class PictureRecord:
    """What the record in a picture says of the run, for comparison.

    Attributes:
        request: What was asked.
        verdicts: See ``recorded_verdicts``.
        hashes: By part; empty in records of version 1.
        plain: The whole record.
    """

    request: GenerationRequest
    verdicts: Json
    hashes: Mapping[str, Json]
    plain: Mapping[str, Json]


def read_picture_record(record: str) -> PictureRecord:
    """Read the record of a picture.

    Raises:
        StoreError: The record is damaged, of a newer version, or its request has been changed.
    """
    record_json = _parsed(record)
    request = decode(GenerationRequest, record_json.get("request"), {})
    hashes = record_json.get("hashes", {})
    if not isinstance(hashes, dict):
        raise _damaged()
    for part, digest in _hashes_of_request(request, record_json["request"]).items():
        if hashes.get(part, digest) != digest:
            raise StoreError(f"The {part} in the picture's record has been changed.")
    return PictureRecord(
        request=request, verdicts=record_json.get("verdicts"), hashes=hashes, plain=record_json
    )


def _parsed(record: str) -> dict[str, Json]:
    try:
        record_json: Json = parse_limited(record.encode("utf-8", "surrogatepass"), MAX_RECORD_BYTES)
    except ValueError as error:
        raise _damaged() from error
    version = record_json.get("version") if isinstance(record_json, dict) else None
    if not isinstance(record_json, dict) or type(version) is not int:
        raise _damaged()
    if version > VERSION:
        raise StoreError(
            "The picture was written by a newer Spatial Studio.", hint="Update to open it."
        )
    return record_json


def _damaged() -> StoreError:
    return StoreError("The picture's record is damaged.", hint="Take its prompt.")


def _hashes_of_request(request: GenerationRequest, plain: Json) -> dict[str, str]:
    prompt = request.scene.prompt.text.encode("utf-8", "surrogatepass")
    return {"prompt": sha256(prompt).hexdigest(), "request": hash_of_json(plain)}


def _relation_json(record: RunRecord, relation: Relation) -> Json:
    scene = record.request.scene
    return {
        "id": relation.id,
        "sentence": scene.plain_sentence(relation),
        "type": relation.type.id,
        "origin": scene.source_of(relation),
    }


def _pos_json(record: RunRecord, relation_id: RelationId) -> Json:
    """Tell a relation's PoS over the steps, each before its updates."""
    course = [float(step.pos[relation_id]) for step in record.trace if relation_id in step.pos]
    if not course:
        return None
    return encode({"first": course[0], "last": course[-1], "best": max(course)}, {})


def _verdict_json(verdict: Verdict) -> Json:
    measured = verdict.measurement
    record_json = {
        "outcome": verdict.outcome,
        "reason": verdict.reason,
        "confidence": verdict.confidence,
        "pse": measured.pse if measured else None,
    }
    return encode(record_json, {})


def _parameters(record: RunRecord, verdicts: Mapping[str, Json], size: tuple[int, int]) -> str:
    request = record.request
    prompt, weights = request.scene.prompt, record.environment.setup.weights_sha256
    return a1111.write(
        prompt.text,
        prompt.negative,
        {
            "Steps": request.sampling.steps,
            "Sampler": request.sampling.scheduler_id or "default",
            "CFG scale": f"{request.guidance_scale:g}",
            "Seed": request.sampling.seed,
            "Model": request.model.id,
            **({"Model hash": weights[:SHORT_HASH]} if weights else {}),
            "Version": f"{CREATOR} {record.environment.app}",
            "Spatial": json.dumps(_brief(record, verdicts), ensure_ascii=False),
        },
        size=(size[1], size[0]),
    )


def _brief(record: RunRecord, verdicts: Mapping[str, Json]) -> Mapping[str, Any]:
    """Tell of the relations what fits into one line that others pass on."""
    scene, pos = record.request.scene, last_pos(record)
    outcomes = {
        key: record_json.get("outcome")
        for key, record_json in verdicts.items()
        if isinstance(record_json, dict)
    }
    return {
        "guidance": record.request.sampling.guidance.method_id,
        "strength": record.request.sampling.guidance.strength,
        "relations": [
            {
                "claim": scene.plain_sentence(relation),
                "pos": round(pos[relation.id], 3) if relation.id in pos else None,
                "verdict": outcomes.get(relation.id),
            }
            for relation in scene.relations
        ],
    }
