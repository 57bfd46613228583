"""A figure as plain values, to be written as SVG, PDF or PNG by whoever can."""

from enum import Enum
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.frozen import frozen

Point: TypeAlias = tuple[float, float]
"""x and y in points, from the top left."""


HALO_WIDTH = 1.4
"""How far a halo reaches beyond the letters, points."""


class Anchor(Enum):
    """Which part of a text stands at its point."""

    START = "start"
    MIDDLE = "middle"
    END = "end"


@frozen
class Line:
    """A line through points, or the area within it.

    Attributes:
        points: At least two.
        colour: Of the stroke; empty for none.
        fill: Of the area; empty for none.
        width: Of the stroke, points.
        opacity: Of both, [0, 1].
        is_closed: Whether the last point is joined to the first.
        is_dashed: Whether the stroke has gaps.
    """

    points: tuple[Point, ...]
    colour: str = ""
    fill: str = ""
    width: float = 1.0
    opacity: float = 1.0
    is_closed: bool = False
    is_dashed: bool = False


@frozen
class Text:
    """One line of text.

    Attributes:
        at: Where its base line stands.
        text: Without line breaks.
        colour: Of the letters.
        size: Of the font, points.
        anchor: Which part of it stands there.
        is_bold: Whether it is set in the heavier weight.
        halo: Colour around the letters, so that they can be read on a picture; empty for none.
    """

    at: Point
    text: str
    colour: str
    size: float = 9.0
    anchor: Anchor = Anchor.START
    is_bold: bool = False
    halo: str = ""


@frozen(eq=False)
class Raster:
    """A picture.

    Attributes:
        at: Its upper left corner.
        width: Points.
        height: Points.
        pixels: (H, W, 3) uint8, or (H, W, 4) with opacity last.
    """

    at: Point
    width: float
    height: float
    pixels: npt.NDArray[np.uint8]


Item: TypeAlias = Line | Text | Raster


@frozen(eq=False)
class Drawing:
    """A figure.

    Attributes:
        width: Points.
        height: Points.
        ground: Colour behind everything.
        items: From the back to the front.
        title: What it shows, for screen readers and the file's own record.
        is_marked: Whether its file says that it shows what a model drew.
    """

    width: float
    height: float
    ground: str
    items: tuple[Item, ...]
    title: str = ""
    is_marked: bool = False


def box(left: float, top: float, width: float, height: float) -> tuple[Point, ...]:
    """Return the corners of a rectangle."""
    right, bottom = left + width, top + height
    return ((left, top), (right, top), (right, bottom), (left, bottom))
