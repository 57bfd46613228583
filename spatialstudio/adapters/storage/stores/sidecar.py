"""The JSON sidecar of a picture: its evaluation and the user's marks.

    format, version   "spatialstudio-run", 2
    summary           fields that the run is listed and searched by
    marks             stars, rejection, tags and note of the user
    repetition        comparison with the run it repeats; null if not compared
    evaluation        verdicts, adjusted ones included, and perception; null if not judged
    arrays            masks and depth of the evaluation: an .npz file in base64

It can be deleted; picture and trace do not depend on it.
"""

import base64
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import TypeVar

from spatialstudio.adapters.storage.stores.json_codec import (
    MAX_RECORD_BYTES,
    AnyArray,
    Json,
    decode,
    encode,
    hash_of_json,
    json_bytes,
    pack_arrays,
    parse_json,
    unpack_arrays,
)
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.library import (
    ClaimSummary,
    Marks,
    Reproduction,
    RunRecord,
    RunSummary,
)
from spatialstudio.domain.requirements import JUDGED_KINDS
from spatialstudio.domain.safe_files import MEBIBYTE
from spatialstudio.domain.scene import Relation, RelationId
from spatialstudio.domain.verdict import (
    AbstentionReason,
    Evaluation,
    MentionVerdict,
    Verdict,
)
from spatialstudio.science.guidance.methods import is_left_unguided

VerdictT = TypeVar("VerdictT", Verdict, MentionVerdict)


def summarise(
    record: RunRecord, evaluation: Evaluation | None, size: tuple[int, int]
) -> RunSummary:
    """Return the summary of a run.

    Args:
        record: The run.
        evaluation: None if its picture was not judged.
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
        seed=request.sampling.seed,
        steps=request.sampling.steps,
        method_id=request.sampling.guidance.method_id,
        strength=request.sampling.guidance.strength,
        height=size[0],
        width=size[1],
        device=record.environment.device,
        parent_run_id=request.parent_run_id,
        objects=tuple(mention.head for mention in request.scene.mentions),
        claims=(
            *(_claim(record, each, pos.get(each.id)) for each in request.scene.relations),
            *(_mention_claim(record, each) for each in _mention_verdicts_of(evaluation)),
        ),
        sweep=request.sweep,
        setup=record.environment.setup,
        source=record.origin.name if record.origin else "",
        is_left_unguided=is_left_unguided(request, [step.guiding_passes for step in record.trace]),
    )
    verdicts = evaluation.verdicts if evaluation else ()
    return with_verdicts(unjudged, verdicts, _mention_verdicts_of(evaluation))


def with_verdicts(
    summary: RunSummary,
    verdicts: Iterable[Verdict],
    mention_verdicts: Iterable[MentionVerdict] = (),
) -> RunSummary:
    """Return a summary whose relations carry the given verdicts and no others.

    A count or colour without a verdict is left out.
    """
    by_relation = {verdict.relation_id: verdict for verdict in verdicts}
    by_mention = {RelationId(verdict.id): verdict for verdict in mention_verdicts}
    claims = [
        _judged(each, by_relation.get(each.relation_id))
        for each in summary.claims
        if each.type_id not in JUDGED_KINDS
    ]
    for each in summary.claims:
        if each.type_id in JUDGED_KINDS and (verdict := by_mention.get(each.relation_id)):
            claims.append(replace(each, outcome=verdict.outcome, confidence=verdict.confidence))
    return replace(summary, claims=tuple(claims))


def _mention_verdicts_of(evaluation: Evaluation | None) -> tuple[MentionVerdict, ...]:
    return evaluation.mention_verdicts if evaluation else ()


def _mention_claim(record: RunRecord, verdict: MentionVerdict) -> ClaimSummary:
    return ClaimSummary(
        relation_id=RelationId(verdict.id),
        type_id=verdict.kind.value,
        subject=record.request.scene.mention(verdict.mention_id).head,
        object=verdict.words,
    )


def last_pos(record: RunRecord) -> Mapping[RelationId, float]:
    """Return every relation's PoS at the last step with a value, before its updates."""
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


FORMAT = "spatialstudio-run"
VERSION = 2

EVALUATION = "evaluation"
REPETITION = "repetition"
"""Parts whose hashes are in the picture's record."""

MAX_SIDECAR_BYTES = 48 * MEBIBYTE
"""Masks and depth of a four-megapixel picture take about twenty."""

_HINT = "Restore it from a backup, or delete it and judge the picture again."


@frozen(eq=False)
class Sidecar:
    """The content of a sidecar.

    Attributes:
        summary: Fields that the run is listed by.
        marks: The user's marks.
        repetition: Comparison with the run that it repeats; None if not compared.
        evaluation: None if the picture was not judged.
        detector_ids: Detectors of the evaluation; set in listings too.
        names_detector: Whether the evaluation itself names its detector, as newer ones do.
        is_unsuited: Whether sticker models judged an image of another origin; set in listings.
    """

    summary: RunSummary
    marks: Marks = field(default_factory=Marks)
    repetition: Reproduction | None = None
    evaluation: Evaluation | None = None
    detector_ids: frozenset[str] = frozenset()
    names_detector: bool = False
    is_unsuited: bool = False


def write_sidecar(sidecar: Sidecar) -> bytes:
    """Encode a sidecar.

    Raises:
        StoreError: Masks and depth are so large that the file could not be read again.
    """
    arrays: dict[str, AnyArray] = {}
    evaluation: dict[str, Json] = {
        "evaluation": encode(sidecar.evaluation, arrays),
        "arrays": base64.b64encode(pack_arrays(arrays)).decode("ascii") if arrays else "",
    }
    content = json_bytes(_plain_listing(sidecar) | evaluation)
    if len(content) > MAX_SIDECAR_BYTES:
        raise StoreError(
            "The masks and depth of this picture are too large to store.",
            hint="Judge a smaller copy of the picture.",
        )
    return content


def with_listing(content: bytes, name: str, listing: Sidecar) -> bytes:
    """Replace everything but the evaluation in a sidecar, which stays byte-identical.

    Args:
        content: Content of the file.
        name: File name for messages.
        listing: The new values; its evaluation is ignored.

    Raises:
        StoreError: It is damaged, or from a newer version.
    """
    try:
        return json_bytes(_checked(content, name) | _plain_listing(listing))
    except ValueError as error:  # NOTE: Python parses 1e999 as infinity, which JSON cannot encode
        raise StoreError(f'The file "{name}" is damaged.', hint=_HINT) from error


def evaluation_hash(content: bytes, name: str) -> str:
    """Return the hash of the evaluation's content; empty if there is none.

    Raises:
        StoreError: It is damaged, or from a newer version.
    """
    plain = _checked(content, name)
    found = plain.get("evaluation")
    return "" if found is None else hash_of_json([found, plain.get("arrays")])


def repetition_hash(repetition: Reproduction | None) -> str:
    """Return the hash of a comparison's content; empty if there is none."""
    return "" if repetition is None else hash_of_json(encode(repetition, {}))


def part_hashes(content: bytes, name: str) -> dict[str, str]:
    """Return the hashes of the file's parts for the picture's record.

    Raises:
        StoreError: It is damaged, or from a newer version.
    """
    compared = repetition_hash(read_listing(content, name).repetition)
    return {EVALUATION: evaluation_hash(content, name), REPETITION: compared}


def read_sidecar(content: bytes, name: str) -> Sidecar:
    """Decode a sidecar.

    Args:
        content: Content of the file.
        name: File name for messages.

    Raises:
        StoreError: It is damaged, or from a newer version.
    """
    plain = _checked(content, name)
    found = plain.get("evaluation")
    evaluation = None if found is None else decode(Evaluation, found, _read_arrays(plain, name))
    return replace(_listing(plain), evaluation=evaluation)


def read_listing(content: bytes, name: str) -> Sidecar:
    """Decode a sidecar without its evaluation, which is much faster.

    The summary is not verified, since that requires the trace; only its verdicts are taken from the
    evaluation, and dropped if that is damaged.

    Raises:
        StoreError: It is damaged, or from a newer version.
    """
    plain = _checked(content, name)
    listing = _listing(plain)
    summary = with_verdicts(
        listing.summary,
        _verdicts(plain, "verdicts", Verdict),
        _verdicts(plain, "mention_verdicts", MentionVerdict),
    )
    return replace(
        listing,
        summary=summary,
        detector_ids=_detectors(plain),
        names_detector=bool(_perception(plain).get("detector_id")),
        is_unsuited=_is_unsuited(plain),
    )


def _plain_listing(sidecar: Sidecar) -> dict[str, Json]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "summary": encode(sidecar.summary, {}),
        "marks": encode(sidecar.marks, {}),
        "repetition": encode(sidecar.repetition, {}),
    }


def _listing(plain: dict[str, Json]) -> Sidecar:
    compared = plain.get("repetition")
    return Sidecar(
        summary=decode(RunSummary, plain.get("summary"), {}),
        marks=decode(Marks, plain.get("marks"), {}),
        repetition=None if compared is None else decode(Reproduction, compared, {}),
    )


def _verdicts(plain: dict[str, Json], part: str, kind: type[VerdictT]) -> tuple[VerdictT, ...]:
    evaluation = plain.get("evaluation")
    found = evaluation.get(part) if isinstance(evaluation, dict) else None
    try:
        return tuple(decode(kind, each, {}) for each in (found if isinstance(found, list) else ()))
    except (StoreError, TypeError):
        return ()


def _detectors(plain: dict[str, Json]) -> frozenset[str]:
    """Return the detector ids; older records have them only in the detections."""
    seen = _perception(plain)
    found = seen.get("detections")
    each_by = (one.get("detector_id") for one in _dicts(found))
    named = seen.get("detector_id")
    return frozenset(name for name in ([named] if named else each_by) if isinstance(name, str))


def _is_unsuited(plain: dict[str, Json]) -> bool:
    evaluation = plain.get("evaluation")
    used = evaluation.get("judge_set") if isinstance(evaluation, dict) else None
    return isinstance(used, dict) and used.get("is_unsuited") is True


def _perception(plain: dict[str, Json]) -> dict[str, Json]:
    """Return the perception; empty if the picture was not judged."""
    evaluation = plain.get("evaluation")
    seen = evaluation.get("perception") if isinstance(evaluation, dict) else None
    return seen if isinstance(seen, dict) else {}


def _dicts(found: Json) -> Iterator[dict[str, Json]]:
    return (one for one in (found if isinstance(found, list) else ()) if isinstance(one, dict))


def _checked(content: bytes, name: str) -> dict[str, Json]:
    plain = parse_json(content, name, MAX_SIDECAR_BYTES)
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise StoreError(f'The file "{name}" does not describe a run.', hint=_HINT)
    arrays = plain.get("arrays")
    packed_bytes = len(arrays) if isinstance(arrays, str) and arrays.isascii() else 0
    if len(content) - packed_bytes > MAX_RECORD_BYTES:
        raise StoreError(f'The file "{name}" is too large to open safely.', hint=_HINT)
    version = plain.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise StoreError(
            f'The file "{name}" was written by a newer Spatial Studio.',
            hint="Update Spatial Studio to open it.",
        )
    return plain


def _read_arrays(plain: dict[str, Json], name: str) -> dict[str, AnyArray]:
    packed = plain.get("arrays")
    if not packed:
        return {}
    try:
        return unpack_arrays(base64.b64decode(str(packed), validate=True), name)
    except ValueError as error:  # NOTE: non-ASCII letters do not raise binascii.Error
        raise StoreError(f'The arrays in "{name}" are damaged.', hint=_HINT) from error
