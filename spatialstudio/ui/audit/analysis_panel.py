"""A dock that shows a part of the analysis, or why there is none yet."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from spatialstudio.application.audit.analysis import (
    AuditAnalysed,
    AuditAnalysing,
    AuditAnalysis,
)
from spatialstudio.application.audit.calibration import CalibrationReport
from spatialstudio.application.error_reports import report_on
from spatialstudio.domain.errors import StudioError
from spatialstudio.ui.framework.confirmation import asked_target
from spatialstudio.ui.framework.file_reading import Subject
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.widgets.builders import Part, column, grow
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

KINDS = {
    "pdf": "Figure as PDF",
    "svg": "Figure as SVG",
    "png": "Figure as PNG",
    "csv": "Table as CSV",
    "tex": "Table as LaTeX",
}
HIDDEN = "Shown when every picture of the session has a vote."
RUNNING = "Analysing the votes…"
CANCELLED = "The analysis was cancelled. Start it again in the dock Session."


class AnalysisPanel(Panel):
    """Shows the analysis of the open session once votes are no longer blind.

    Subclasses lay out their widgets with ``lay_out`` and fill them in ``show_analysis``.

    Args:
        context: Services of the window.
    """

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        self._desk = context.studio.storage.audit_desk
        self._state = TextLabel(tr(HIDDEN), Tone.MUTED)
        self._state.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._content = QWidget()
        self._content.hide()

    def lay_out(self, *parts: Part) -> None:
        """Put the widgets below each other."""
        column(*parts, within=self._content, gap=0.4)
        column(self._state, grow(self._content), within=self)

    def show_analysis(self, analysis: AuditAnalysis | None) -> None:
        """Show an analysis; None clears what was shown."""
        raise NotImplementedError

    def missing(self, analysis: AuditAnalysis) -> str:  # noqa: ARG002 - for subclasses
        """Return why an analysis has nothing to show here; empty if it has."""
        return ""

    def handle(self, event: object) -> None:
        """Show the analysis, its progress, or why there is none."""
        if isinstance(event, AuditAnalysing) and self._desk.is_analysis_wanted:
            self._state.setText(tr(RUNNING))
            self._state.show()
        elif isinstance(event, AuditAnalysed):
            analysis = self._desk.current(event.analysis)
            words = self.missing(analysis) if analysis else _reason(event)
            self._state.setText(words)
            self._state.setVisible(bool(words))
            self._content.setVisible(not words)
            self.show_analysis(None if words else analysis)

    def ask_export(self, name: str, content: Callable[[Path], bytes]) -> None:
        """Ask for a file and write a figure or a table to it.

        Args:
            name: Suggested name without ending.
            content: Returns the content of a file by its ending.
        """
        kinds = [f"{tr(text)} (*.{ending})" for ending, text in KINDS.items()]
        settings = self._context.settings
        target = asked_target(self.window(), settings, f"{name}.{next(iter(KINDS))}", kinds)
        if target is not None:
            self.write_export(target, content)

    def write_export(self, target: Path, content: Callable[[Path], bytes]) -> None:
        """Write a file; an error is reported."""
        try:
            self._desk.audits.files.write(target, content(target), overwrite=True)
        except StudioError as error:
            self.problem_met.emit(report_on(error, tr("Exporting")))
        else:
            self._context.toasts.tell(tr("Wrote {name}.").format(name=target.name))

    def save_preset(
        self,
        name: str,
        analysis: AuditAnalysis,
        report: CalibrationReport | None,
        threshold: float | None = None,
    ) -> None:
        """Save checker settings as a preset in a thread, and report it; see ``AuditDesk``."""
        self._context.reading.read(
            Subject.PRESET,
            tr("Saving the preset"),
            partial(self._desk.save_preset, name, analysis, report, threshold),
            lambda _path: self._tell_preset(name),
            self.problem_met.emit,
        )

    def _tell_preset(self, name: str) -> None:
        self._context.window_signals.preset_saved.emit(name)
        words = tr('Saved the preset "{name}". Choose it in "Checker settings".')
        self._context.toasts.tell(words.format(name=name))


def _reason(event: AuditAnalysed) -> str:
    if event.problem is not None:
        return f"{event.problem.message} {event.problem.hint}".rstrip()
    return tr(CANCELLED) if event.is_cancelled else tr(HIDDEN)
