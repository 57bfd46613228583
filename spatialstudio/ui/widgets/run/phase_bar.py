"""Where a job is: its phases in a row, a thin bar, and the time that is left."""

from dataclasses import dataclass

from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QSizePolicy, QWidget

from spatialstudio.ui.texts import tr
from spatialstudio.ui.theme.metrics import em

FINE = 1000


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is.

    Attributes:
        job: What is done, "Guided" or "Baseline"; empty when it needs no name.
        phases: Names in order.
        current: Index of the phase that goes on; None when nothing runs.
        detail: Beside the phase's name: "7 of 16".
        share: Of the phase, [0, 1]; None when nobody knows.
        remaining: "about 4 s left"; empty when nobody knows.
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


class PhaseBar(QWidget):
    """Shows the progress of the running job, or a quiet message."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tr("Progress"))
        self._job = QLabel()
        self._job.setProperty("tone", "heading")
        self._names: list[QLabel] = []
        self._bar = QProgressBar()
        self._bar.setAccessibleName(tr("Progress of the phase"))
        self._bar.setTextVisible(False)
        self._bar.setRange(0, FINE)
        self._bar.setFixedWidth(em(14))
        self._remaining = QLabel()
        self._remaining.setProperty("tone", "muted")
        self._queue = QLabel()
        self._queue.setProperty("tone", "muted")
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(em(0.9), em(0.35), em(0.9), em(0.35))
        self._row.setSpacing(em(0.9))
        self._row.addWidget(self._job)
        self._row.addStretch()
        self._row.addWidget(self._remaining)
        self._row.addWidget(self._bar)
        self._row.addWidget(self._queue)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.show_progress(Progress())

    def show_progress(self, progress: Progress) -> None:
        """Show how far the job is."""
        runs = progress.current is not None
        self._job.setText(progress.job if runs else "")
        self._job.setVisible(runs and bool(progress.job))
        self._show_phases(progress if runs else Progress())
        self._bar.setVisible(runs)
        self._bar.setRange(0, 0 if runs and progress.share is None else FINE)
        self._bar.setValue(round((progress.share or 0.0) * FINE))
        self._remaining.setText(progress.remaining if runs else progress.message)
        self._queue.setText(progress.queue)
        self._queue.setVisible(runs and bool(progress.queue))
        self.setAccessibleDescription(self._said(progress))

    def _show_phases(self, progress: Progress) -> None:
        while len(self._names) < len(progress.phases):
            name = QLabel()
            self._row.insertWidget(1 + len(self._names), name)
            self._names.append(name)
        for place, label in enumerate(self._names):
            label.setVisible(place < len(progress.phases))
            if place >= len(progress.phases):
                continue
            is_current = place == progress.current
            text = progress.phases[place]
            label.setText(f"{text} {progress.detail}".strip() if is_current else text)
            tone = "heading" if is_current else "muted"
            if label.property("tone") != tone:
                label.setProperty("tone", tone)
                label.style().unpolish(label)
                label.style().polish(label)

    def _said(self, progress: Progress) -> str:
        if progress.current is None:
            return progress.message
        phase = progress.phases[progress.current]
        parts = (progress.job, phase, progress.detail, progress.remaining, progress.queue)
        return " ".join(filter(None, parts))
