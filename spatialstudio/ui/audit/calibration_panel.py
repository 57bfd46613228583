"""Reliability of the confidence, and the threshold that the published objective chooses."""

from spatialstudio.application.audit.analysis import FOLDS, AuditAnalysis
from spatialstudio.application.audit.audit_report import (
    FIGURE_ENDINGS,
    TABLE_ENDINGS,
    contents_of,
    reliability_caption,
    reliability_table,
)
from spatialstudio.domain.audit_figures import ObjectiveRow
from spatialstudio.ui.audit.analysis_panel import AnalysisPanel
from spatialstudio.ui.audit.widgets.audit_plots import ReliabilityPlot
from spatialstudio.ui.audit.widgets.figure_table import FigureTable
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.framework.plot_saving import save_plot
from spatialstudio.ui.widgets.builders import flow, grow, push_button
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

MAPS = {"isotonic": "isotonic", "platt": "Platt"}
TOO_FEW = "The reliability needs at least {count} pictures that checker and people decide."


class CalibrationPanel(AnalysisPanel):
    """Shows the reliability diagram, calibration error and threshold search."""

    title = "Calibration"

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        self._plot = ReliabilityPlot(context.theme)
        self._plot.save_asked.connect(lambda plot: save_plot(context.toasts, plot))
        self._error = TextLabel()
        self._table = FigureTable(tr("Thresholds and their objective"))
        self._held_out = TextLabel(tone=Tone.MUTED, small=True)
        self._analysis: AuditAnalysis | None = None
        tip = tr("Figure (PDF, SVG, PNG) or table (CSV, LaTeX)")
        export = push_button(tr("Export…"), self._ask_export, tip=tip)
        self.lay_out(
            grow(self._plot), self._error, flow(export, gap=0.5), self._table, self._held_out
        )

    def missing(self, analysis: AuditAnalysis) -> str:
        """Return what the reliability needs, if there are too few votes."""
        return "" if analysis.calibration else tr(TOO_FEW).format(count=FOLDS)

    def show_analysis(self, analysis: AuditAnalysis | None) -> None:
        """Show reliability and thresholds."""
        self._analysis = analysis
        report = analysis.calibration if analysis else None
        self._plot.show_bins(report.bins if report else ())
        if report is None:
            self._table.show_rows((), ())
            for label in (self._error, self._held_out):
                label.clear()
            return
        words = tr("Calibration error {before}; with a map of the other folds: {after}")
        errors = analysis.map_errors if analysis else {}
        after = ", ".join(f"{tr(MAPS[name])} {_share(error)}" for name, error in errors.items())
        self._error.setText(words.format(before=_share(report.error), after=after))
        columns = (tr("Threshold"), tr("False PASS"), tr("Risk"), tr("Coverage"), tr("J"))
        self._table.show_rows(columns, [_row(each) for each in report.rows])
        words = tr(
            "On pictures that did not choose the threshold ({folds} folds): risk {risk}, coverage "
            "{coverage}, J {objective}. J = 10 false PASS + 2 risk + 0.5 (1 - coverage)."
        )
        held_out = report.held_out
        self._held_out.setText(
            words.format(
                folds=len(report.folds),
                risk=_share(held_out.risk),
                coverage=_share(held_out.coverage),
                objective=f"{held_out.objective:.3f}",
            )
        )

    def _ask_export(self) -> None:
        audits = self._desk.audits
        report = self._analysis.calibration if self._analysis else None
        if report is None:
            return
        caption = reliability_caption(report, "people")
        self.ask_export(
            "reliability.pdf",
            (*FIGURE_ENDINGS, *TABLE_ENDINGS),
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


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"  # noqa: RUF001 - a dash
