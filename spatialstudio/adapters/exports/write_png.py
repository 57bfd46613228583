"""Rasterisation of drawings with Pillow, for pictures and films."""

from io import BytesIO
from itertools import pairwise
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from PIL.PngImagePlugin import PngInfo

from spatialstudio.adapters.exports.lettering import fallback_fonts, font_files, with_stand_ins
from spatialstudio.adapters.storage.metadata.picture_texts import XMP, figure_packet
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.drawing import (
    HALO_WIDTH,
    Anchor,
    Drawing,
    Line,
    Point,
    Raster,
    Text,
)

SCALE = 2.0
"""Pixels per point."""

DASH, GAP = 4.0, 3.0

_ANCHORS = {Anchor.START: "ls", Anchor.MIDDLE: "ms", Anchor.END: "rs"}
_OPAQUE = 255


def png_of(drawing: Drawing, fonts: Path, scale: float = SCALE, dpi: int = 0) -> bytes:
    """Return the bytes of a PNG file.

    Args:
        drawing: The drawing.
        fonts: The folder of the studio's fonts.
        scale: Pixels per point.
        dpi: Resolution stated in the file; 0 for none.
    """
    buffer = BytesIO()
    marked = mark_of(is_marked=drawing.is_marked)
    stated = {"dpi": (dpi, dpi)} if dpi else {}
    image = Image.fromarray(pixels_of(drawing, fonts, scale))
    image.save(buffer, "PNG", pnginfo=marked, **stated)
    return buffer.getvalue()


def mark_of(*, is_marked: bool) -> PngInfo | None:
    """Return PNG metadata that marks the file as generated; None for no mark."""
    if not is_marked:
        return None
    chunks = PngInfo()
    chunks.add_itxt(XMP, figure_packet().decode("utf-8"))
    return chunks


def pixels_of(drawing: Drawing, fonts: Path, scale: float = SCALE) -> RgbImage:
    """Rasterise a drawing, (H, W, 3) uint8."""
    size = round(drawing.width * scale), round(drawing.height * scale)
    image = Image.new("RGB", size, drawing.ground)
    for item in drawing.items:
        if isinstance(item, Text):
            _text(image, item, (fonts, drawing.font), scale)
        else:
            _draw(image, item, scale)
    return np.array(image)


def _draw(image: Image.Image, item: Line | Raster, scale: float) -> None:
    match item:
        case Line():
            _line(image, item, scale)
        case Raster():
            _raster(image, item, scale)


def _line(image: Image.Image, item: Line, scale: float) -> None:
    opacity = round(item.opacity * _OPAQUE)
    layer = Image.new("L", image.size)
    pen = ImageDraw.Draw(layer)
    points = [(x * scale, y * scale) for x, y in item.points]
    if item.fill:
        pen.polygon(points, fill=opacity)
        image.paste(Image.new("RGB", image.size, item.fill), mask=layer)
        layer.paste(0, (0, 0, *image.size))
    if item.colour:
        closed = [*points, points[0]] if item.is_closed else points
        width = max(round(item.width * scale), 1)
        for part in _dashes(closed, scale) if item.is_dashed else [closed]:
            pen.line(part, fill=opacity, width=width, joint="curve")
        image.paste(Image.new("RGB", image.size, item.colour), mask=layer)


def _dashes(points: list[Point], scale: float) -> list[list[Point]]:
    """Split a line into dashes; the pattern restarts at each segment."""
    parts = []
    for (x0, y0), (x1, y1) in pairwise(points):
        length = float(np.hypot(x1 - x0, y1 - y0)) or 1.0
        for start in np.arange(0.0, length, (DASH + GAP) * scale):
            shares = start / length, min((start + DASH * scale) / length, 1.0)
            parts.append([(x0 + (x1 - x0) * s, y0 + (y1 - y0) * s) for s in shares])
    return parts


def _text(image: Image.Image, item: Text, typeface: tuple[Path, str], scale: float) -> None:
    """Draw a text; ``typeface`` is the folder of fonts and the name of the font."""
    fonts, family = typeface
    plain = "".join(c if c.isprintable() else " " for c in item.text)
    text = with_stand_ins(plain, fonts, family)
    others = fallback_fonts(text, fonts, family)
    path = others[0] if others else font_files(family, fonts)[item.is_bold]
    font = ImageFont.truetype(str(path), item.size * scale)
    place = item.at[0] * scale, item.at[1] * scale
    pen = ImageDraw.Draw(image)
    pen.text(
        place,
        text,
        fill=item.colour,
        font=font,
        anchor=_ANCHORS[item.anchor],
        stroke_width=HALO_WIDTH * scale if item.halo else 0,
        stroke_fill=item.halo or None,
    )


def _raster(image: Image.Image, item: Raster, scale: float) -> None:
    size = max(round(item.width * scale), 1), max(round(item.height * scale), 1)
    picture = Image.fromarray(item.pixels).resize(size, Image.Resampling.BICUBIC)
    place = round(item.at[0] * scale), round(item.at[1] * scale)
    image.paste(picture, place, mask=picture if picture.mode == "RGBA" else None)
