"""The labelled grid of a sweep."""

from collections.abc import Sequence
from pathlib import Path

from spatialstudio.domain.export import ExportedRun, ExportFile, ExportKind, ExportLook, LookOption


def _write(
    runs: Sequence[ExportedRun], look: ExportLook, ending: str, resources: Path
) -> ExportFile:
    from spatialstudio.adapters.exports.sweep_sheet import sweep_sheet
    from spatialstudio.adapters.exports.write_figure import figure_file

    return figure_file(sweep_sheet(runs, look), look, ending, resources / "fonts")


KIND = ExportKind(
    id="sweep",
    label="Sweep grid",
    help="The chosen runs of a sweep as a grid with labelled axes.",
    formats=("png", "svg", "pdf"),
    write=_write,
    order=50,
    is_of_many=True,
    reads=frozenset({LookOption.COLOURS, LookOption.MARK}),
)
