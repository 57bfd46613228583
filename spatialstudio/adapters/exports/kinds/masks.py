"""Masks in COCO format."""

from collections.abc import Sequence
from pathlib import Path

from spatialstudio.domain.export import ExportedRun, ExportFile, ExportKind, ExportLook


def _write(
    runs: Sequence[ExportedRun], _look: ExportLook, _ending: str, _resources: Path
) -> ExportFile:
    from spatialstudio.adapters.exports.tables import coco_bytes

    return ExportFile(content=coco_bytes(runs))


KIND = ExportKind(
    id="masks",
    label="Masks",
    help="COCO run-length encoding; all runs in one file.",
    formats=("json",),
    write=_write,
    order=100,
    is_of_many=True,
)
