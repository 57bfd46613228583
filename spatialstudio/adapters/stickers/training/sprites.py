"""Stickers of any size, cut from the sprite sheet."""

from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from spatialstudio.adapters.stickers.vocabulary import SPRITES_FILE

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
