"""The files of the runs, for another installation."""

from collections.abc import Sequence
from pathlib import Path

from spatialstudio.domain.export import ExportedRun, ExportFile, ExportKind, ExportLook


def _write(
    runs: Sequence[ExportedRun], _look: ExportLook, _ending: str, _resources: Path
) -> ExportFile:
    from spatialstudio.adapters.exports.bundle import bundle_bytes

    return ExportFile(content=bundle_bytes(runs))


KIND = ExportKind(
    id="bundle",
    label="Bundle",
    help="The files of the runs, to import into another installation.",
    formats=("zip",),
    write=_write,
    order=120,
    is_of_many=True,
)
