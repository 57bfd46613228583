"""Stickers of any size, cut from the sprite sheet, and the generator of the sheet.

The sheet is drawn from the Noto Color Emoji font and custom drawings, for developers only:
``python -m spatialstudio.adapters.stickers.training.sprites``. The application reads the finished
sheet and needs no font.
"""

import math
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from spatialstudio.adapters.stickers.vocabulary import SPRITES_FILE, sticker_objects

CELL = 96
SHEET_COLUMNS = 8


@lru_cache(maxsize=8192)
def sticker(number: int, side: int) -> NDArray[np.float32]:
    """Return one object's sticker, cropped to its visible part.

    Args:
        number: Class index of the object.
        side: Pixels of its longer side.

    Returns:
        (h, w, 4) read-only; red, green, blue in [0, 255] and alpha in [0, 1].
    """
    row, column = divmod(number, SHEET_COLUMNS)
    cell = _sheet().crop(
        (column * CELL, row * CELL, (column + 1) * CELL, (row + 1) * CELL),
    )
    cropped = cell.crop(cell.getchannel("A").getbbox())
    scale = side / max(cropped.size)
    width, height = (max(1, round(length * scale)) for length in cropped.size)
    resized = cropped.resize(
        (width, height), Image.Resampling.BOX if scale < 1 else Image.Resampling.BICUBIC
    )
    pixels = np.asarray(resized, dtype=np.float32).copy()
    pixels[..., 3] /= 255
    pixels.setflags(write=False)
    return pixels


@cache
def height_share(number: int) -> float:
    """Return an object's height as a share of its longer side, (0, 1]."""
    return float(sticker(number, CELL).shape[0] / CELL)


@cache
def _sheet() -> Image.Image:
    with Image.open(SPRITES_FILE) as sheet:
        return sheet.convert("RGBA")


EMOJI_FONT = Path("/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf")
EMOJI_FONT_SIZE = 109  # the only size at which Pillow renders this bitmap font
GLYPH_CANVAS = 160
CELL_PADDING = 2
FAINT_ALPHA = 40  # fainter glows do not count towards the size
DRAWING_SIDE = 400

RED, DARK_RED = (216, 44, 40), (160, 24, 30)
YELLOW, ORANGE = (252, 200, 60), (240, 150, 40)
WHITE, GREY, DARK_GREY = (255, 255, 255), (150, 156, 166), (90, 96, 108)
PURPLE, DARK_PURPLE, CREAM = (126, 70, 190), (90, 44, 146), (255, 232, 160)


def draw_sheet(font_file: Path = EMOJI_FONT) -> Image.Image:
    """Draw all sprites, row by row in class order.

    Args:
        font_file: The Noto Color Emoji font.

    Returns:
        An RGBA sheet of CELL x CELL cells.
    """
    font = ImageFont.truetype(str(font_file), EMOJI_FONT_SIZE)
    things = sticker_objects()
    rows = math.ceil(len(things) / SHEET_COLUMNS)
    sheet = Image.new("RGBA", (SHEET_COLUMNS * CELL, rows * CELL))
    for number, thing in enumerate(things):
        picture = OWN_DRAWINGS[thing.name]() if not thing.glyph else _draw_glyph(thing.glyph, font)
        if thing.name == "couch":
            picture = _without_lamp(picture)
        row, column = divmod(number, SHEET_COLUMNS)
        sheet.paste(_fit_cell(picture), (column * CELL, row * CELL))
    return sheet


def _draw_glyph(glyph: str, font: ImageFont.FreeTypeFont) -> Image.Image:
    canvas = Image.new("RGBA", (GLYPH_CANVAS, GLYPH_CANVAS))
    ImageDraw.Draw(canvas).text((8, 8), glyph, font=font, embedded_color=True)
    return canvas


def _without_lamp(couch: Image.Image) -> Image.Image:
    """Remove the floor lamp from the couch glyph, since a lamp is a separate object."""
    left, top, right, bottom = _bounds(couch)
    return couch.crop((left, top + (bottom - top) * 43 // 100, right, bottom))


def _fit_cell(picture: Image.Image) -> Image.Image:
    cropped = picture.crop(_bounds(picture))
    side = CELL - 2 * CELL_PADDING
    scale = side / max(cropped.size)
    width, height = (max(1, round(length * scale)) for length in cropped.size)
    resized = cropped.resize((width, height), Image.Resampling.LANCZOS)
    cell = Image.new("RGBA", (CELL, CELL))
    cell.paste(resized, ((CELL - width) // 2, (CELL - height) // 2))
    return cell


def _bounds(picture: Image.Image) -> tuple[int, int, int, int]:
    bounds = picture.getchannel("A").point(lambda alpha: 255 * (alpha > FAINT_ALPHA)).getbbox()
    if bounds is None:
        raise ValueError("a sprite is empty: the font lacks this glyph")
    return bounds


def _blank() -> tuple[Image.Image, ImageDraw.ImageDraw]:
    canvas = Image.new("RGBA", (DRAWING_SIDE, DRAWING_SIDE))
    return canvas, ImageDraw.Draw(canvas)


def _fire_hydrant() -> Image.Image:
    canvas, draw = _blank()
    draw.rounded_rectangle((180, 6, 220, 60), 10, fill=YELLOW)
    draw.pieslice((120, 30, 280, 190), 180, 360, fill=RED)
    draw.rounded_rectangle((104, 104, 296, 134), 12, fill=DARK_RED)
    draw.rectangle((128, 134, 272, 350), fill=RED)
    draw.rectangle((238, 134, 272, 350), fill=DARK_RED)
    for left in (70, 270):
        draw.rectangle((left, 180, left + 60, 240), fill=RED)
    for left in (48, 320):
        draw.rounded_rectangle((left, 166, left + 32, 254), 8, fill=YELLOW)
    draw.ellipse((156, 166, 244, 254), fill=YELLOW)
    draw.ellipse((178, 188, 222, 232), fill=ORANGE)
    draw.rounded_rectangle((90, 340, 310, 392), 12, fill=DARK_RED)
    return canvas


def _stop_sign() -> Image.Image:
    canvas, draw = _blank()
    draw.rectangle((188, 200, 212, 396), fill=DARK_GREY)
    draw.regular_polygon((200, 142, 140), 8, rotation=22.5, fill=WHITE)
    draw.regular_polygon((200, 142, 126), 8, rotation=22.5, fill=RED)
    lettering = ImageFont.load_default(84)
    draw.text((200, 140), "STOP", font=lettering, anchor="mm", fill=WHITE, stroke_width=3)
    return canvas


def _lamp() -> Image.Image:
    canvas, draw = _blank()
    draw.rectangle((188, 170, 212, 350), fill=DARK_GREY)
    draw.polygon(((140, 20), (260, 20), (340, 200), (60, 200)), fill=PURPLE)
    draw.polygon(((230, 20), (260, 20), (340, 200), (270, 200)), fill=DARK_PURPLE)
    draw.rectangle((60, 196, 340, 214), fill=CREAM)
    draw.ellipse((176, 206, 224, 250), fill=YELLOW)
    draw.rounded_rectangle((110, 340, 290, 386), 20, fill=DARK_PURPLE)
    return canvas


OWN_DRAWINGS: dict[str, Callable[[], Image.Image]] = {
    "fire hydrant": _fire_hydrant,
    "stop sign": _stop_sign,
    "lamp": _lamp,
}


if __name__ == "__main__":
    draw_sheet().save(SPRITES_FILE, optimize=True)
