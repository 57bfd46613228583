"""PDF output of drawings with fpdf2: text stays text, in the studio's fonts, embedded."""

import logging
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from fpdf import FPDF
from fpdf.enums import TextMode
from PIL import Image, ImageColor

from spatialstudio.adapters.exports.lettering import (
    STAND_IN,
    fallback_fonts,
    font_files,
    with_stand_ins,
)
from spatialstudio.adapters.storage.metadata.picture_texts import CREATOR, figure_metadata
from spatialstudio.domain.drawing import (
    HALO_WIDTH,
    Anchor,
    Drawing,
    Line,
    Raster,
    Text,
)
from spatialstudio.domain.foreign_text import plain_text

STYLES = ("", "B")
DASH, GAP = 4, 3

_SHARES = {Anchor.START: 0.0, Anchor.MIDDLE: 0.5, Anchor.END: 1.0}


def pdf_bytes(drawing: Drawing, fonts: Path) -> bytes:
    """Return the bytes of a PDF file with one page.

    Args:
        drawing: The drawing.
        fonts: The folder of the studio's fonts.
    """
    logging.getLogger("fpdf").setLevel(logging.ERROR)
    page = FPDF(unit="pt", format=(drawing.width, drawing.height))
    page.set_auto_page_break(False)
    page.set_margin(0)
    page.set_title(plain_text(drawing.title))
    page.set_creator(CREATOR)
    if drawing.is_marked:
        page.set_xmp_metadata(figure_metadata())
    text = STAND_IN + "".join(
        plain_text(item.text) for item in drawing.items if isinstance(item, Text)
    )
    for style, path in zip(STYLES, font_files(drawing.font, fonts), strict=True):
        page.add_font(drawing.font, style, path)
    page.set_font(drawing.font)
    _add_fallbacks(page, fallback_fonts(text, fonts, drawing.font))
    page.add_page()
    page.set_fill_color(*ImageColor.getrgb(drawing.ground))
    page.rect(0, 0, drawing.width, drawing.height, style="F")
    for item in drawing.items:
        if isinstance(item, Text):
            _text(page, item, with_stand_ins(plain_text(item.text), fonts, drawing.font))
        else:
            _draw(page, item)
    return bytes(page.output())


def _add_fallbacks(page: FPDF, paths: Sequence[Path]) -> None:
    names = []
    for number, path in enumerate(paths):
        names.append(f"fallback{number}")
        page.add_font(names[-1], "", path)
        page.add_font(names[-1], "B", path)
    page.set_fallback_fonts(names, exact_match=False)


def _draw(page: FPDF, item: Line | Raster) -> None:
    match item:
        case Line():
            _line(page, item)
        case Raster():
            _raster(page, item)


def _line(page: FPDF, item: Line) -> None:
    with page.local_context(fill_opacity=item.opacity, stroke_opacity=item.opacity):
        if item.fill:
            page.set_fill_color(*ImageColor.getrgb(item.fill))
        if item.colour:
            page.set_draw_color(*ImageColor.getrgb(item.colour))
            page.set_line_width(item.width)
        page.set_dash_pattern(*((DASH, GAP) if item.is_dashed else (0, 0)))
        style = ("D" if item.colour else "") + ("F" if item.fill else "")
        page.polyline(list(item.points), polygon=item.is_closed, style=style)


def _text(page: FPDF, item: Text, text: str) -> None:
    page.set_font(page.font_family, "B" if item.is_bold else "", item.size)
    page.set_text_color(*ImageColor.getrgb(item.colour))
    x, y = item.at
    width = page.get_string_width(text)
    left, top = x - width * _SHARES[item.anchor], y - item.size
    page.c_margin = 0
    if item.halo:
        page.set_draw_color(*ImageColor.getrgb(item.halo))
        with page.local_context(text_mode=TextMode.STROKE, line_width=2 * HALO_WIDTH):
            page.set_xy(left, top)
            page.cell(width or 1, item.size * 1.2, text)
    page.set_xy(left, top)
    page.cell(width or 1, item.size * 1.2, text)


def _raster(page: FPDF, item: Raster) -> None:
    buffer = BytesIO()
    Image.fromarray(item.pixels).save(buffer, "PNG")
    page.image(buffer, *item.at, item.width, item.height)
