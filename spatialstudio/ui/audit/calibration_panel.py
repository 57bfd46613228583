"""Reliability of the confidence, and the search of thresholds and margins."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

from PySide6.QtWidgets import QFileDialog

from spatialstudio.application.audit.analysis import AuditAnalysis
from spatialstudio.application.audit.audit_report import (
    contents_of,
    reliability_caption,
    reliability_table,
)
from spatialstudio.application.audit.calibration import (
    FOLDS,
    CalibrationReport,
    RecordedSearch,
)
from spatialstudio.application.error_reports import report_on
from spatialstudio.application.evaluate.recorded_runs import MARGINS
from spatialstudio.application.run.plan_sweep import read_axis
from spatialstudio.domain.audit_figures import ObjectiveRow
from spatialstudio.domain.errors import ErrorReport, StudioError
from spatialstudio.domain.sweep import SweepField
from spatialstudio.ui.audit.analysis_panel import AnalysisPanel
from spatialstudio.ui.audit.widgets.audit_plots import ReliabilityPlot
from spatialstudio.ui.audit.widgets.figure_table import FigureTable
from spatialstudio.ui.framework.file_reading import Subject
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.framework.plot_saving import save_plot
from spatialstudio.ui.widgets.builders import flow, grow, push_button, row
from spatialstudio.ui.widgets.fields import EditLine
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

MAPS = {"isotonic": "isotonic", "platt": "Platt"}
TOO_FEW = "The reliability needs at least {count} pictures that checker and people decide."
SEARCH_FILES = "Recorded searches (*.json)"


class CalibrationPanel(AnalysisPanel):
    """Shows reliability, calibration error, and the search of thresholds and margins."""

    title = "Calibration"

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        self._plot = ReliabilityPlot(context.theme)
        self._plot.save_asked.connect(lambda plot: save_plot(context.toasts, plot))
        self._error = TextLabel()
        self._table = FigureTable(tr("Thresholds and margins with their objective"))
        self._chosen = TextLabel()
        self._held_out = TextLabel(tone=Tone.MUTED, small=True)
        self._recorded = TextLabel(tone=Tone.MUTED, small=True)
        self._analysis: AuditAnalysis | None = None
        self._report: CalibrationReport | None = None
        self._margins = EditLine(", ".join(f"{each:g}" for each in MARGINS))
        self._margins.setAccessibleName(tr("Margins to search"))
        self._margins.returnPressed.connect(self.search_margins)
        search = push_button(
            tr("Search margins"),
            self.search_margins,
            tip=tr("Judge the sample again from its stored perception with each margin"),
        )
        self._name = EditLine(placeholderText=tr("Name of a preset"))
        self._name.setAccessibleName(tr("Name of the preset"))
        save = push_button(
            tr("Save as a preset"),
            self._save_preset,
            tip=tr("Checker settings with the least J, and the evidence for them"),
        )
        compare = push_button(
            tr("Recorded search…"),
            self._ask_recorded,
            tip=tr("J as searched (audit_metrics.json of a release) beside J of these verdicts"),
        )
        tip = tr("Figure (PDF, SVG, PNG) or table (CSV, LaTeX)")
        export = push_button(tr("Export…"), self._ask_export, tip=tip)
        self.lay_out(
            grow(self._plot),
            self._error,
            row(grow(self._margins), search, gap=0.5),
            self._table,
            self._chosen,
            self._held_out,
            row(grow(self._name), save, gap=0.5),
            flow(compare, export, gap=0.5),
            self._recorded,
        )

    def missing(self, analysis: AuditAnalysis) -> str:
        """Return what the reliability needs, if there are too few votes."""
        return "" if analysis.calibration else tr(TOO_FEW).format(count=FOLDS)

    def show_analysis(self, analysis: AuditAnalysis | None) -> None:
        """Show reliability and thresholds."""
        self._analysis = analysis
        report = analysis.calibration if analysis else None
        self._plot.show_bins(report.bins if report else ())
        self._recorded.hide()
        if report is None:
            self._report = None
            self._table.show_rows((), ())
            for label in (self._error, self._chosen, self._held_out):
                label.clear()
            return
        words = tr("Calibration error {before}; with a map of the other folds: {after}")
        errors = analysis.map_errors if analysis else {}
        after = ", ".join(f"{tr(MAPS[name])} {_share(error)}" for name, error in errors.items())
        self._error.setText(words.format(before=_share(report.error), after=after))
        self._show_search(report, [_row(each) for each in report.rows])

    def search_margins(self) -> None:
        """Search the entered margins in a thread."""
        analysis, title = self._analysis, tr("Searching margins")
        if analysis is None:
            return
        try:
            axis = read_axis(SweepField("margin", tr("Margin")), self._margins.text())
        except StudioError as error:
            self.problem_met.emit(report_on(error, title))
            return

        def show(report: CalibrationReport) -> None:
            if analysis is self._analysis:
                self._show_search(report, [*_grouped(report.rows)])

        self._chosen.setText(tr("Searching margins…"))
        self._context.reading.read(
            Subject.MARGINS,
            title,
            partial(self._desk.search_margins, analysis, axis.values),
            show,
            self._fail,
        )

    def _fail(self, report: ErrorReport) -> None:
        self._show_chosen()
        self.problem_met.emit(report)

    def _show_search(self, report: CalibrationReport, rows: Sequence[Sequence[str]]) -> None:
        """Show all rows, and what the search chose."""
        self._report = report
        columns = (tr("Threshold"), tr("False PASS"), tr("Risk"), tr("Coverage"), tr("J"))
        self._table.show_rows(columns, rows)
        self._show_chosen()

    def _show_chosen(self) -> None:
        report = self._report
        if report is None:
            return
        best, held_out = report.best, report.held_out
        words = tr("Least J {objective}: threshold {threshold}, margin {margin}")
        self._chosen.setText(
            words.format(
                objective=f"{best.objective:.3f}",
                threshold=f"{best.threshold:.2f}",
                margin=_margin(best),
            )
        )
        words = tr(
            "On held-out pictures ({folds} folds): risk {risk}, coverage "
            "{coverage}, J {objective}. J = 10 false PASS + 2 risk + 0.5 (1 - coverage)."
        )
        self._held_out.setText(
            words.format(
                folds=len(report.folds),
                risk=_share(held_out.risk),
                coverage=_share(held_out.coverage),
                objective=f"{held_out.objective:.3f}",
            )
        )

    def _save_preset(self) -> None:
        if self._analysis is not None:
            self.save_preset(self._name.text().strip(), self._analysis, self._report)

    def _ask_recorded(self) -> None:
        folder = str(self._context.settings.export_folder)
        name, _ = QFileDialog.getOpenFileName(
            self.window(), tr("Compare with a recorded search"), folder, tr(SEARCH_FILES)
        )
        if name:
            self.compare_recorded(Path(name))

    def compare_recorded(self, path: Path) -> None:
        """Show the J of a recorded search beside that of the verdicts of this sample."""
        if self._analysis is None:
            return
        try:
            search = self._desk.audits.recorded_search(path, self._analysis.samples)
        except StudioError as error:
            self.problem_met.emit(report_on(error, tr("Reading the recorded search")))
        else:
            self._recorded.show_text(_in_words(search))

    def _ask_export(self) -> None:
        audits = self._desk.audits
        report = self._analysis.calibration if self._analysis else None
        if report is None:
            return
        caption = reliability_caption(report, "people")
        self.ask_export(
            "reliability",
            lambda to: contents_of(
                to,
                reliability_table(report),
                lambda ending: audits.figures.reliability(
                    report.bins, caption, audits.look, ending
                ),
            ),
        )


def _row(row: ObjectiveRow) -> tuple[str, ...]:
    shares = (row.false_pass_rate, row.risk, row.coverage)
    return (f"{row.threshold:.2f}", *map(_share, shares), f"{row.objective:.3f}")


def _grouped(rows: Sequence[ObjectiveRow]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of each margin below its heading."""
    for margin, group in groupby(rows, _margin):
        yield (tr("Margin {margin}").format(margin=margin),)
        yield from map(_row, group)


def _margin(row: ObjectiveRow) -> str:
    return ", ".join(f"{value:g}" for value in row.settings.values()) or tr("as recorded")


def _in_words(search: RecordedSearch) -> str:
    chosen, deployed = search.chosen, search.deployed
    values = {"threshold": chosen.threshold, **chosen.settings}
    settings = (f"{name.replace('_', ' ')} {value:g}" for name, value in values.items())
    words = tr(
        "Recorded search: J {searched} at {settings}. These verdicts at "
        "that threshold: J {deployed} ({gap}). A difference means that the deployed checker is "
        "not the one that was searched."
    )
    return words.format(
        searched=f"{chosen.objective:.5f}",
        settings=", ".join(settings),
        deployed=f"{deployed.objective:.5f}",
        gap=f"{search.gap:+.5f}",
    )


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"  # noqa: RUF001 - a dash
