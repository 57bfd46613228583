"""Exports the report, comparisons and cells of the open benchmark in the background."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from spatialstudio.application.benchmark.export_cells import export_cells
from spatialstudio.application.benchmark.export_report import export_comparisons, export_report
from spatialstudio.application.benchmark.monitor import BenchmarkView
from spatialstudio.ui.benchmark import commands
from spatialstudio.ui.framework.confirmation import file_to_write
from spatialstudio.ui.framework.file_reading import Subject
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.widgets.texts import tr

Write = Callable[[Path], Path]
"""Writes a file by its suffix, and returns it."""


class ReportExporting(QObject):
    """Asks for a file and writes the report of what is judged so far, or a part of it.

    Args:
        context: Services of the window; its command is bound.
        parent: Parent of the dialogs; its ``problem_met`` reports errors.
        filter_line: Returns the filter line of the shown cells.
    """

    def __init__(
        self, context: WindowContext, parent: QWidget, filter_line: Callable[[], str]
    ) -> None:
        super().__init__(parent)
        self._context = context
        self._parent = parent
        self._filter_line = filter_line
        context.actions.bind(commands.EXPORT, self.ask)

    def ask(self) -> None:
        """Ask for a file; its kind selects what is written, its suffix the format."""
        view = self._context.benchmark.view
        if view is None:
            self._context.toasts.tell(tr("Open a benchmark to export its report."))
            return
        kinds = self.kinds(view)
        start = str(view.folder.parent / f"{view.folder.name}-report.html")
        chosen, kind = QFileDialog.getSaveFileName(
            self._parent, tr("Export the report"), start, ";;".join(kinds)
        )
        ending = kind.rpartition("*.")[2].rstrip(")") or "html"
        target = file_to_write(self._parent, Path(chosen), ending) if chosen else None
        if target is not None:
            self._export(kinds[kind or next(iter(kinds))], target)

    def kinds(self, view: BenchmarkView) -> Mapping[str, Write]:
        """Return what can be written of a benchmark, by the name filters of a file dialog."""
        open_studio = self._context.benchmark.open_studio
        report = partial(export_report, open_studio, view.folder)
        comparisons = partial(export_comparisons, open_studio, view.folder)
        cells = partial(export_cells, open_studio, view.table, self._filter_line())
        return {
            tr("Report with linked pictures") + " (*.html)": report,
            tr("All figures as a table") + " (*.csv)": report,
            tr("Main figures as a LaTeX table") + " (*.tex)": report,
            tr("Comparisons of methods as a table") + " (*.csv)": comparisons,
            tr("Comparisons of methods as a LaTeX table") + " (*.tex)": comparisons,
            tr("Shown cells as a table") + " (*.csv)": cells,
            tr("Shown cells as a LaTeX table") + " (*.tex)": cells,
        }

    def _export(self, write: Write, target: Path) -> None:
        self._context.reading.read(
            Subject.REPORT,
            tr("Exporting the report"),
            partial(write, target),
            self._tell,
            self._context.toasts.report,
        )

    def _tell(self, target: Path) -> None:
        self._context.toasts.tell(tr("Wrote {name}.").format(name=target.name))
