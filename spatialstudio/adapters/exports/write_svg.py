"""SVG output of drawings: text stays text; pictures, and on request fonts, are embedded."""

import base64
from collections.abc import Iterator, Sequence
from importlib import import_module
from io import BytesIO
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from PIL import Image

from spatialstudio.adapters.exports.lettering import fallback_fonts, font_files
from spatialstudio.adapters.storage.metadata.picture_texts import figure_metadata
from spatialstudio.domain.drawing import (
    HALO_WIDTH,
    Drawing,
    Item,
    Line,
    Raster,
    Text,
)
from spatialstudio.domain.foreign_text import plain_text

OTHERS = "'Helvetica Neue', Arial, sans-serif"
FALLBACK = "Fallback"
DASHES = "4 3"
NORMAL, BOLD = 400, 600


def svg_bytes(drawing: Drawing, fonts: Path | None = None) -> bytes:
    """Return the bytes of an SVG file.

    Args:
        drawing: The drawing.
        fonts: The folder of fonts to embed, reduced to the letters used; None for no fonts.
    """
    width, height = _number(drawing.width), _number(drawing.height)
    others = _others(drawing, fonts) if fonts else ()
    fallbacks = [f"{FALLBACK}{number}" for number in range(len(others))]
    family = ", ".join([f"'{drawing.font}'", *fallbacks, OTHERS])
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}pt" height="{height}pt"'
        f' viewBox="0 0 {width} {height}" font-family="{family}">',
        f"<title>{_text(drawing.title)}</title>",
        *([f"<metadata>{figure_metadata()}</metadata>"] if drawing.is_marked else []),
        *(_font_faces(drawing, fonts, others) if fonts else ()),
        f'<rect width="100%" height="100%" fill="{drawing.ground}"/>',
        *(_element(item) for item in drawing.items),
        "</svg>",
    ]
    return "\n".join(lines).encode("utf-8")


def _others(drawing: Drawing, fonts: Path) -> tuple[Path, ...]:
    """Return the fonts of the letters that the drawing's font lacks."""
    letters = "".join(item.text for item in drawing.items if isinstance(item, Text))
    return fallback_fonts(letters, fonts, drawing.font)


def _font_faces(drawing: Drawing, fonts: Path, others: Sequence[Path]) -> Iterator[str]:
    """Yield style sheets that embed the fonts of a drawing's texts."""
    items = [item for item in drawing.items if isinstance(item, Text)]
    for weight, path in zip((NORMAL, BOLD), font_files(drawing.font, fonts), strict=True):
        letters = "".join(item.text for item in items if item.is_bold is (weight == BOLD))
        if letters:
            yield _font_face(drawing.font, weight, _reduced_font(path, letters))
    letters = "".join(item.text for item in items)
    for number, path in enumerate(others):
        yield _font_face(f"{FALLBACK}{number}", NORMAL, _reduced_font(path, letters))


def _font_face(family: str, weight: int, content: bytes) -> str:
    data = base64.b64encode(content).decode("ascii")
    kind = "otf" if content.startswith(b"OTTO") else "ttf"
    face = f"font-family:'{family}';font-weight:{weight};src:url(data:font/{kind};base64,{data})"
    return f"<style>@font-face{{{face}}}</style>"


def _reduced_font(path: Path, letters: str) -> bytes:
    """Return a font file with the glyphs of some letters only."""
    library = import_module("fontTools.subset")
    subsetter, buffer = library.Subsetter(), BytesIO()
    options = library.Options(font_number=0)
    options.drop_tables += ["FFTM"]  # of the font editor; the library warns about it
    with library.load_font(str(path), options) as font:
        subsetter.populate(text=letters)
        subsetter.subset(font)
        font.flavor = None
        font.save(buffer)
    return buffer.getvalue()


def _element(item: Item) -> str:
    match item:
        case Line():
            return _line(item)
        case Text():
            return _text_element(item)
        case Raster():
            return _raster(item)


def _line(item: Line) -> str:
    name = "polygon" if item.is_closed else "polyline"
    points = " ".join(f"{_number(x)},{_number(y)}" for x, y in item.points)
    stroke = f' stroke="{item.colour}" stroke-width="{_number(item.width)}"' if item.colour else ""
    dashes = f' stroke-dasharray="{DASHES}"' if item.is_dashed else ""
    opacity = f' opacity="{_number(item.opacity)}"' if item.opacity < 1 else ""
    fill = item.fill or "none"
    return f'<{name} points="{points}" fill="{fill}"{stroke}{dashes}{opacity}/>'


def _text_element(item: Text) -> str:
    x, y = (_number(value) for value in item.at)
    weight = f' font-weight="{BOLD}"' if item.is_bold else ""
    return (
        f'<text x="{x}" y="{y}" fill="{item.colour}" font-size="{_number(item.size)}"'
        f' text-anchor="{item.anchor.value}"{weight}{_halo(item)}>{_text(item.text)}</text>'
    )


def _halo(item: Text) -> str:
    width = _number(2 * HALO_WIDTH)
    outline = f' stroke="{item.halo}" stroke-width="{width}" stroke-linejoin="round"'
    return f'{outline} paint-order="stroke"' if item.halo else ""


def _raster(item: Raster) -> str:
    buffer = BytesIO()
    Image.fromarray(item.pixels).save(buffer, "PNG")
    source = "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
    x, y = (_number(value) for value in item.at)
    return (
        f'<image x="{x}" y="{y}" width="{_number(item.width)}" height="{_number(item.height)}"'
        f' preserveAspectRatio="none" href={quoteattr(source)}/>'
    )


def _text(text: str) -> str:
    return escape(plain_text(text))


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
