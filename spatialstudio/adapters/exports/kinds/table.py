"""Numbers, one line per relation."""

from collections.abc import Sequence
from pathlib import Path

from spatialstudio.domain.export import ExportedRun, ExportFile, ExportKind, ExportLook


def _write(
    runs: Sequence[ExportedRun], _look: ExportLook, ending: str, _resources: Path
) -> ExportFile:
    from spatialstudio.adapters.exports.tables import csv_bytes, jsonl_bytes

    return ExportFile(content=csv_bytes(runs) if ending == "csv" else jsonl_bytes(runs))


KIND = ExportKind(
    id="table",
    label="Table",
    help="Numbers, one line per relation; all runs in one file.",
    formats=("csv", "jsonl"),
    write=_write,
    order=90,
    is_of_many=True,
)
