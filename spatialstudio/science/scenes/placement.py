"""Where objects are in a picture, compared with the places that a sketch asks for."""

from collections.abc import Iterator, Sequence
from math import hypot, pi, sqrt

import numpy as np

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import PlaceTarget
from spatialstudio.domain.scene import MentionId
from spatialstudio.domain.verdict import Box, Mask, Perception


@frozen
class FoundObject:
    """Place of a detected object.

    Attributes:
        x: Centroid of its mask, or the centre of its box without a mask; fraction of the width.
        y: Centroid or centre; fraction of the height, grows down.
        size: Diameter of the disc of the same area; fraction of the side of a square picture, and
            of the geometric mean of the sides otherwise.
        box: Its bounding box: left, top, right, bottom; fractions of the sides.
    """

    x: float
    y: float
    size: float
    box: tuple[float, float, float, float]


@frozen
class Placement:
    """A target with the object that was found for it.

    Attributes:
        target: The target.
        found: The object; None if it was not detected.
    """

    target: PlaceTarget
    found: FoundObject | None

    @property
    def offset_xy(self) -> tuple[float, float] | None:
        """From the target to the object, fractions of the sides; y grows down."""
        if self.found is None:
            return None
        return self.found.x - self.target.x, self.found.y - self.target.y

    @property
    def distance(self) -> float | None:
        """Length of the offset, fraction of the side; None if the object was not detected."""
        return None if (offset := self.offset_xy) is None else hypot(*offset)


def placements_of(targets: Sequence[PlaceTarget], perception: Perception) -> tuple[Placement, ...]:
    """Return where the objects of targets are, in the order of the targets.

    Of several instances, the one with the best score counts.
    """
    return tuple(
        Placement(target=target, found=find_object(target.mention_id, perception))
        for target in targets
    )


def find_object(mention_id: MentionId, perception: Perception) -> FoundObject | None:
    """Return the place of the best instance of a mention; None if it was not detected."""
    sides = perception.width, perception.height
    for mask in perception.masks_of(mention_id):
        if mask.pixels.any():
            return _from_mask(mask, sides)
    for detection in perception.detections_of(mention_id):
        return _from_box(detection.box, sides)
    return None


def offset_in_words(placement: Placement) -> str:
    """Describe an offset: "12 % of the side from its place (11 % right, 4 % down)"."""
    distance, offset = placement.distance, placement.offset_xy
    if distance is None or offset is None:
        return "not found"
    parts = ", ".join(_parts(*offset))
    return f"{distance * 100:.0f} % of the side from its place" + (f" ({parts})" if parts else "")


def _parts(across: float, down: float) -> Iterator[str]:
    directions = ((across, "right", "left"), (down, "down", "up"))
    for share, ahead, back in directions:
        if percent := round(abs(share) * 100):
            yield f"{percent} % {ahead if share > 0 else back}"


def _from_mask(mask: Mask, sides: tuple[int, int]) -> FoundObject:
    rows, columns = np.nonzero(mask.pixels)
    width, height = sides
    left, right = float(columns.min()), float(columns.max() + 1)
    top, bottom = float(rows.min()), float(rows.max() + 1)
    return FoundObject(
        x=float(columns.mean() + 0.5) / width,
        y=float(rows.mean() + 0.5) / height,
        size=_diameter(len(rows), sides),
        box=_shares(Box(left=left, top=top, right=right, bottom=bottom), sides),
    )


def _from_box(box: Box, sides: tuple[int, int]) -> FoundObject:
    left, top, right, bottom = _shares(box, sides)
    return FoundObject(
        x=(left + right) / 2,
        y=(top + bottom) / 2,
        size=_diameter(box.area, sides),
        box=(left, top, right, bottom),
    )


def _shares(box: Box, sides: tuple[int, int]) -> tuple[float, float, float, float]:
    width, height = sides
    return box.left / width, box.top / height, box.right / width, box.bottom / height


def _diameter(area: float, sides: tuple[int, int]) -> float:
    width, height = sides
    return 2 * sqrt(area / pi) / sqrt(width * height)
