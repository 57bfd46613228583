"""Box geometry (IoU, offsets, gaps), choice of detections, and measurement of relations."""

from collections.abc import Sequence
from math import hypot

import numpy as np

from spatialstudio.domain.arrays import BoolMask, FloatMap
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import (
    Axis,
    MentionId,
    Relation,
    RelationType,
    Shape,
)
from spatialstudio.domain.verdict import (
    Box,
    CheckerSettings,
    DepthMap,
    Detection,
    Outcome,
    Perception,
)
from spatialstudio.science.arrays import FloatArray
from spatialstudio.science.pos.pse import masks_of_ends
from spatialstudio.science.pos.superiority import relation_pos_on_masks


def intersection(first: Box, second: Box) -> Box:
    """Return the intersection of two boxes; its area is 0 when they are disjoint."""
    return Box(
        left=max(first.left, second.left),
        top=max(first.top, second.top),
        right=min(first.right, second.right),
        bottom=min(first.bottom, second.bottom),
    )


def intersection_over_union(first: Box, second: Box) -> float:
    """Return the IoU of two boxes, [0, 1]; 0 when both are empty."""
    shared = intersection(first, second).area
    union = first.area + second.area - shared
    return shared / union if union > 0 else 0.0


def containment(first: Box, second: Box) -> float:
    """Return the fraction of the smaller box inside the other, [0, 1]; 0 when it is empty."""
    smaller = min(first.area, second.area)
    return intersection(first, second).area / smaller if smaller > 0 else 0.0


def shared_areas(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the intersection areas of pairs of boxes.

    Args:
        first: (..., 4) left, top, right, bottom.
        second: (..., 4) left, top, right, bottom.
    """
    leading = np.maximum(first[..., :2], second[..., :2])
    trailing = np.minimum(first[..., 2:], second[..., 2:])
    return np.maximum(trailing - leading, 0.0).prod(-1)


def box_areas(boxes: FloatArray) -> FloatArray:
    """Return the areas of boxes, (..., 4) left, top, right, bottom."""
    return np.maximum(boxes[..., 2:] - boxes[..., :2], 0.0).prod(-1)


def intersections_over_unions(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the IoU of pairs of boxes, as ``intersection_over_union``; (..., 4) each."""
    shared = shared_areas(first, second)
    union = box_areas(first) + box_areas(second) - shared
    return shared / np.where(union > 0, union, 1.0)


def containments(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the containment of pairs of boxes, as ``containment``; (..., 4) each."""
    smaller = np.minimum(box_areas(first), box_areas(second))
    return shared_areas(first, second) / np.where(smaller > 0, smaller, 1.0)


def center_offset_xy(first: Box, second: Box, width: int, height: int) -> tuple[float, float]:
    """Return the offset of the centre of ``first`` from that of ``second``.

    Args:
        first: Pixels.
        second: Pixels.
        width: Image width, pixels.
        height: Image height, pixels.

    Returns:
        Fractions of width and height, [-1, 1]; negative is left, or above.
    """
    (first_x, first_y), (second_x, second_y) = first.center_xy, second.center_xy
    return (first_x - second_x) / width, (first_y - second_y) / height


def box_gap(first: Box, second: Box, width: int, height: int) -> float:
    """Return the distance of the nearest edges over the image diagonal; 0 when touching.

    Args:
        first: Pixels.
        second: Pixels.
        width: Image width, pixels.
        height: Image height, pixels.
    """
    apart_x = max(first.left - second.right, second.left - first.right, 0.0)
    apart_y = max(first.top - second.bottom, second.top - first.bottom, 0.0)
    return hypot(apart_x, apart_y) / hypot(width, height)


def depth_offset(depth: FloatMap, first: BoolMask, second: BoolMask) -> float:
    """Return the difference of mean depths, ``first`` minus ``second``, over the depth range.

    Args:
        depth: (H, W), larger is farther.
        first: (H, W) bool, not empty.
        second: (H, W) bool, not empty.

    Returns:
        [-1, 1]; negative is in front; 0 for constant depth.
    """
    depth_range = float(np.ptp(depth))
    if depth_range == 0:
        return 0.0
    return float(depth[first].mean() - depth[second].mean()) / depth_range


@frozen
class Candidates:
    """The candidate detections of one mention.

    Attributes:
        chosen: The detection with the best score that is large enough; None when there is none.
        rivals: All detections with scores close to the best, including the best; best first.
    """

    chosen: Detection | None
    rivals: tuple[Detection, ...]

    @property
    def are_ambiguous(self) -> bool:
        """Whether there is more than one rival."""
        return len(self.rivals) > 1


def candidates_of(
    mention: MentionId, perception: Perception, settings: CheckerSettings
) -> Candidates:
    """Choose among the detections of a mention.

    Args:
        mention: The mention.
        perception: The perception of the image.
        settings: Thresholds, and whether duplicates are merged.
    """
    sure = sure_detections(mention, perception, settings)
    least_area = settings.min_area_fraction * perception.width * perception.height
    large = [detection for detection in sure if detection.box.area >= least_area]
    if settings.merges_duplicates:
        sure = large = _without_duplicates(large, settings.duplicate_containment)
    return Candidates(
        chosen=large[0] if large else None,
        rivals=tuple(
            found for found in sure if sure[0].score - found.score < settings.ambiguity_delta
        ),
    )


def sure_detections(
    mention: MentionId, perception: Perception, settings: CheckerSettings
) -> list[Detection]:
    """Return the detections of a mention above the score threshold, best first."""
    found = perception.detections_of(mention)
    return [detection for detection in found if detection.score >= settings.detection_score]


def _without_duplicates(detections: Sequence[Detection], largest_share: float) -> list[Detection]:
    kept: list[Detection] = []
    for found in detections:
        if all(containment(found.box, other.box) <= largest_share for other in kept):
            kept.append(found)
    return kept


_EVEN_POS = 0.5


@frozen
class Reading:
    """The signed offset by which a relation holds.

    Attributes:
        offset: Positive where the relation holds, negative where its inverse does.
        margin: Half width of the undecidable band around 0.
        delta: Signed offset along the relation's only axis; None when it has two or none.
        gap: Gap between the boxes, fraction of the diagonal; near and far only.
    """

    offset: float
    margin: float
    delta: float | None = None
    gap: float | None = None

    @property
    def is_clear(self) -> bool:
        """Whether the offset exceeds the margin, on either side."""
        return abs(self.offset) > self.margin


def read_boxes(
    relation_type: RelationType,
    boxes: Sequence[Box],
    perception: Perception,
    settings: CheckerSettings,
) -> Reading:
    """Measure a relation in the image plane from boxes.

    Args:
        relation_type: A type without depth.
        boxes: Boxes of subject, object and, for "between", second object; pixels.
        perception: Provides the size of the image.
        settings: Margins and distances.
    """
    match relation_type.shape:
        case Shape.ORDER:
            return _read_order(relation_type, boxes, perception, settings)
        case Shape.NEAR:
            return _read_distance(boxes, perception, settings, wanted_sign=1)
        case Shape.FAR:
            return _read_distance(boxes, perception, settings, wanted_sign=-1)
        case Shape.BETWEEN:
            return _read_between(boxes, perception, settings)


def read_depth(
    relation_type: RelationType,
    masks: Sequence[BoolMask],
    depth: DepthMap | None,
    settings: CheckerSettings,
) -> Reading | None:
    """Measure a depth relation by its PoS.

    Args:
        relation_type: A type with depth.
        masks: (H, W) bool each: subject and object.
        depth: The depth map; None when there is none.
        settings: Provides the margin.

    Returns:
        None without depth, or with an empty mask.
    """
    pos = relation_pos_on_masks(relation_type, masks, depth)
    if pos is None or depth is None:
        return None
    delta = depth_offset(depth.values, *masks) if relation_type.axis else None
    return Reading(offset=pos - _EVEN_POS, margin=settings.depth_margin, delta=delta)


def _read_order(
    relation_type: RelationType,
    boxes: Sequence[Box],
    perception: Perception,
    settings: CheckerSettings,
) -> Reading:
    subject, other = boxes
    offset_x, offset_y = center_offset_xy(subject, other, perception.width, perception.height)
    delta_along = {Axis.X: offset_x, Axis.Y: offset_y}
    offset = min(
        -delta_along[claim.axis] if claim.subject_first else delta_along[claim.axis]
        for claim in relation_type.claims
    )
    axis = relation_type.axis
    delta = None if axis is None else delta_along[axis]
    return Reading(offset=offset, margin=settings.margin, delta=delta)


def _read_distance(
    boxes: Sequence[Box], perception: Perception, settings: CheckerSettings, *, wanted_sign: int
) -> Reading:
    subject, other = boxes
    gap = box_gap(subject, other, perception.width, perception.height)
    middle = (settings.near_distance + settings.far_distance) / 2
    margin = (settings.far_distance - settings.near_distance) / 2
    return Reading(offset=wanted_sign * (middle - gap), margin=margin, gap=gap)


def between_axis(boxes: Sequence[Box], perception: Perception) -> Axis:
    """Return the axis with the larger relative distance between two flanks.

    Args:
        boxes: Boxes of the subject and both flanks.
        perception: Provides the size of the image.
    """
    _, one, other = boxes
    apart_x, apart_y = center_offset_xy(one, other, perception.width, perception.height)
    return Axis.X if abs(apart_x) >= abs(apart_y) else Axis.Y


def _read_between(
    boxes: Sequence[Box], perception: Perception, settings: CheckerSettings
) -> Reading:
    subject, one, other = boxes
    place = 0 if between_axis(boxes, perception) is Axis.X else 1
    width, height = perception.width, perception.height
    from_one = center_offset_xy(subject, one, width, height)[place]
    to_other = center_offset_xy(other, subject, width, height)[place]
    direction = 1 if from_one + to_other > 0 else -1
    offset = min(direction * from_one, direction * to_other)
    return Reading(offset=offset, margin=settings.between_margin)


@frozen
class BoxMeasurement:
    """The measurement of a relation for one choice of detections.

    Attributes:
        chosen: One detection per end of the relation.
        reading: The signed offset by which the relation holds.
    """

    chosen: tuple[Detection, ...]
    reading: Reading

    @property
    def boxes(self) -> tuple[Box, ...]:
        """Boxes of the ends."""
        return tuple(detection.box for detection in self.chosen)

    @property
    def outcome(self) -> Outcome:
        """Outcome of the reading; undecidable within its margin."""
        if not self.reading.is_clear:
            return Outcome.UNDECIDABLE
        return Outcome.PASS if self.reading.offset > 0 else Outcome.FAIL

    @property
    def overlap(self) -> float:
        """Largest IoU of the subject with another end, [0, 1]."""
        subject, *others = self.boxes
        return max(intersection_over_union(subject, other) for other in others)


def measure_relation(
    relation: Relation, perception: Perception, settings: CheckerSettings
) -> BoxMeasurement | None:
    """Measure a relation from the chosen detections.

    Args:
        relation: The relation.
        perception: The perception of the image.
        settings: Thresholds and margins.

    Returns:
        None when an end is missing, or required depth is unavailable.
    """
    chosen = [candidates_of(end, perception, settings).chosen for end in relation.ends]
    found = [detection for detection in chosen if detection is not None]
    if len(found) < len(chosen):
        return None
    masks = masks_of_ends(relation, perception, settings.detection_score)
    return _read(found, masks, relation, perception, settings)


def measure_from(
    chosen: Sequence[Detection],
    relation: Relation,
    perception: Perception,
    settings: CheckerSettings,
) -> BoxMeasurement | None:
    """Measure a relation from given detections, one per end, and only their masks.

    Returns:
        None when required depth is unavailable.
    """
    masks = [_mask_of(detection, perception) for detection in chosen]
    return _read(chosen, masks, relation, perception, settings)


def _read(
    chosen: Sequence[Detection],
    masks: Sequence[BoolMask],
    relation: Relation,
    perception: Perception,
    settings: CheckerSettings,
) -> BoxMeasurement | None:
    if relation.type.needs_depth:
        reading = read_depth(relation.type, masks, perception.depth, settings)
    else:
        boxes = [detection.box for detection in chosen]
        reading = read_boxes(relation.type, boxes, perception, settings)
    return BoxMeasurement(chosen=tuple(chosen), reading=reading) if reading else None


def _mask_of(detection: Detection, perception: Perception) -> BoolMask:
    """Return the mask of a detection; empty when there is none."""
    if len(perception.masks) == len(perception.detections):
        return perception.masks[perception.detections.index(detection)].pixels
    return np.zeros((perception.height, perception.width), np.bool_)
