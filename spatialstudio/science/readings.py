"""By how much each relation type holds in a picture, and within which margin nobody can tell.

Left, right, above and below are those of SpatialBench-UC (Rostane 2026, arXiv:2601.13462). Ours: a
diagonal holds by its weaker claim; near and far compare the gap of the boxes with two distances;
"between" looks along the axis on which the flanks stand farther apart; depth goes by PoS.
"""

from collections.abc import Sequence

from spatialstudio.domain.arrays import BoolMask
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.perception import Box, DepthMap, Perception
from spatialstudio.domain.relation import Axis, RelationType, Shape
from spatialstudio.domain.verdict import CheckerSettings
from spatialstudio.science.geometry import box_gap, center_offset_xy, depth_offset
from spatialstudio.science.relation_rules import relation_pos_on_masks

_EVEN_POS = 0.5


@frozen
class Reading:
    """By how much a relation holds.

    Attributes:
        offset: Positive where the relation holds, negative where its contrary does.
        margin: Half width of the undecidable band around 0.
        delta: Signed offset along the relation's one axis; None when it has two or none.
        gap: Of the boxes, share of the diagonal; near and far only.
    """

    offset: float
    margin: float
    delta: float | None = None
    gap: float | None = None

    @property
    def is_clear(self) -> bool:
        """Whether the offset lies beyond the margin, on either side."""
        return abs(self.offset) > self.margin


def read_boxes(
    relation_type: RelationType,
    boxes: Sequence[Box],
    perception: Perception,
    settings: CheckerSettings,
) -> Reading:
    """Read a relation of the picture plane.

    Args:
        relation_type: One that needs no depth.
        boxes: Of subject, object and, for "between", second object; pixels.
        perception: For the size of the picture.
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
    """Read a relation of depth by its PoS.

    Args:
        relation_type: One that needs depth.
        masks: (H, W) bool each: subject and object.
        depth: What was estimated; None when nothing was.
        settings: For the margin.

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
    """Return the axis along which two flanks stand farther apart, as shares of the sides.

    Args:
        boxes: Of the subject and both flanks.
        perception: For the size of the picture.
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
