"""PoS over the steps."""

from collections.abc import Sequence
from pathlib import Path

from spatialstudio.domain.export import ExportedRun, ExportFile, ExportKind, ExportLook, LookOption


def _write(
    runs: Sequence[ExportedRun], look: ExportLook, ending: str, resources: Path
) -> ExportFile:
    from spatialstudio.adapters.exports.sheets import curves
    from spatialstudio.adapters.exports.write_figure import figure_file

    (run,) = runs
    return figure_file(curves(run, look), look, ending, resources / "fonts")


KIND = ExportKind(
    id="curves",
    label="Curves",
    help="PoS over the steps, one curve per relation.",
    formats=("png", "svg", "pdf"),
    write=_write,
    order=40,
    reads=frozenset({LookOption.COLOURS}),
)
