"""Results of runs for other programs: CSV, JSON lines, COCO masks."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from spatialstudio.adapters.exports.figure_parts import warning_on
from spatialstudio.domain.arrays import BoolMask, mask_bounds
from spatialstudio.domain.attention import Moment
from spatialstudio.domain.export import ExportedRun
from spatialstudio.domain.foreign_text import table_text
from spatialstudio.domain.generation import StepEvent
from spatialstudio.domain.scene import Relation, RelationId
from spatialstudio.domain.verdict import MentionVerdict, Verdict
from spatialstudio.science.pos.pse import pse_of

COLUMNS = (
    *("run", "created", "prompt", "model", "seed", "steps", "method", "strength"),
    *("relation", "subject", "object"),
    *("pos_first_before_updates", "pos_first_after_updates"),
    *("pos_last_before_updates", "pos_last_after_updates", "outcome", "reason"),
    *("confidence", "pse", "quality", "delta", "margin", "overlap", "not_checked"),
    *("stars", "is_rejected", "tags", "note", "picture", "source", "judge_set", "warning"),
)
TAG_SEPARATOR = "; "


def csv_bytes(runs: Iterable[ExportedRun]) -> bytes:
    """Return a table with one line per relation, count and colour of each run.

    The scores of the whole picture follow in a column per metric: "metric_visor".
    """
    rows = list(_rows(runs))
    columns = tuple(dict.fromkeys((*COLUMNS, *(name for row in rows for name in row))))
    cells = ([_in_a_cell(row.get(name)) for name in columns] for row in rows)
    return table_text([columns, *cells]).encode("utf-8", "replace")


def jsonl_bytes(runs: Iterable[ExportedRun]) -> bytes:
    """Return the same lines as JSON objects."""
    lines = [json.dumps(row, ensure_ascii=False, default=float) for row in _rows(runs)]
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")


def coco_bytes(runs: Iterable[ExportedRun]) -> bytes:
    """Return masks and boxes in COCO format, masks as compressed run lengths."""
    images: list[Any] = []
    notes: list[Any] = []
    names: dict[str, int] = {}
    for number, run in enumerate(runs, 1):
        height, width, _ = run.image.shape
        images.append({"id": number, "file_name": run.path.name, "height": height, "width": width})
        heads = {mention.id: mention.head for mention in run.record.request.scene.mentions}
        evaluation = run.record.evaluation
        for mask in evaluation.perception.masks if evaluation else ():
            category = names.setdefault(heads[mask.mention_id], len(names) + 1)
            notes.append(
                {
                    "id": len(notes) + 1,
                    "image_id": number,
                    "category_id": category,
                    "score": float(mask.score),
                    "iscrowd": 0,
                    "area": int(mask.pixels.sum()),
                    "bbox": _extent(mask.pixels),
                    "segmentation": run_lengths(mask.pixels),
                }
            )
    categories = [{"id": number, "name": name} for name, number in names.items()]
    whole = {"images": images, "annotations": notes, "categories": categories}
    return json.dumps(whole).encode("ascii")


def run_lengths(mask: BoolMask) -> Mapping[str, Any]:
    """Encode a mask as in COCO: column-major run lengths, packed into letters.

    Args:
        mask: (H, W).

    Returns:
        "size", height and width, and "counts", compatible with pycocotools.
    """
    flat = np.concatenate([[False], mask.ravel(order="F"), [False]])
    edges = np.flatnonzero(flat[1:] != flat[:-1])
    bounds = [0, *edges.tolist()]
    if bounds[-1] != mask.size:
        bounds.append(mask.size)
    lengths = np.diff(bounds).tolist()
    return {"size": list(mask.shape), "counts": "".join(_letters(lengths))}


def _rows(runs: Iterable[ExportedRun]) -> Iterator[Mapping[str, Any]]:
    for run in runs:
        verdicts = {verdict.relation_id: verdict for verdict in run.record.verdicts}
        for relation in run.record.request.scene.relations:
            yield {**_run_columns(run), **_relation_columns(run, relation, verdicts)}
        for judged in run.mention_verdicts:
            yield {**dict.fromkeys(COLUMNS), **_run_columns(run), **_mention_columns(run, judged)}
        if not (run.record.request.scene.relations or run.mention_verdicts):
            yield {**dict.fromkeys(COLUMNS), **_run_columns(run)}


def _run_columns(run: ExportedRun) -> Mapping[str, Any]:
    record = run.record
    request, used = record.request, record.evaluation.judge_set if record.evaluation else None
    generated = {
        "model": request.model.id,
        "seed": request.sampling.seed,
        "steps": request.sampling.steps,
        "method": request.sampling.guidance.method_id,
        "strength": request.sampling.guidance.strength,
    }
    return {
        "run": record.id,
        "created": record.created.isoformat(),
        "prompt": request.scene.prompt.text,
        **(dict.fromkeys(generated) if record.origin else generated),
        "stars": run.marks.stars,
        "is_rejected": run.marks.is_rejected,
        "tags": run.marks.tags,
        "note": run.marks.note,
        "picture": run.path.name,
        "source": record.origin.name if record.origin else None,
        "judge_set": used.id if used else None,
        "warning": warning_on(run) or None,
        **{f"metric_{name}": score for name, score in run.scores().items()},
    }


def _relation_columns(
    run: ExportedRun, relation: Relation, verdicts: Mapping[RelationId, Verdict]
) -> Mapping[str, Any]:
    scene = run.record.request.scene
    subject, *objects = (scene.mention(end).head for end in relation.ends)
    watched = [event for event in run.steps if relation.id in event.pos]
    first, last = watched[:1], watched[-1:]
    verdict, evaluation = verdicts.get(relation.id), run.record.evaluation
    measured = verdict.measurement if verdict else None
    return {
        "relation": relation.type.id,
        "subject": subject,
        "object": " and ".join(objects),
        "pos_first_before_updates": _pos_read(first, Moment.BEFORE, relation.id),
        "pos_first_after_updates": _pos_read(first, Moment.AFTER, relation.id),
        "pos_last_before_updates": _pos_read(last, Moment.BEFORE, relation.id),
        "pos_last_after_updates": _pos_read(last, Moment.AFTER, relation.id),
        "outcome": verdict.outcome.value if verdict else None,
        "reason": verdict.reason.value if verdict and verdict.reason else None,
        "confidence": verdict.confidence if verdict else None,
        "pse": pse_of(relation, evaluation) if evaluation and verdict else None,
        "quality": evaluation.quality if evaluation else None,
        "delta": measured.delta if measured else None,
        "margin": measured.margin if measured else None,
        "overlap": measured.overlap if measured else None,
        "not_checked": _not_checked(run, relation.id) if verdict else None,
    }


def _mention_columns(run: ExportedRun, verdict: MentionVerdict) -> Mapping[str, Any]:
    return {
        "relation": verdict.kind.value,
        "subject": run.record.request.scene.mention(verdict.mention_id).head,
        "object": verdict.words,
        "outcome": verdict.outcome.value,
        "reason": verdict.doubt.value if verdict.doubt else None,
        "confidence": verdict.confidence,
    }


def _pos_read(events: Sequence[StepEvent], moment: Moment, relation_id: RelationId) -> float | None:
    values = [event.pos_at(moment).get(relation_id) for event in events]
    return next((float(value) for value in values if value is not None), None)


def _not_checked(run: ExportedRun, relation_id: RelationId) -> tuple[str, ...]:
    """List what the prompt requires of a relation's things but no verdict tests: "count (two)"."""
    return tuple(
        f"{each.kind.value} ({each.words})"
        for evidence in run.evidence
        if evidence.relation_id == relation_id
        for each in evidence.not_checked
    )


def _in_a_cell(value: object) -> object:
    return TAG_SEPARATOR.join(value) if isinstance(value, tuple) else value


def _extent(mask: BoolMask) -> list[int]:
    if not mask.any():
        return [0, 0, 0, 0]
    top, left, bottom, right = mask_bounds(mask)
    return [left, top, right - left, bottom - top]


def _letters(lengths: list[int]) -> Iterator[str]:
    """Pack numbers into letters, five bits each, as differences from the one before last."""
    for place, length in enumerate(lengths):
        rest = length - lengths[place - 2] if place > 2 else length  # noqa: PLR2004 - COCO's rule
        has_more = True
        while has_more:
            bits = rest & _FIVE_BITS
            rest >>= 5
            has_more = rest != (-1 if bits & _SIGN_BIT else 0)
            yield chr((bits | _MORE_BIT if has_more else bits) + _FIRST_LETTER)


_FIVE_BITS, _SIGN_BIT, _MORE_BIT, _FIRST_LETTER = 0x1F, 0x10, 0x20, 48
