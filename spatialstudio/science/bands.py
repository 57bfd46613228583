"""Where a verdict turns, in pixels: the bands of left, above and between; near and far."""

from collections.abc import Iterator, Sequence
from math import hypot

from spatialstudio.domain.evidence import GapLine, MarginBand
from spatialstudio.domain.perception import Box, Perception
from spatialstudio.domain.relation import Axis, RelationType, Shape
from spatialstudio.domain.verdict import CheckerSettings
from spatialstudio.science.readings import between_axis
from spatialstudio.science.relation_rules import PICTURE_AXES


def bands_of(
    relation_type: RelationType,
    boxes: Sequence[Box],
    perception: Perception,
    settings: CheckerSettings,
) -> Iterator[MarginBand]:
    """Yield the bands in which the subject's centre decides nothing.

    Args:
        relation_type: What is compared; near, far and depth have no bands.
        boxes: Of all its ends, subject first.
        perception: For the size of the picture.
        settings: Margins.
    """
    _, landmark, *flank = boxes
    if relation_type.shape is Shape.BETWEEN:
        axis = between_axis(boxes, perception)
        first, last = sorted((landmark, *flank), key=lambda box: _center(box, axis))
        yield _band(axis, first, settings.between_margin, perception, wanted_before=False)
        yield _band(axis, last, settings.between_margin, perception, wanted_before=True)
    for claim in relation_type.claims:
        if claim.axis in PICTURE_AXES:
            yield _band(
                claim.axis,
                landmark,
                settings.margin,
                perception,
                wanted_before=claim.subject_first,
            )


def gap_of(
    relation_type: RelationType,
    boxes: Sequence[Box],
    perception: Perception,
    settings: CheckerSettings,
) -> GapLine | None:
    """Return the shortest way between two boxes; None unless the relation is near or far."""
    if relation_type.shape not in {Shape.NEAR, Shape.FAR}:
        return None
    subject, other = boxes
    xs = _nearest(subject.left, subject.right, other.left, other.right)
    ys = _nearest(subject.top, subject.bottom, other.top, other.bottom)
    diagonal = hypot(perception.width, perception.height)
    return GapLine(
        start_xy=(xs[0], ys[0]),
        stop_xy=(xs[1], ys[1]),
        near=settings.near_distance * diagonal,
        far=settings.far_distance * diagonal,
    )


def _band(
    axis: Axis, landmark: Box, margin: float, perception: Perception, *, wanted_before: bool
) -> MarginBand:
    side = perception.width if axis is Axis.X else perception.height
    middle = _center(landmark, axis)
    return MarginBand(
        axis=axis,
        start=middle - margin * side,
        stop=middle + margin * side,
        wanted_before=wanted_before,
    )


def _center(box: Box, axis: Axis) -> float:
    return box.center_xy[0] if axis is Axis.X else box.center_xy[1]


def _nearest(
    start: float, stop: float, other_start: float, other_stop: float
) -> tuple[float, float]:
    """Return the nearest points of two intervals; the middle of what they share, if they do."""
    if stop < other_start:
        return stop, other_start
    if other_stop < start:
        return start, other_stop
    middle = (max(start, other_start) + min(stop, other_stop)) / 2
    return middle, middle
