"""SVG output of drawings: text stays text; pictures, and on request fonts, are embedded."""

import base64
from collections.abc import Iterator
from importlib import import_module
from io import BytesIO
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from PIL import Image

from spatialstudio.adapters.storage.metadata.picture_texts import figure_metadata
from spatialstudio.domain.drawing import (
    HALO_WIDTH,
    Drawing,
    Item,
    Line,
    Raster,
    Text,
)

FONTS = "Inter, 'Helvetica Neue', Arial, sans-serif"
DASHES = "4 3"
BOLD = 600


def svg_bytes(drawing: Drawing, fonts: Path | None = None) -> bytes:
    """Return the bytes of an SVG file.

    Args:
        drawing: The drawing.
        fonts: The folder of fonts to embed, reduced to the letters used; None for no fonts.
    """
    width, height = _number(drawing.width), _number(drawing.height)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}pt" height="{height}pt"'
        f' viewBox="0 0 {width} {height}" font-family="{FONTS}">',
        f"<title>{_text(drawing.title)}</title>",
        *([f"<metadata>{figure_metadata()}</metadata>"] if drawing.is_marked else []),
        *(_font_faces(drawing, fonts) if fonts else ()),
        f'<rect width="100%" height="100%" fill="{drawing.ground}"/>',
        *(_element(item) for item in drawing.items),
        "</svg>",
    ]
    return "\n".join(lines).encode("utf-8")


def _font_faces(drawing: Drawing, fonts: Path) -> Iterator[str]:
    """Yield style sheets that embed the fonts of a drawing's texts."""
    for weight, name in ((400, "Inter-Regular.ttf"), (BOLD, "Inter-SemiBold.ttf")):
        texts = (item for item in drawing.items if isinstance(item, Text))
        letters = "".join(item.text for item in texts if item.is_bold is (weight == BOLD))
        if letters:
            data = base64.b64encode(_reduced_font(fonts / name, letters)).decode("ascii")
            source = f"url(data:font/ttf;base64,{data})"
            face = f"font-family:Inter;font-weight:{weight};src:{source}"
            yield f"<style>@font-face{{{face}}}</style>"


def _reduced_font(path: Path, letters: str) -> bytes:
    """Return a font file with the glyphs of some letters only."""
    library = import_module("fontTools.subset")
    subsetter, buffer = library.Subsetter(), BytesIO()
    with library.load_font(str(path), library.Options()) as font:
        subsetter.populate(text=letters)
        subsetter.subset(font)
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
    """Return text that is valid in XML, without control characters and lone surrogates."""
    kept = "".join(c if c.isprintable() else " " for c in text)
    return escape(kept.encode("utf-8", "replace").decode("utf-8"))


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
