"""Numbers of runs for other programs: CSV, JSON a line, COCO's masks, numpy arrays."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from spatialstudio.domain.arrays import BoolMask
from spatialstudio.domain.export import ExportedRun
from spatialstudio.domain.foreign_text import table_text
from spatialstudio.domain.relation import Relation, RelationId
from spatialstudio.domain.verdict import Verdict

COLUMNS = (
    *("run", "created", "prompt", "model", "seed", "steps", "method", "strength"),
    *("relation", "subject", "object", "pos_first", "pos_last", "outcome", "reason"),
    *("confidence", "pse", "delta", "margin", "overlap"),
    *("stars", "is_rejected", "tags", "note", "picture"),
)
TAG_SEPARATOR = "; "


def csv_bytes(runs: Iterable[ExportedRun]) -> bytes:
    """Return a table with a line for each relation of each run."""
    rows = ([_in_a_cell(row.get(name)) for name in COLUMNS] for row in _rows(runs))
    return table_text([COLUMNS, *rows]).encode("utf-8", "replace")


def jsonl_bytes(runs: Iterable[ExportedRun]) -> bytes:
    """Return the same lines as JSON objects."""
    lines = [json.dumps(row, ensure_ascii=False, default=float) for row in _rows(runs)]
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")


def coco_bytes(runs: Iterable[ExportedRun]) -> bytes:
    """Return masks and boxes in COCO's form, masks as compressed run lengths."""
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
    """Encode a mask as COCO does: lengths of runs down the columns, packed into letters.

    Args:
        mask: (H, W).

    Returns:
        "size", height and width, and "counts", as pycocotools reads and writes them.
    """
    flat = np.concatenate([[False], mask.ravel(order="F"), [False]])
    edges = np.flatnonzero(flat[1:] != flat[:-1])
    bounds = [0, *edges.tolist()]
    if bounds[-1] != mask.size:
        bounds.append(mask.size)
    lengths = np.diff(bounds).tolist()
    return {"size": list(mask.shape), "counts": "".join(_letters(lengths))}


def npz_arrays(run: ExportedRun) -> Mapping[str, Any]:
    """Collect a run's arrays by name: "map/dog" is (steps, h, w), "pos/r1" is (steps,)."""
    scene = run.record.request.scene
    arrays: dict[str, Any] = {"picture": run.image}
    captured = [event.attention for event in run.steps if event.attention]
    arrays["steps"] = np.array([event.step for event in run.steps])
    arrays["timesteps"] = np.array([event.timestep for event in run.steps])
    arrays["captured_steps"] = np.array([e.step for e in run.steps if e.attention])
    for mention in scene.mentions:
        maps = [shot.maps[mention.id] for shot in captured if mention.id in shot.maps]
        if maps and len(maps) == len(captured) and len({m.shape for m in maps}) == 1:
            arrays[f"map/{mention.id}"] = np.stack(maps)
    for relation in scene.relations:
        course = [event.pos.get(relation.id, np.nan) for event in run.steps]
        arrays[f"pos/{relation.id}"] = np.array(course, np.float64)
    evaluation = run.record.evaluation
    for number, mask in enumerate(evaluation.perception.masks if evaluation else ()):
        arrays[f"mask/{mask.mention_id}/{number}"] = mask.pixels
    return arrays


def _rows(runs: Iterable[ExportedRun]) -> Iterator[Mapping[str, Any]]:
    for run in runs:
        evaluation = run.record.evaluation
        verdicts = {v.relation_id: v for v in evaluation.verdicts} if evaluation else {}
        for relation in run.record.request.scene.relations:
            yield {**_run_columns(run), **_relation_columns(run, relation, verdicts)}
        if not run.record.request.scene.relations:
            yield {**dict.fromkeys(COLUMNS), **_run_columns(run)}


def _run_columns(run: ExportedRun) -> Mapping[str, Any]:
    record = run.record
    request = record.request
    return {
        "run": record.id,
        "created": record.created.isoformat(),
        "prompt": request.scene.prompt.text,
        "model": request.model.id,
        "seed": request.seed,
        "steps": request.steps,
        "method": request.guidance.method_id,
        "strength": request.guidance.strength,
        "stars": run.marks.stars,
        "is_rejected": run.marks.is_rejected,
        "tags": run.marks.tags,
        "note": run.marks.note,
        "picture": run.path.name,
    }


def _relation_columns(
    run: ExportedRun, relation: Relation, verdicts: Mapping[RelationId, Verdict]
) -> Mapping[str, Any]:
    scene = run.record.request.scene
    subject, *objects = (scene.mention(end).head for end in relation.ends)
    course = [float(e.pos[relation.id]) for e in run.steps if relation.id in e.pos]
    verdict = verdicts.get(relation.id)
    measured = verdict.measurement if verdict else None
    return {
        "relation": relation.type.id,
        "subject": subject,
        "object": " and ".join(objects),
        "pos_first": course[0] if course else None,
        "pos_last": course[-1] if course else None,
        "outcome": verdict.outcome.value if verdict else None,
        "reason": verdict.reason.value if verdict and verdict.reason else None,
        "confidence": verdict.confidence if verdict else None,
        "pse": measured.pse if measured else None,
        "delta": measured.delta if measured else None,
        "margin": measured.margin if measured else None,
        "overlap": measured.overlap if measured else None,
    }


def _in_a_cell(value: object) -> object:
    return TAG_SEPARATOR.join(value) if isinstance(value, tuple) else value


def _extent(mask: BoolMask) -> list[int]:
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    if not rows.size:
        return [0, 0, 0, 0]
    top, left = int(rows[0]), int(columns[0])
    return [left, top, int(columns[-1]) - left + 1, int(rows[-1]) - top + 1]


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
