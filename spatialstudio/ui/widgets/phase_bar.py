"""Progress of a job: its phases in a row with thin bars, and the time left."""

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QWidget

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.builders import SPACE, column, row
from spatialstudio.ui.widgets.texts import PlainLabel, Tone, tr

FINE = 1000
BAR_EM = 0.25
SHORTEST_EM = 1.5
"""Minimum width of a bar; the names of other phases are hidden first."""
NARROWEST_EM = 12
GAP_EM, EDGE_EM = 0.9, 0.9
UNBOUND = 16_777_215
"""Qt's QWIDGETSIZE_MAX: no maximum width."""


@frozen(kw_only=False)
class Progress:
    """Progress of a job.

    Attributes:
        job: "Guided", "Baseline" or "Seed 8"; empty when it needs no name.
        phases: Names in order.
        current: Index of the current phase; None when nothing runs.
        detail: Next to the phase's name: "7 of 16".
        share: Progress of the phase, [0, 1]; None if unknown.
        remaining: "about 4 s left"; empty if unknown.
        queue: "3 waiting"; empty when nothing waits.
        message: Shown when nothing runs.
    """

    job: str = ""
    phases: tuple[str, ...] = ()
    current: int | None = None
    detail: str = ""
    share: float | None = None
    remaining: str = ""
    queue: str = ""
    message: str = ""


class PhaseMeter(QWidget):
    """One phase: its name above a thin bar that is empty, determinate, indeterminate or full."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[str, float | None, bool] | None = None
        self._name = PlainLabel()
        self._bar = QProgressBar(textVisible=False)
        self._bar.setFixedHeight(em(BAR_EM))
        self._bar.setMinimumWidth(em(SHORTEST_EM))
        column(self._name, self._bar, within=self, gap=0.2)

    @classmethod
    def hidden(cls) -> "PhaseMeter":
        """Return a meter that takes the height of the current phase, and no width."""
        meter = cls()
        meter.show_phase("0", None, is_current=True)
        policy = meter.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        meter.setSizePolicy(policy)
        meter.setFixedWidth(0)
        meter.hide()
        return meter

    @property
    def named_width(self) -> int:
        """Minimum width with its name, in pixels."""
        return max(self._name.sizeHint().width(), em(SHORTEST_EM))

    def show_name(self, shown: bool) -> None:
        """Show or hide the name, keeping its room."""
        self._name.setMaximumWidth(UNBOUND if shown else 0)

    def show_phase(self, name: str, share: float | None, *, is_current: bool) -> None:
        """Show the phase's progress; None if unknown."""
        if (name, share, is_current) == self._shown:
            return
        self._shown = (name, share, is_current)
        self._name.setText(name)
        tone = "heading" if is_current else "muted"
        if self._name.property("tone") != tone:
            self._name.setProperty("tone", tone)
            self._name.style().unpolish(self._name)
            self._name.style().polish(self._name)
        self._bar.setAccessibleName(name)
        self._bar.setUpdatesEnabled(False)  # Qt would repaint the whole window at once
        self._bar.setRange(0, 0 if share is None else FINE)
        self._bar.setValue(round((share or 0.0) * FINE))
        self._bar.setUpdatesEnabled(True)


class PhaseBar(QWidget):
    """Shows the progress of the running job, or an idle message."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tr("Progress"))
        self._message = PlainLabel(tone=Tone.MUTED)
        self._job = PlainLabel(tone=Tone.HEADING)
        self._meters: list[PhaseMeter] = []
        self._current = 0
        self._remaining = PlainLabel(tone=Tone.MUTED)
        self._queue = PlainLabel(tone=Tone.MUTED)
        self._running = QWidget()
        parts = (self._job, SPACE, self._remaining, self._queue)
        self._row = row(*parts, within=self._running, gap=GAP_EM)
        edges = (EDGE_EM, 0.35, EDGE_EM, 0.35)
        room = PhaseMeter.hidden()  # keeps the height when nothing runs
        row(self._message, self._running, room, within=self, gap=0, edges=edges)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.show_progress(Progress())

    def show_progress(self, progress: Progress) -> None:
        """Show the job's progress."""
        runs = progress.current is not None
        if runs:
            self._job.show_text(progress.job)
            self._show_phases(progress)
            self._remaining.setText(progress.remaining)
            self._queue.show_text(progress.queue)
        self._message.setText(progress.message)
        self._message.setVisible(not runs)
        self._running.setVisible(runs)
        if runs:
            self._name_phases()
        self.setAccessibleDescription(self._said(progress))

    def minimumSizeHint(self) -> QSize:
        """Return a small width: a run never widens the window."""
        least = super().minimumSizeHint()
        return QSize(min(least.width(), em(NARROWEST_EM)), least.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._name_phases()

    def _name_phases(self) -> None:
        """Name all phases where there is room, else the current one only."""
        meters = [meter for meter in self._meters if not meter.isHidden()]
        words = [each for each in (self._job, self._remaining, self._queue) if not each.isHidden()]
        parts = [meter.named_width for meter in meters] + [
            each.sizeHint().width() for each in words
        ]
        needed = sum(parts) + len(parts) * em(GAP_EM) + 2 * em(EDGE_EM)
        for place, meter in enumerate(meters):
            meter.show_name(needed <= self.width() or place == self._current)

    def _show_phases(self, progress: Progress) -> None:
        while len(self._meters) < len(progress.phases):
            meter = PhaseMeter()
            self._row.insertWidget(1 + len(self._meters), meter)
            self._meters.append(meter)
        for meter in self._meters[len(progress.phases) :]:
            meter.hide()
        current = self._current = progress.current or 0
        for place, (meter, phase) in enumerate(zip(self._meters, progress.phases, strict=False)):
            is_current = place == current
            name = f"{phase} {progress.detail}".strip() if is_current else phase
            share = progress.share if is_current else float(place < current)
            meter.show_phase(name, share, is_current=is_current)
            meter.show()

    def _said(self, progress: Progress) -> str:
        if progress.current is None:
            return progress.message
        phase = progress.phases[progress.current]
        parts = (progress.job, phase, progress.detail, progress.remaining, progress.queue)
        return " ".join(filter(None, parts))
