"""Turns an OpenType font with cubic outlines into TrueType, as PDF readers expect it embedded."""

import logging
from importlib import import_module
from pathlib import Path
from string import printable
from typing import Any

MOST_ERROR = 1.0
"""How far a quadratic outline may lie from the cubic one, units of the font."""

_UNUSED = (
    *("maxTwilightPoints", "maxStorage", "maxFunctionDefs", "maxInstructionDefs"),
    *("maxStackElements", "maxSizeOfInstructions", "maxComponentElements"),
)


def write_truetype(source: Path, text: str, target: Path) -> None:
    """Write those glyphs of a font that a text needs as a TrueType file.

    Args:
        source: An .otf file.
        text: All that will be set in it; plain Latin letters are always there.
        target: The file to write.
    """
    logging.getLogger("fontTools").setLevel(logging.ERROR)  # it tells of each table it packs
    library = import_module("fontTools.ttLib")
    with library.TTFont(source) as font:
        _keep_only(font, text + printable)
        glyphs = _quadratic(font)
        font["loca"] = library.newTable("loca")
        font["glyf"] = outlines = library.newTable("glyf")
        outlines.glyphOrder, outlines.glyphs = font.getGlyphOrder(), glyphs
        font["maxp"] = limits = library.newTable("maxp")
        limits.tableVersion, limits.numGlyphs, limits.maxZones = 0x10000, len(glyphs), 1
        for name in _UNUSED:
            setattr(limits, name, 0)
        for table in {"CFF ", "VORG"} & set(font.keys()):
            del font[table]
        font["post"].formatType = 3.0
        font.sfntVersion = "\x00\x01\x00\x00"
        font.save(target)


def _keep_only(font: Any, text: str) -> None:
    subset = import_module("fontTools.subset")
    options = subset.Options()
    options.layout_features = []
    options.notdef_outline = True
    chosen = subset.Subsetter(options)
    chosen.populate(text=text)
    chosen.subset(font)


def _quadratic(font: Any) -> dict[str, Any]:
    cubic = import_module("fontTools.pens.cu2quPen").Cu2QuPen
    pens, glyphs = import_module("fontTools.pens.ttGlyphPen"), {}
    outlines = font.getGlyphSet()
    for name in font.getGlyphOrder():
        pen = pens.TTGlyphPen(outlines)
        outlines[name].draw(cubic(pen, MOST_ERROR, reverse_direction=True))
        glyphs[name] = pen.glyph()
    return glyphs
