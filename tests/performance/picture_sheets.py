"""Sheets of pictures to look at: a row for each prompt, a column for each way to draw it."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from spatialstudio.domain.arrays import RgbImage

SIDE = 160
MARGIN = 6
CAPTION_WIDTH = 190
MARK_HEIGHT = 18
FONT_SIZE = 13
LETTERS = 26
GOOD_COLOUR, BAD_COLOUR, DISC_COLOUR = "#167a2f", "#b3261e", "#ff2fb9"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SheetPicture:
    """A picture of a sheet.

    Attributes:
        image: (H, W, 3) uint8.
        mark: What came of it, in a few words.
        is_good: Whether the mark is green instead of red.
        discs: Centre (x, y) and diameter of sketched places, shares of the side.
    """

    image: RgbImage
    mark: str
    is_good: bool
    discs: Sequence[Sequence[float]] = ()


def picture_sheet(
    columns: Sequence[str], rows: Sequence[tuple[str, Sequence[SheetPicture | None]]]
) -> Image.Image:
    """Lay pictures out under the titles of their columns, beside the captions of their rows."""
    cell = SIDE + MARGIN
    height = SIDE + MARK_HEIGHT + MARGIN
    size = (CAPTION_WIDTH + cell * len(columns), MARK_HEIGHT + height * len(rows))
    sheet = Image.new("RGB", size, "white")
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(FONT_SIZE)
    for column, title in enumerate(columns):
        pen.text((CAPTION_WIDTH + cell * column, 1), title, "black", font)
    for number, (caption, pictures) in enumerate(rows):
        top = MARK_HEIGHT + height * number
        pen.multiline_text((2, top), textwrap.fill(caption, LETTERS), "black", font)
        for column, picture in enumerate(pictures):
            if picture is not None:
                left = CAPTION_WIDTH + cell * column
                sheet.paste(_enlarged(picture), (left, top))
                colour = GOOD_COLOUR if picture.is_good else BAD_COLOUR
                pen.text((left, top + SIDE + 1), picture.mark, colour, font)
    return sheet


def _enlarged(picture: SheetPicture) -> Image.Image:
    large = Image.fromarray(np.ascontiguousarray(picture.image)).resize((SIDE, SIDE))
    pen = ImageDraw.Draw(large)
    for number, (x, y, diameter) in enumerate(picture.discs, 1):
        corners = [SIDE * (centre + side * diameter / 2) for side in (-1, 1) for centre in (x, y)]
        pen.ellipse(corners, outline=DISC_COLOUR, width=2)
        pen.text((SIDE * x, SIDE * y), str(number), DISC_COLOUR, anchor="mm")
    return large
