"""The picture with layers, legend and scale."""

from collections.abc import Sequence
from pathlib import Path

from spatialstudio.domain.export import ExportedRun, ExportFile, ExportKind, ExportLook, LookOption


def _write(
    runs: Sequence[ExportedRun], look: ExportLook, ending: str, resources: Path
) -> ExportFile:
    from spatialstudio.adapters.exports.annotated_picture import annotated_picture
    from spatialstudio.adapters.exports.write_figure import figure_file

    (run,) = runs
    return figure_file(annotated_picture(run, look), look, ending, resources / "fonts")


KIND = ExportKind(
    id="annotated",
    label="Annotated picture",
    help="The picture with its layers, legend and scale.",
    formats=("png", "svg", "pdf"),
    write=_write,
    order=10,
    reads=frozenset({LookOption.COLOURS, LookOption.LAYERS, LookOption.MARK}),
)
