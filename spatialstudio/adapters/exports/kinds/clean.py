"""The pixels of the picture without metadata."""

from collections.abc import Sequence
from pathlib import Path

from spatialstudio.adapters.exports.kinds.picture import PILLOW_FORMATS
from spatialstudio.domain.export import ExportedRun, ExportFile, ExportKind, ExportLook


def _write(
    runs: Sequence[ExportedRun], _look: ExportLook, ending: str, _resources: Path
) -> ExportFile:
    from spatialstudio.adapters.storage.metadata.picture_texts import picture_bytes

    (run,) = runs
    return ExportFile(content=picture_bytes(run.image, PILLOW_FORMATS[ending], None))


KIND = ExportKind(
    id="clean",
    label="Clean copy",
    help="The pixels alone, without metadata.",
    formats=("png", "jpg", "webp"),
    write=_write,
    order=80,
    is_anonymous=True,
)
