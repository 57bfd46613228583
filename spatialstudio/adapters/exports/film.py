"""Film of a run: preview, maps and the PoS curve, synchronised by step."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any
from uuid import UUID

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from spatialstudio.adapters.exports.figure_parts import (
    LINE_HEIGHT,
    MARGIN,
    NORMAL,
    SMALL,
    heat,
    map_at,
    moment_shown,
    picture,
    short_name,
    shown_mentions,
)
from spatialstudio.adapters.exports.sheets import (
    GAP,
    curve_point,
    curves,
)
from spatialstudio.adapters.exports.write_png import mark_of, pixels_of
from spatialstudio.adapters.storage.metadata.picture_texts import figure_packet
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.drawing import (
    Drawing,
    Item,
    Line,
    Raster,
    Text,
)
from spatialstudio.domain.errors import ExportError
from spatialstudio.domain.export import ExportedRun, ExportLook

FRAME_MS = 150
LAST_MS = 1500
"""Display time of the finished picture, milliseconds."""

SIDE = 256.0
SCALE = 1.5
TILES_A_ROW = 4
TILE = (SIDE + GAP) / TILES_A_ROW - GAP
TILE_HEIGHT = TILE + 2 * LINE_HEIGHT
"""Height of a map with its name, points."""


def film_frames(run: ExportedRun, look: ExportLook) -> list[Drawing]:
    """Draw the frames of a film, one per step.

    Raises:
        ExportError: The run has no steps.
    """
    if not run.steps:
        raise ExportError("The run has no steps to show.", hint="Choose another run.")
    return [_frame(run, place, look) for place in range(len(run.steps))]


def film_bytes(frames: Sequence[Drawing], ending: str, fonts: Path) -> bytes:
    """Encode drawn frames as a film.

    Args:
        frames: The result of ``film_frames``.
        ending: "gif", "apng" or "mp4".
        fonts: The folder of the studio's fonts.

    Raises:
        ExportError: The MP4 extra is not installed.
    """
    is_marked = any(frame.is_marked for frame in frames)
    return film_of(
        [pixels_of(frame, fonts, SCALE) for frame in frames], ending, is_marked=is_marked
    )


def film_of(frames: list[RgbImage], ending: str, *, is_marked: bool) -> bytes:
    """Encode pictures as a film; the last one is shown longer.

    Args:
        frames: (H, W, 3) each, all of one size, with even sides.
        ending: "gif", "apng" or "mp4".
        is_marked: Whether to mark the file as containing generated pictures.

    Raises:
        ExportError: The MP4 extra is not installed.
    """
    if ending == "mp4":
        return _mp4(frames) + (_mp4_mark() if is_marked else b"")
    if ending == "gif":
        return _with_gif_mark(_gif(frames)) if is_marked else _gif(frames)
    return _animation(frames, "PNG", pnginfo=mark_of(is_marked=is_marked))


def _frame(run: ExportedRun, place: int, look: ExportLook) -> Drawing:
    plot = curves(run, look) if any(event.pos for event in run.steps) else None
    event = run.steps[place]
    is_last = place == len(run.steps) - 1
    preview = event.preview if event.preview is not None and not is_last else run.image
    items: list[Item] = [picture(preview, (MARGIN, MARGIN), SIDE), *_maps(run, event.step, look)]
    rows = -(-len(shown_mentions(run, look)) // TILES_A_ROW)
    y = MARGIN * 2 + SIDE + rows * TILE_HEIGHT
    width, height = SIDE + 2 * MARGIN, y
    if plot is not None:
        head = curve_point(run, place, 0.0), curve_point(run, place, 1.0)
        playhead = Line(points=head, colour=look.palette.colours["accent"], width=1.5)
        items += [_shifted(item, SIDE + MARGIN) for item in (*plot.items, playhead)]
        width, height = width + plot.width, max(y, plot.height)
    label = f"step {event.step + 1} of {len(run.steps)}"
    if event.is_guided:
        label = f"{label}, {moment_shown(run).value}"
    items.append(
        Text(at=(MARGIN, MARGIN - 4), text=label, colour=look.palette.colours["muted"], size=SMALL)
    )
    ground = look.palette.colours["raised"]
    return Drawing(width=_even(width), height=_even(height), ground=ground, items=tuple(items))


def _maps(run: ExportedRun, step: int, look: ExportLook) -> Iterator[Item]:
    for place, (number, mention) in enumerate(shown_mentions(run, look)):
        row, column = divmod(place, TILES_A_ROW)
        weights = map_at(run, mention.id, step)
        if weights is not None:
            x, y = MARGIN + column * (TILE + GAP), MARGIN * 2 + SIDE + row * TILE_HEIGHT
            pixels = heat(weights, look.palette)
            yield Raster(at=(x, y), width=TILE, height=TILE, pixels=pixels)
            colour = look.palette.mention(number)
            name = short_name(mention, TILE, NORMAL)
            yield Text(at=(x, y + TILE + LINE_HEIGHT), text=name, colour=colour)


def _shifted(item: Item, right: float) -> Item:
    if isinstance(item, Line):
        return replace(item, points=tuple((x + right, y) for x, y in item.points))
    return replace(item, at=(item.at[0] + right, item.at[1]))


def _gif(frames: list[RgbImage]) -> bytes:
    return _animation(frames, "GIF")


def _animation(frames: list[RgbImage], kind: str, **options: PngInfo | None) -> bytes:
    first, *rest = (Image.fromarray(frame) for frame in frames)
    durations = [FRAME_MS] * len(rest) + [LAST_MS]
    timing: dict[str, Any] = {"duration": durations, "loop": 0}
    buffer = BytesIO()
    first.save(buffer, kind, save_all=True, append_images=rest, **timing, **options)
    return buffer.getvalue()


def _with_gif_mark(content: bytes) -> bytes:
    """Insert XMP before the end of a GIF file, following the XMP specification (part 3)."""
    return content[: -len(_GIF_END)] + _GIF_XMP + figure_packet() + _GIF_XMP_END + _GIF_END


_GIF_END = b";"
_GIF_XMP = b"!\xff\x0bXMP DataXMP"
_GIF_XMP_END = bytes([1, *range(255, -1, -1), 0])
"""Trailer that leads readers which parse the text as length-prefixed blocks to its end."""


def _mp4_mark() -> bytes:
    """Return the box for XMP in MP4, following the same specification."""
    content = b"uuid" + _MP4_XMP.bytes + figure_packet()
    return (len(content) + 4).to_bytes(4, "big") + content


_MP4_XMP = UUID("be7acfcb-97a9-42e8-9c71-999491e3afac")


def _mp4(frames: list[RgbImage]) -> bytes:
    if find_spec("av") is None:
        raise ExportError(
            "MP4 needs PyAV, which is not installed.",
            hint='Install "spatialstudio[video]", or choose GIF or APNG.',
        )
    av, buffer = import_module("av"), BytesIO()
    with av.open(buffer, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=round(1000 / FRAME_MS))
        stream.height, stream.width, _ = frames[0].shape
        stream.pix_fmt = "yuv420p"
        for pixels in [*frames, *[frames[-1]] * (LAST_MS // FRAME_MS)]:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode())
    return buffer.getvalue()


def _even(side: float) -> float:
    """Round to a length with an even pixel count, as video codecs require."""
    return round(side / 4) * 4.0
