"""What the chosen boxes and masks alone say of a relation: its reading, without any doubt."""

from collections.abc import Sequence

import numpy as np

from spatialstudio.domain.arrays import BoolMask
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.perception import Box, Detection, Perception
from spatialstudio.domain.relation import Relation
from spatialstudio.domain.verdict import CheckerSettings, Outcome
from spatialstudio.science.candidates import candidates_of
from spatialstudio.science.geometry import intersection_over_union
from spatialstudio.science.pse import masks_of_ends
from spatialstudio.science.readings import Reading, read_boxes, read_depth


@frozen
class Glance:
    """A relation as read from one choice of detections.

    Attributes:
        chosen: One detection for each of the relation's ends.
        reading: By how much the relation holds.
    """

    chosen: tuple[Detection, ...]
    reading: Reading

    @property
    def boxes(self) -> tuple[Box, ...]:
        """Where the ends are."""
        return tuple(detection.box for detection in self.chosen)

    @property
    def outcome(self) -> Outcome:
        """What the reading alone says; undecidable within its margin."""
        if not self.reading.is_clear:
            return Outcome.UNDECIDABLE
        return Outcome.PASS if self.reading.offset > 0 else Outcome.FAIL

    @property
    def overlap(self) -> float:
        """IoU of the subject with the other end it overlaps most, [0, 1]."""
        subject, *others = self.boxes
        return max(intersection_over_union(subject, other) for other in others)


def glance_at(
    relation: Relation, perception: Perception, settings: CheckerSettings
) -> Glance | None:
    """Read a relation from the surest detections.

    Args:
        relation: The claim.
        perception: What was seen.
        settings: Thresholds and margins.

    Returns:
        None when an end is missing, or depth is wanted and cannot be had.
    """
    chosen = [candidates_of(end, perception, settings).chosen for end in relation.ends]
    found = [detection for detection in chosen if detection is not None]
    if len(found) < len(chosen):
        return None
    masks = masks_of_ends(relation, perception, settings.detection_score)
    return _read(found, masks, relation, perception, settings)


def glance_from(
    chosen: Sequence[Detection],
    relation: Relation,
    perception: Perception,
    settings: CheckerSettings,
) -> Glance | None:
    """Read a relation from given detections, one an end, and their own masks alone.

    Returns:
        None when depth is wanted and cannot be had.
    """
    masks = [_mask_of(detection, perception) for detection in chosen]
    return _read(chosen, masks, relation, perception, settings)


def _read(
    chosen: Sequence[Detection],
    masks: Sequence[BoolMask],
    relation: Relation,
    perception: Perception,
    settings: CheckerSettings,
) -> Glance | None:
    if relation.type.needs_depth:
        reading = read_depth(relation.type, masks, perception.depth, settings)
    else:
        boxes = [detection.box for detection in chosen]
        reading = read_boxes(relation.type, boxes, perception, settings)
    return Glance(chosen=tuple(chosen), reading=reading) if reading else None


def _mask_of(detection: Detection, perception: Perception) -> BoolMask:
    """Return the mask drawn of a detection; empty when there is none."""
    if len(perception.masks) == len(perception.detections):
        return perception.masks[perception.detections.index(detection)].pixels
    return np.zeros((perception.height, perception.width), np.bool_)
