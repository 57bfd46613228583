"""Exports the report on the open benchmark in the background."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from spatialstudio.application.benchmark.export_report import export_report
from spatialstudio.ui.benchmark import commands
from spatialstudio.ui.framework.confirmation import file_to_write
from spatialstudio.ui.framework.file_reading import Subject
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.widgets.texts import tr


class ReportExporting(QObject):
    """Asks for a file and writes the report of what is judged so far.

    Args:
        context: Services of the window; its command is bound.
        parent: Parent of the dialogs; its ``problem_met`` reports errors.
    """

    def __init__(self, context: WindowContext, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self._parent = parent
        context.actions.bind(commands.EXPORT, self.ask)

    def ask(self) -> None:
        """Ask for a file; its suffix selects the kind of report."""
        view = self._context.benchmark.view
        if view is None:
            self._context.toasts.tell(tr("Open a benchmark to export its report."))
            return
        kinds = ";;".join(
            (
                tr("Report with linked pictures") + " (*.html)",
                tr("All figures as a table") + " (*.csv)",
                tr("LaTeX table") + " (*.tex)",
            )
        )
        start = str(view.folder.parent / f"{view.folder.name}-report.html")
        chosen, kind = QFileDialog.getSaveFileName(
            self._parent, tr("Export the report"), start, kinds
        )
        ending = kind.rpartition("*.")[2].rstrip(")") or "html"
        target = file_to_write(self._parent, Path(chosen), ending) if chosen else None
        if target is not None:
            self.export(view.folder, target)

    def export(self, folder: Path, target: Path) -> None:
        """Write the report of a benchmark to a file."""
        self._context.reading.read(
            Subject.REPORT,
            tr("Exporting the report"),
            partial(export_report, self._context.benchmark.open_studio, folder, target),
            self._tell,
            self._context.toasts.report,
        )

    def _tell(self, target: Path) -> None:
        self._context.toasts.tell(tr("Wrote {name}.").format(name=target.name))
