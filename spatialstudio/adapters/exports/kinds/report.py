"""An HTML page that opens offline."""

from collections.abc import Sequence
from pathlib import Path

from spatialstudio.domain.export import ExportedRun, ExportFile, ExportKind, ExportLook, LookOption


def _write(
    runs: Sequence[ExportedRun], look: ExportLook, _ending: str, resources: Path
) -> ExportFile:
    from spatialstudio.adapters.exports.report import report_bytes

    return ExportFile(content=report_bytes(runs, look, resources))


KIND = ExportKind(
    id="report",
    label="Report",
    help="One HTML page; it opens without a network.",
    formats=("html",),
    write=_write,
    order=130,
    is_of_many=True,
    reads=frozenset({LookOption.COLOURS, LookOption.LAYERS, LookOption.MARK}),
)
