"""Output of drawings as files: PNG, SVG or PDF."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from spatialstudio.adapters.exports.lettering import missing_letters
from spatialstudio.adapters.exports.write_pdf import pdf_bytes
from spatialstudio.adapters.exports.write_png import png_of
from spatialstudio.adapters.exports.write_svg import svg_bytes
from spatialstudio.domain.drawing import Drawing, Raster, Text
from spatialstudio.domain.export import ExportFile, ExportLook

FONTLESS = frozenset({"svg", "npz", "csv"})
"""Extensions of formats that keep text as text and embed no font."""


POINTS_PER_INCH = 72


def figure_file(
    drawing: Drawing, look: ExportLook, ending: str, fonts: Path, dpi: int = 0
) -> ExportFile:
    """Encode a drawing as a file.

    Args:
        drawing: Marked as generated if it shows a picture and the look asks for it.
        look: Colours and marking of figures.
        ending: "png", "svg" or "pdf".
        fonts: The folder of fonts.
        dpi: Resolution of PNG files for print; SVG files then embed their fonts. 0 for the screen.
    """
    drawing = marked(drawing, look)
    if ending == "svg":
        content = svg_bytes(drawing, fonts if dpi else None)
    elif ending == "pdf":
        content = pdf_bytes(drawing, fonts)
    elif dpi:
        content = png_of(drawing, fonts, dpi / POINTS_PER_INCH, dpi)
    else:
        content = png_of(drawing, fonts)
    return drawn_file(content, [drawing], ending, fonts)


def marked(drawing: Drawing, look: ExportLook) -> Drawing:
    """Mark a drawing that shows a picture as generated, if the look asks for it."""
    shows = any(isinstance(item, Raster) for item in drawing.items)
    return replace(drawing, is_marked=look.is_marked and shows)


def drawn_file(content: bytes, drawings: Sequence[Drawing], ending: str, fonts: Path) -> ExportFile:
    """Return a file of drawings, with its missing letters if the format embeds fonts."""
    if ending in FONTLESS:
        return ExportFile(content=content)
    missing = "".join(
        missing_letters(item.text, fonts, drawing.font)
        for drawing in drawings
        for item in drawing.items
        if isinstance(item, Text)
    )
    return ExportFile(content=content, missing="".join(dict.fromkeys(missing)))
