"""Picture, maps and PoS, one frame per step."""

from collections.abc import Sequence
from pathlib import Path

from spatialstudio.domain.export import ExportedRun, ExportFile, ExportKind, ExportLook, LookOption


def _write(
    runs: Sequence[ExportedRun], look: ExportLook, ending: str, resources: Path
) -> ExportFile:
    from spatialstudio.adapters.exports.film import film_bytes, film_frames
    from spatialstudio.adapters.exports.write_figure import drawn_file, marked

    (run,) = runs
    fonts = resources / "fonts"
    drawings = [marked(frame, look) for frame in film_frames(run, look)]
    return drawn_file(film_bytes(drawings, ending, fonts), drawings, ending, fonts)


KIND = ExportKind(
    id="film",
    label="Video",
    help="Picture, maps and PoS, one frame per step.",
    formats=("gif", "apng", "mp4"),
    write=_write,
    order=60,
    reads=frozenset({LookOption.COLOURS, LookOption.MARK}),
)
