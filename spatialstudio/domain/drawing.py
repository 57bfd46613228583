"""A vector figure as plain values, independent of its output format (SVG, PDF or PNG)."""

from enum import Enum
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.figure_template import INTER
from spatialstudio.domain.frozen import frozen

Point: TypeAlias = tuple[float, float]
"""x and y in points, from the top left."""


HALO_WIDTH = 1.4
"""Width of a halo around the glyphs, points."""


class Anchor(Enum):
    """Horizontal alignment of a text relative to its point."""

    START = "start"
    MIDDLE = "middle"
    END = "end"


@frozen
class Line:
    """A polyline or polygon.

    Attributes:
        points: At least two.
        colour: Stroke colour; empty for none.
        fill: Fill colour; empty for none.
        width: Stroke width, points.
        opacity: Opacity of stroke and fill, [0, 1].
        is_closed: Whether the last point is connected to the first.
        is_dashed: Whether the stroke is dashed.
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
        at: Anchor point on the base line.
        text: The text, without line breaks.
        colour: Text colour.
        size: Font size, points.
        anchor: Horizontal alignment at the anchor point.
        is_bold: Whether the font is bold.
        halo: Colour of the outline that keeps text legible on an image; empty for none.
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
    """A raster image.

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
        ground: Background colour.
        items: Items from back to front.
        font: Name of the font of its texts.
        title: Title for screen readers and file metadata.
        is_marked: Whether file metadata marks it as showing AI-generated images.
    """

    width: float
    height: float
    ground: str
    items: tuple[Item, ...]
    font: str = INTER
    title: str = ""
    is_marked: bool = False


def box(left: float, top: float, width: float, height: float) -> tuple[Point, ...]:
    """Return the corners of a rectangle."""
    right, bottom = left + width, top + height
    return ((left, top), (right, top), (right, bottom), (left, bottom))
