"""A sheet of attention maps over the steps."""

from collections.abc import Sequence
from pathlib import Path

from spatialstudio.domain.export import ExportedRun, ExportFile, ExportKind, ExportLook, LookOption


def _write(
    runs: Sequence[ExportedRun], look: ExportLook, ending: str, resources: Path
) -> ExportFile:
    from spatialstudio.adapters.exports.sheets import attention_sheet
    from spatialstudio.adapters.exports.write_figure import figure_file

    (run,) = runs
    return figure_file(attention_sheet(run, look), look, ending, resources / "fonts")


KIND = ExportKind(
    id="attention",
    label="Attention sheet",
    help="Attention maps of all words over the steps.",
    formats=("png", "svg", "pdf"),
    write=_write,
    order=20,
    reads=frozenset({LookOption.COLOURS, LookOption.MARK}),
)
