"""Vectorised checker for many stored records.

Records are converted to a table of arrays once; each change of a threshold then re-evaluates all
of them in one pass. Supports left, right, above and below, with the same results as
``checker.decide_relation``.
"""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import (
    Axis,
    Relation,
)
from spatialstudio.domain.verdict import (
    AbstentionReason,
    Box,
    CheckerSettings,
    Looks,
    Outcome,
    Perception,
    StabilityMeasure,
)
from spatialstudio.science.arrays import FloatArray
from spatialstudio.science.checker.confidence import confidences
from spatialstudio.science.checker.measurement import (
    box_areas,
    containments,
    intersections_over_unions,
)

Flags: TypeAlias = npt.NDArray[np.bool_]
Codes: TypeAlias = npt.NDArray[np.int64]

OUTCOMES = (Outcome.FAIL, Outcome.UNDECIDABLE, Outcome.PASS)
REASONS = (
    None,
    AbstentionReason.MISSING_OBJECT,
    AbstentionReason.AMBIGUOUS_OBJECT,
    AbstentionReason.HIGH_OVERLAP,
    AbstentionReason.NEAR_BOUNDARY,
    AbstentionReason.UNSTABLE,
    AbstentionReason.DETECTORS_DISAGREE,
    AbstentionReason.LOW_CONFIDENCE,
)
_ENDS = 2
_NO_SCORE = -1.0
_HALF = 0.5
_PLACE_IN_XY = {Axis.X: 0, Axis.Y: 1}


@frozen
class StoredRecord:
    """One relation of one image, with its perceptions.

    Attributes:
        relation: Left, right, above or below.
        perception: Perception by the first detector.
        looks: The recorded stability, and perception by the second detector.
    """

    relation: Relation
    perception: Perception
    looks: Looks


@frozen(eq=False)
class SeenTable:
    """Detections of one detector for all records.

    Attributes:
        boxes: (records, 2, K, 4) left, top, right, bottom in pixels; subject, then object; best
            first.
        scores: (records, 2, K), below 0 for padding.
        sizes: (records, 2) width and height of the images, pixels.
    """

    boxes: FloatArray
    scores: FloatArray
    sizes: FloatArray


@frozen(eq=False)
class RecordTable:
    """Stored records as columns.

    Attributes:
        first: Detections of the first detector.
        second: Detections of the second detector.
        was_seen_twice: (records,) whether there was a second detector.
        axis: (records,) 0 for x, 1 for y.
        wanted_sign: (records,) -1 where the relation requires the subject first, else 1.
        stability: (records,) recorded stability, [0, 1]; 1 where it was not tested.
    """

    first: SeenTable
    second: SeenTable
    was_seen_twice: Flags
    axis: Codes
    wanted_sign: FloatArray
    stability: FloatArray


@frozen(eq=False)
class Decisions:
    """The verdicts of a table.

    Attributes:
        outcome: (records,) indices into ``OUTCOMES``.
        reason: (records,) indices into ``REASONS``.
        confidence: (records,) [0, 1].
    """

    outcome: Codes
    reason: Codes
    confidence: FloatArray


@frozen(eq=False)
class _Choice:
    """The detections chosen in a table: boxes (records, 2, 4), scores (records, 2), flags."""

    boxes: FloatArray
    scores: FloatArray
    is_missing: Flags
    rivals: Flags


def tabulate(records: Sequence[StoredRecord]) -> RecordTable:
    """Convert records to a table.

    Raises:
        ValueError: A relation is none of left, right, above and below.
    """
    types = [record.relation.type for record in records]
    if not all(relation_type.axis in _PLACE_IN_XY for relation_type in types):
        raise ValueError("Only left, right, above and below are supported in a table.")
    recorded = [record.looks.stability for record in records]
    return RecordTable(
        first=_seen((record.relation, record.perception) for record in records),
        second=_seen((record.relation, record.looks.second) for record in records),
        was_seen_twice=np.array([record.looks.second is not None for record in records]),
        axis=np.array([_PLACE_IN_XY[kind.claims[0].axis] for kind in types]),
        wanted_sign=np.where([kind.claims[0].subject_first for kind in types], -1.0, 1.0),
        stability=np.array([1.0 if value is None else value for value in recorded]),
    )


def decide_many(table: RecordTable, settings: CheckerSettings) -> Decisions:
    """Decide all records of a table."""
    choice = _choose(table.first, settings)
    offset = _offsets(choice.boxes[:, 0], choice.boxes[:, 1], table)
    overlap = intersections_over_unions(choice.boxes[:, 0], choice.boxes[:, 1])
    outcome = _signs(offset, settings)
    is_clear = outcome != 0
    stability = np.where(is_clear, table.stability, 1.0)
    is_mixed = settings.stability_measure is StabilityMeasure.MIXED
    is_unstable = (stability < settings.min_stability) & is_mixed
    agreement = _agreements(table, choice, offset, np.where(is_unstable, 0, outcome), settings)
    sureness = np.sqrt(choice.scores.prod(-1).clip(0))
    clearness = ((np.abs(offset) - settings.margin) / settings.geometry_slope).clip(0, 1)
    confidence = confidences((sureness, clearness, stability, agreement), settings.weights)
    doubts = [
        choice.is_missing.any(-1),
        _are_ambiguous(table, choice, settings),
        _are_barred(overlap, table.axis, settings),
        ~is_clear,
        is_unstable,
        agreement < settings.min_agreement,
        confidence < settings.min_confidence,
    ]
    reason = np.select(doubts, range(1, len(REASONS)), 0)
    has_none = (reason > 0) & (reason < REASONS.index(AbstentionReason.NEAR_BOUNDARY))
    return Decisions(
        outcome=np.where(reason > 0, 0, outcome) + 1,
        reason=reason,
        confidence=np.where(has_none, 0.0, confidence),
    )


def _seen(looks: Iterable[tuple[Relation, Perception | None]]) -> SeenTable:
    pairs = list(looks)
    rows = [
        [perception.detections_of(end) if perception else () for end in relation.ends]
        for relation, perception in pairs
    ]
    most = max((len(found) for row in rows for found in row), default=0)
    boxes = np.zeros((len(rows), _ENDS, max(most, 1), 4))
    scores = np.full(boxes.shape[:3], _NO_SCORE)
    for number, row in enumerate(rows):
        for end, found in enumerate(row):
            scores[number, end, : len(found)] = [detection.score for detection in found]
            for place, detection in enumerate(found):
                boxes[number, end, place] = _edges(detection.box)
    sizes = [(seen.width, seen.height) if seen else (1, 1) for _, seen in pairs]
    return SeenTable(boxes=boxes, scores=scores, sizes=np.array(sizes, np.float64))


def _edges(box: Box) -> tuple[float, float, float, float]:
    return box.left, box.top, box.right, box.bottom


def _choose(seen: SeenTable, settings: CheckerSettings) -> _Choice:
    sure = seen.scores >= settings.detection_score
    least_areas = settings.min_area_fraction * seen.sizes.prod(-1)
    large = sure & (box_areas(seen.boxes) >= least_areas[:, None, None])
    if settings.merges_duplicates:
        sure = large = _without_duplicates(seen.boxes, large, settings.duplicate_containment)
    place = large.argmax(-1)[..., None]
    top = np.where(sure, seen.scores, _NO_SCORE).max(-1, keepdims=True)
    is_close = top - seen.scores < settings.ambiguity_delta
    return _Choice(
        boxes=np.take_along_axis(seen.boxes, place[..., None], 2)[:, :, 0],
        scores=np.take_along_axis(seen.scores, place, 2)[..., 0],
        is_missing=np.logical_not(large.any(-1)),
        rivals=sure & is_close,
    )


def _without_duplicates(boxes: FloatArray, kept: Flags, largest_share: float) -> Flags:
    kept = kept.copy()
    for place in range(1, kept.shape[-1]):
        rows = np.nonzero(kept[:, :, place])
        before = np.ascontiguousarray(boxes[:, :, :place][rows])
        shares = containments(boxes[:, :, place][rows][:, None], before)
        is_duplicate = ((shares > largest_share) & kept[:, :, :place][rows]).any(-1)
        kept[:, :, place][rows] = ~is_duplicate
    return kept


def _offsets(subjects: FloatArray, others: FloatArray, table: RecordTable) -> FloatArray:
    """Return signed offsets, positive where relations hold, over the image side.

    Boxes are (records, ..., 4) each.
    """
    apart = (subjects[..., :2] + subjects[..., 2:]) / 2 - (others[..., :2] + others[..., 2:]) / 2
    rows = np.arange(len(table.axis))
    along = np.moveaxis(apart, -1, 1)[rows, table.axis]
    sides = table.wanted_sign * table.first.sizes[rows, table.axis]
    return along / sides.reshape(-1, *[1] * (along.ndim - 1))


def _signs(offset: FloatArray, settings: CheckerSettings) -> Codes:
    """Return 1 where a relation holds beyond the margin, -1 where its inverse does, else 0."""
    return np.where(np.abs(offset) > settings.margin, np.sign(offset), 0).astype(np.int64)


def _are_barred(overlap: FloatArray, axis: Codes, settings: CheckerSettings) -> Flags:
    compares = (axis == _PLACE_IN_XY[Axis.X]) | settings.overlap_bars_vertical
    is_much = overlap > settings.max_overlap_iou
    return is_much & compares.reshape(-1, *[1] * (overlap.ndim - 1))


def _are_ambiguous(table: RecordTable, choice: _Choice, settings: CheckerSettings) -> Flags:
    ambiguous = (choice.rivals.sum(-1) > 1).any(-1)
    if settings.decides_agreeing_instances and ambiguous.any():
        rows = np.flatnonzero(ambiguous)
        ambiguous[rows] = ~_all_agree(_rows_of(table, rows), choice.rivals[rows], settings)
    return ambiguous


def _all_agree(table: RecordTable, rivals: Flags, settings: CheckerSettings) -> Flags:
    """Return for each record whether all pairs of its instances give the same decision."""
    # NOTE: Rivals are moved to the front to drop the many columns without any.
    places = np.argsort(~rivals, -1, kind="stable")[:, :, : rivals.sum(-1).max()]
    rivals = np.take_along_axis(rivals, places, 2)
    boxes = np.take_along_axis(table.first.boxes, places[..., None], 2)
    subjects, others = boxes[:, 0, :, None], boxes[:, 1, None, :]
    signs = _signs(_offsets(subjects, others, table), settings)
    barred = _are_barred(intersections_over_unions(subjects, others), table.axis, settings)
    signs[barred] = 0
    is_pair = rivals[:, 0, :, None] & rivals[:, 1, None, :]
    holds = (signs > 0) | ~is_pair
    fails = (signs < 0) | ~is_pair
    return np.logical_or(holds.all((1, 2)), fails.all((1, 2)))


def _rows_of(table: RecordTable, rows: Codes) -> RecordTable:
    first, second = (
        SeenTable(boxes=seen.boxes[rows], scores=seen.scores[rows], sizes=seen.sizes[rows])
        for seen in (table.first, table.second)
    )
    return RecordTable(
        first=first,
        second=second,
        was_seen_twice=table.was_seen_twice[rows],
        axis=table.axis[rows],
        wanted_sign=table.wanted_sign[rows],
        stability=table.stability[rows],
    )


def _agreements(
    table: RecordTable,
    choice: _Choice,
    offset: FloatArray,
    outcome: Codes,
    settings: CheckerSettings,
) -> FloatArray:
    second = _choose(table.second, settings)
    second_offset = _offsets(second.boxes[:, 0], second.boxes[:, 1], table)
    same_answer = _signs(second_offset, settings) == outcome
    same_side = offset * second_offset >= 0
    overlaps = intersections_over_unions(choice.boxes, second.boxes)
    agreement = _HALF * (_HALF * same_answer + _HALF * same_side) + _HALF * overlaps.mean(-1)
    known = np.where(second.is_missing.any(-1), _HALF, agreement)
    return np.where(table.was_seen_twice, known, 1.0)
