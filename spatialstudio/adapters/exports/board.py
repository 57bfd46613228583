"""Storyboard export: a sheet, a film, arrays, or a table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from spatialstudio.adapters.exports.figure_parts import (
    LINE_HEIGHT,
    MARGIN,
    SMALL,
    heat,
    picture,
)
from spatialstudio.adapters.exports.film import film_of
from spatialstudio.adapters.exports.lettering import (
    elided,
    width_of,
    wrap_lines,
)
from spatialstudio.adapters.exports.write_pdf import pdf_bytes
from spatialstudio.adapters.exports.write_png import pixels_of, png_of
from spatialstudio.adapters.exports.write_svg import svg_bytes
from spatialstudio.adapters.storage.stores.json_codec import pack_arrays
from spatialstudio.domain.drawing import (
    Drawing,
    Item,
    Raster,
    Text,
)
from spatialstudio.domain.errors import ExportError
from spatialstudio.domain.export import BoardFrame, ExportLook
from spatialstudio.domain.foreign_text import table_text

WIDTH = 150.0
GAP = 14.0
TILE, TILE_GAP = 33.0, 6.0
TILES_A_ROW = 4
COLUMNS = 4
FILM_SCALE = 2.0
FILMS = ("gif", "apng", "mp4")
TABLE_COLUMNS = ("frame", "step", "caption", "prompt", "relation", "pos")


def board_bytes(frames: Sequence[BoardFrame], ending: str, look: ExportLook, fonts: Path) -> bytes:
    """Return a storyboard as the bytes of a file.

    Args:
        frames: In order.
        ending: One of ``BOARD_FORMATS``.
        look: Colours of the figures.
        fonts: The folder of the studio's fonts.

    Raises:
        ExportError: There is no frame, or the MP4 extra is not installed.
    """
    if not frames:
        raise ExportError("The storyboard is empty.", hint="Pin a step first.")
    if ending == "npz":
        return pack_arrays(board_arrays(frames))
    if ending == "csv":
        return board_table(frames)
    if ending in FILMS:
        sheets = [board_sheet([frame], look, tallest(frames)) for frame in frames]
        height = max(sheet.height for sheet in sheets)
        sheets = [replace(sheet, height=height) for sheet in sheets]
        pixels = [pixels_of(sheet, fonts, FILM_SCALE) for sheet in sheets]
        return film_of(pixels, ending, is_marked=look.is_marked)
    sheet = board_sheet(frames, look)
    if ending == "svg":
        return svg_bytes(sheet)
    return pdf_bytes(sheet, fonts) if ending == "pdf" else png_of(sheet, fonts)


def board_sheet(
    frames: Sequence[BoardFrame], look: ExportLook, height: float | None = None
) -> Drawing:
    """Arrange frames in rows of four, each above its maps and numbers.

    Args:
        frames: In order.
        look: Colours of the figures.
        height: Row height, points; None for the height of the tallest frame.
    """
    row_height = tallest(frames) if height is None else height
    items: list[Item] = []
    for place, frame in enumerate(frames):
        row, column = divmod(place, COLUMNS)
        at = (MARGIN + column * (WIDTH + GAP), MARGIN + row * (row_height + GAP))
        items += _cell(frame, at, look)
    columns, rows = min(len(frames), COLUMNS), -(-len(frames) // COLUMNS)
    foot = MARGIN + rows * (row_height + GAP)
    muted = look.palette.colours["muted"]
    width = 2 * MARGIN + columns * (WIDTH + GAP) - GAP
    prompts = tuple(dict.fromkeys(f"“{frame.prompt}”" for frame in frames))
    texts = (*prompts, "Each map is scaled to its own maximum.")
    lines = [line for text in texts for line in wrap_lines(text, width - 2 * MARGIN, SMALL)]
    for place, label in enumerate(lines):
        at = (MARGIN, foot + LINE_HEIGHT * place)
        items.append(Text(at=at, text=label, colour=muted, size=SMALL))
    return Drawing(
        width=_even(width),
        height=_even(foot + LINE_HEIGHT * len(lines)),
        ground=look.palette.colours["raised"],
        items=tuple(items),
        title=prompts[0],
        is_marked=look.is_marked,
    )


def tallest(frames: Sequence[BoardFrame]) -> float:
    """Return the height of the tallest frame, points."""
    return max(_height(frame) for frame in frames)


def board_arrays(frames: Sequence[BoardFrame]) -> Mapping[str, Any]:
    """Collect arrays by name: "1/picture" is (H, W, 3), "1/map/dog" is (h, w)."""
    arrays: dict[str, Any] = {}
    for number, frame in enumerate(frames, 1):
        arrays[f"{number}/picture"] = frame.picture
        arrays |= {f"{number}/map/{word}": weights for word, weights in frame.maps}
    return arrays


def board_table(frames: Sequence[BoardFrame]) -> bytes:
    """Return a table with one line per relation of each frame."""
    rows = [
        (number, frame.step + 1, frame.caption, f"“{frame.prompt}”", relation, pos)
        for number, frame in enumerate(frames, 1)
        for relation, pos in frame.pos
    ]
    return table_text([TABLE_COLUMNS, *rows], number_format=".6g").encode("utf-8", "replace")


def _cell(frame: BoardFrame, at: tuple[float, float], look: ExportLook) -> Iterator[Item]:
    left, y = at
    ink, muted = look.palette.colours["text"], look.palette.colours["muted"]
    yield Text(at=(left, y + LINE_HEIGHT - 4), text=frame.caption, colour=ink, is_bold=True)
    shown = picture(frame.picture, (left, y + LINE_HEIGHT + 2), WIDTH)
    yield shown
    y = shown.at[1] + shown.height + 6
    for place, (word, weights) in enumerate(frame.maps):
        row, column = divmod(place, TILES_A_ROW)
        x, top = left + column * (TILE + TILE_GAP), y + row * (TILE + LINE_HEIGHT)
        pixels = heat(weights, look.palette)
        yield Raster(at=(x, top), width=TILE, height=TILE, pixels=pixels)
        colour = look.palette.mention(frame.hues[place])
        name = elided(word, TILE + 2, SMALL)
        yield Text(at=(x, top + TILE + 8), text=name, colour=colour, size=SMALL)
    y += _map_rows(frame) * (TILE + LINE_HEIGHT) + 8
    for line, (relation, pos) in enumerate(frame.pos):
        number = f" {pos:.2f}"
        label = elided(relation, WIDTH - width_of(number, SMALL), SMALL) + number
        yield Text(at=(left, y + line * LINE_HEIGHT), text=label, colour=muted, size=SMALL)


def _height(frame: BoardFrame) -> float:
    tall: float = WIDTH * frame.picture.shape[0] / frame.picture.shape[1]
    maps = _map_rows(frame) * (TILE + LINE_HEIGHT)
    return LINE_HEIGHT + 2 + tall + 6 + maps + 8 + len(frame.pos) * LINE_HEIGHT


def _map_rows(frame: BoardFrame) -> int:
    return -(-len(frame.maps) // TILES_A_ROW)


def _even(side: float) -> float:
    """Round to a length with an even pixel count, as video codecs require."""
    return float(round(side))
