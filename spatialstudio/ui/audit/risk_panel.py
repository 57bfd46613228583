"""The risk-coverage curve: drag a threshold, see coverage, risk and the pictures that change."""

from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QCheckBox, QListWidget, QListWidgetItem, QWidget

from spatialstudio.application.audit.analysis import AuditAnalysis
from spatialstudio.application.audit.audit_report import (
    contents_of,
    curve_caption,
    curve_table,
)
from spatialstudio.application.audit.curve import RiskCurve, curve_of, is_wrong
from spatialstudio.application.audit.sessions import sentence_of
from spatialstudio.domain.audit_figures import AuditedSample, HumanUndecidable, RiskPoint
from spatialstudio.domain.errors import ExportError
from spatialstudio.ui.audit.analysis_panel import AnalysisPanel
from spatialstudio.ui.audit.widgets.audit_plots import CurvePoint, RiskPlot
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.framework.plot_saving import save_plot
from spatialstudio.ui.run.widgets.fields import share_field
from spatialstudio.ui.widgets.builders import flow, grow, push_button, row
from spatialstudio.ui.widgets.fields import DecimalBox, EditLine, Slider
from spatialstudio.ui.widgets.texts import PlainLabel, TextLabel, Tone, plain_tip, tr

STEPS = 1000
MOST_LISTED = 200
MOST_RISK, LEAST_COVERAGE = 0.05, 0.5
"""Limits of the operating points before the user changes them."""


class RiskPanel(AnalysisPanel):
    """Shows the curve of the open session, and saves a chosen threshold as a preset."""

    title = "Risk and coverage"

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        self._analysis: AuditAnalysis | None = None
        self._curve: RiskCurve | None = None
        self._threshold = self._before = 0.0
        self._plot = RiskPlot(context.theme)
        self._plot.threshold_picked.connect(self._take)
        self._plot.save_asked.connect(lambda plot: save_plot(context.toasts, plot))
        self._slider = Slider(orientation=Qt.Orientation.Horizontal, maximum=STEPS)
        self._slider.setAccessibleName(tr("Minimum confidence slider"))
        self._slider.valueChanged.connect(lambda value: self._take(value / STEPS))
        self._number = share_field(tr("Minimum confidence"), 1.0, decimals=3, singleStep=0.01)
        self._number.valueChanged.connect(self._take)
        self._weighted = QCheckBox(tr("Weighted to the population"))
        self._as_errors = QCheckBox(tr("UNDECIDABLE of people counts as an error"))
        for box in (self._weighted, self._as_errors):
            box.toggled.connect(lambda _on: self._draw_curve())
        self._figures = TextLabel()
        self._summary = TextLabel(tone=Tone.MUTED, small=True)
        self._most_risk = share_field(tr("Risk at most"), 1.0, value=MOST_RISK)
        self._least_coverage = share_field(tr("Coverage at least"), 1.0, value=LEAST_COVERAGE)
        for field in (self._most_risk, self._least_coverage):
            field.valueChanged.connect(self._show_summary)
        self._changes = TextLabel(tone=Tone.MUTED, small=True)
        self._list = self._sides()
        self._name = EditLine(placeholderText=tr("Name of a preset"))
        self._name.setAccessibleName(tr("Name of the preset"))
        self._save = push_button(
            tr("Save as a preset"),
            self._save_preset,
            tip=tr("Checker settings with this minimum confidence, and the evidence for it"),
        )
        self._export = push_button(
            tr("Export…"), self._ask_export, tip=tr("Figure (PDF, SVG, PNG) or table (CSV, LaTeX)")
        )
        threshold = row(grow(self._slider), self._number, gap=0.5)
        saving = row(grow(self._name), self._save, self._export, gap=0.5)
        self.lay_out(
            grow(self._plot),
            threshold,
            self._figures,
            flow(self._weighted, self._as_errors, gap=0.8),
            flow(*map(_labelled, (self._most_risk, self._least_coverage)), gap=0.8),
            self._summary,
            saving,
            self._changes,
            self._list,
        )

    def _sides(self) -> QListWidget:
        """Return an empty list of pictures that change sides; a click shows one."""
        made = QListWidget()
        made.setAccessibleName(tr("Pictures that change sides"))
        made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        made.setTextElideMode(Qt.TextElideMode.ElideRight)
        made.itemActivated.connect(self._pick)
        made.itemClicked.connect(self._pick)
        made.setFixedHeight(made.fontMetrics().lineSpacing() * 9)
        return made

    def show_analysis(self, analysis: AuditAnalysis | None) -> None:
        """Show the curve."""
        self._analysis = analysis
        self._before = self._threshold = 0.0
        self._draw_curve()

    def _draw_curve(self) -> None:
        analysis = self._analysis
        if analysis is None:
            self._curve = None
            self._plot.show_curve(())
            self._list.clear()
            for label in (self._figures, self._summary, self._changes):
                label.clear()
            return
        how = HumanUndecidable.ERROR if self._as_errors.isChecked() else HumanUndecidable.EXCLUDED
        curve = curve_of(analysis.samples, how, weighted=self._weighted.isChecked())
        self._curve = curve
        points = [
            CurvePoint(
                threshold=point.threshold,
                coverage=point.coverage,
                risk=point.risk,
                samples=tuple(self._in_words(one) for one in curve.leaving(point)),
            )
            for point in curve.points
            if point.covered
        ]
        self._plot.show_curve(points)
        self._show_summary()
        self._take(self._threshold)

    def _show_summary(self) -> None:
        """Show the mean risk, and the operating points within the chosen limits."""
        curve = self._curve
        if curve is None or curve.area is None:
            self._summary.clear()
            return
        words = [tr("Mean risk over coverage: {area}.").format(area=f"{curve.area:.3f}")]
        risk, coverage = self._most_risk.value(), self._least_coverage.value()
        limits = (
            (tr("Risk at most {limit}: {point}."), risk, curve.widest(risk)),
            (tr("Coverage at least {limit}: {point}."), coverage, curve.safest(coverage)),
        )
        for text, limit, point in limits:
            words.append(text.format(limit=f"{limit:g}", point=_point_in_words(point)))
        self._summary.setText(" ".join(words))

    def _take(self, threshold: float) -> None:
        """Show coverage, risk and changes at a threshold."""
        curve = self._curve
        if curve is None:
            return
        self._threshold = threshold
        for field, value in ((self._slider, round(threshold * STEPS)), (self._number, threshold)):
            with QSignalBlocker(field):
                field.setValue(value)  # type: ignore[arg-type]
        self._plot.show_threshold(threshold)
        point = curve.at(threshold)
        words = tr("Coverage {coverage}, risk {risk}: {wrong} wrong of {tested} with an answer")
        wrong = round(point.risk * point.evaluated) if not curve.weighted else None
        if curve.weighted:
            words = tr("Coverage {coverage}, risk {risk} of the population")
        self._figures.setText(
            words.format(
                coverage=f"{point.coverage:.3f}",
                risk=f"{point.risk:.3f}",
                wrong=wrong,
                tested=point.evaluated,
            )
        )
        self._show_changes(curve, threshold)

    def _show_changes(self, curve: RiskCurve, threshold: float) -> None:
        changed = curve.changed(self._before, threshold)
        wrong = sum(is_wrong(one, curve.undecidable) for one in changed)
        words = tr("{count} pictures become UNDECIDABLE, {wrong} of them wrong verdicts")
        self._changes.setText(words.format(count=len(changed), wrong=wrong))
        self._list.clear()
        for one in changed[:MOST_LISTED]:
            item = QListWidgetItem(self._in_words(one, "\n"))
            item.setToolTip(plain_tip(item.text()))
            item.setData(Qt.ItemDataRole.UserRole, one.id)
            self._list.addItem(item)

    def _pick(self, item: QListWidgetItem) -> None:
        self._desk.pick(item.data(Qt.ItemDataRole.UserRole))

    def _in_words(self, one: AuditedSample, gap: str = " ") -> str:
        analysis = self._analysis
        item = analysis.items.get(one.id) if analysis else None
        claim = sentence_of(item) if item else one.id
        human = one.human.value if one.human else tr("no label")
        words = tr("{checker} {confidence}, people {human}")
        answers = words.format(
            checker=one.checker.value,
            confidence=f"{one.confidence:.2f}",
            human=human,
        )
        return f"{claim}{gap}{answers}"

    def _save_preset(self) -> None:
        analysis = self._analysis
        if analysis is not None:
            name = self._name.text().strip()
            self.save_preset(name, analysis, analysis.calibration, self._threshold)

    def _ask_export(self) -> None:
        self.ask_export("risk-coverage", self.content_of)

    def content_of(self, target: Path) -> bytes:
        """Return the curve as a figure or a table; the ending selects the format.

        Raises:
            ExportError: There is no curve, or no such format.
        """
        curve, analysis = self._curve, self._analysis
        if curve is None or analysis is None:
            raise ExportError("There is no curve to export.")
        raters = ", ".join(sorted({label.rater for label in analysis.labels}))
        weights = tr("weighted to the population") if curve.weighted else tr("unweighted")
        open_ = tr("UNDECIDABLE of people: {how}").format(how=curve.undecidable.value)
        caption = curve_caption(
            len(curve.samples),
            tr("the labels of {raters}").format(raters=raters),
            f"{weights}; {open_}",
        )
        audits = self._desk.audits
        at = curve.at(self._threshold).threshold
        marked = min((p.threshold for p in curve.points if p.threshold >= at), default=None)
        return contents_of(
            target,
            curve_table(curve.points),
            lambda ending: audits.figures.risk_coverage(
                curve.points, marked, caption, audits.look, ending
            ),
        )


def _labelled(field: DecimalBox) -> QWidget:
    """Return a field beside its name."""
    label = PlainLabel(field.accessibleName(), tone=Tone.MUTED)
    label.setBuddy(field)
    both = QWidget()
    row(label, field, within=both, gap=0.4)
    return both


def _point_in_words(point: RiskPoint | None) -> str:
    if point is None:
        return tr("no threshold")
    words = tr("coverage {coverage}, risk {risk} from confidence {threshold}")
    return words.format(
        coverage=f"{point.coverage:.3f}",
        risk=f"{point.risk:.3f}",
        threshold=f"{point.threshold:.3f}",
    )
