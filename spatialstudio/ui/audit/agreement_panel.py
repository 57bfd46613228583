"""Confusion, agreement, consistency of raters, and the human study of metrics."""

from collections.abc import Iterator
from functools import partial

from spatialstudio.application.audit.analysis import AuditAnalysis
from spatialstudio.application.audit.audit_report import (
    COEFFICIENTS,
    AuditTable,
    agreement_figure,
    agreement_table,
    contents_of,
    study_figure,
    study_table,
)
from spatialstudio.application.audit.audits import AgreementReport
from spatialstudio.application.audit.human_study import MetricReport
from spatialstudio.domain.audit_figures import OUTCOMES, AgreementFigure
from spatialstudio.domain.interval import Interval
from spatialstudio.ui.audit.analysis_panel import AnalysisPanel
from spatialstudio.ui.audit.widgets.figure_table import FigureTable
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.widgets.builders import flow, push_button
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

FIGURE_NAMES = {"accuracy": "Accuracy", "precision": "Precision", "recall": "Recall", "f1": "F1"}


class AgreementPanel(AnalysisPanel):
    """Shows how checker, metrics and raters agree."""

    title = "Agreement"

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        self._confusion = FigureTable(tr("Confusion of checker and people"))
        self._figures = FigureTable(tr("Agreement with intervals"))
        self._study = FigureTable(tr("Metrics against people"))
        self._notes = TextLabel(tone=Tone.MUTED, small=True)
        self._analysis: AuditAnalysis | None = None
        tip = tr("Figure (PDF, SVG, PNG) or table (CSV, LaTeX)")
        agreement = push_button(tr("Export agreement…"), self._ask_agreement, tip=tip)
        study = push_button(tr("Export metrics…"), self._ask_study, tip=tip)
        every = push_button(
            tr("Compare all metrics"),
            self._desk.compare_all_metrics,
            tip=tr("Compute every metric on the runs of the library in the sample"),
        )
        exports = flow(every, agreement, study, gap=0.5)
        self.lay_out(self._confusion, self._figures, self._study, exports, self._notes)

    def show_analysis(self, analysis: AuditAnalysis | None) -> None:
        """Show confusion, agreement and the human study."""
        self._analysis = analysis
        if analysis is None:
            for table in (self._confusion, self._figures, self._study):
                table.show_rows((), ())
            self._notes.clear()
            return
        counts = analysis.agreement.confusion
        header = (tr("Checker / people"), *(each.value for each in OUTCOMES))
        rows = [
            (checker.value, *(str(counts.count(checker, human)) for human in OUTCOMES))
            for checker in OUTCOMES
        ]
        self._confusion.show_rows(header, rows)
        self._figures.show_rows(
            (tr("Figure"), tr("Value [95 %]")), list(_figures_of(analysis.agreement))
        )
        columns = (tr("Metric against people"), tr("Value [95 %]"))
        self._study.show_rows(columns, [row for each in analysis.study for row in _study(each)])
        self._study.setVisible(bool(analysis.study))
        self._notes.setText("\n".join(_notes_of(analysis)))

    def _ask_agreement(self) -> None:
        if analysis := self._analysis:
            report = analysis.agreement
            self._ask("agreement", agreement_table(report), agreement_figure(report))

    def _ask_study(self) -> None:
        if analysis := self._analysis:
            study = analysis.study
            self._ask("metrics-against-people", study_table(study), study_figure(study))

    def _ask(self, name: str, table: AuditTable, figure: AgreementFigure) -> None:
        audits = self._desk.audits
        draw = partial(audits.figures.agreement, figure, audits.look)
        self.ask_export(name, lambda to: contents_of(to, table, draw))


def _figures_of(report: AgreementReport) -> Iterator[tuple[str, str]]:
    counts = report.confusion
    yield tr("Decided by both"), str(counts.decided_by_both)
    for name, title in FIGURE_NAMES.items():
        value = getattr(counts, name)
        yield tr(title), "-" if value is None else f"{value:.3f}"
    yield tr("Kappa, checker and people"), _text(report.checker_kappa)
    for names, kappa in report.pairs.items():
        yield tr("Kappa, {raters}").format(raters=", ".join(names)), _text(kappa)
    if report.fleiss is not None and report.alpha is not None:
        yield tr("Fleiss' kappa"), _text(report.fleiss)
        yield tr("Krippendorff's alpha"), _text(report.alpha)


def _study(report: MetricReport) -> Iterator[tuple[str, str]]:
    for name, title in COEFFICIENTS.items():
        yield f"{report.label}: {tr(title)}", _text(getattr(report, name))
    if report.best is not None:
        words = tr("{metric}: best threshold").format(metric=report.label)
        yield words, f"{report.best.threshold:.3f}"
    if report.preference is not None:
        words = tr("{metric}: preferences predicted").format(metric=report.label)
        yield words, f"{report.preference:.3f}"


def _notes_of(analysis: AuditAnalysis) -> Iterator[str]:
    for rater, quality in analysis.consistency:
        if quality.repeats:
            words = tr("{rater}: {equal} of {count} repeated pictures with the same answer")
            yield words.format(rater=rater, equal=quality.equal_repeats, count=quality.repeats)
        if quality.gold:
            words = tr("{rater}: {right} of {count} gold items correct")
            right = words.format(rater=rater, right=quality.right_gold, count=quality.gold)
            limit = tr(" (± {tolerance})").format(tolerance=f"{quality.tolerance or 0:g}")
            yield right if quality.tolerance is None else right + limit
    disputed = len(analysis.agreement.disagreements)
    if disputed:
        yield tr("Raters differ on {count} pictures").format(count=disputed)
    for clash in analysis.clashes:
        words = tr("Clash: {rater} on {sample}, {kept} counts")
        yield words.format(
            rater=clash.kept.rater, sample=clash.kept.sample_id, kept=clash.kept.verdict.value
        )


def _text(figure: Interval) -> str:
    return figure.text
