"""How far the running job is, how long it still takes, and what waits behind it."""

from PySide6.QtWidgets import QVBoxLayout

from spatialstudio.application.run_queue import QueueChanged
from spatialstudio.application.session import BaselineChanged, OpenRun, RunChanged
from spatialstudio.ui.bridge import FrameClock
from spatialstudio.ui.panel_api import Panel, WindowContext
from spatialstudio.ui.panels.contents.trace_contents import progress_of
from spatialstudio.ui.texts import tr
from spatialstudio.ui.widgets.run.phase_bar import PhaseBar, Progress

READY = "Ready. Write a prompt, then press Ctrl+Enter."


class ProgressPanel(Panel):
    """Shows phases, progress and the time left of what is drawn, else of what is looked at.

    Args:
        context: Whose session and queue are followed.
    """

    title = "Progress"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._studio = context.studio
        self._bar = PhaseBar()
        self._frames = FrameClock(self._draw, self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._bar)
        self._bar.show_progress(Progress(message=tr(READY)))

    def handle(self, event: object) -> None:
        """Follow the runs and the queue."""
        match event:
            case RunChanged() | BaselineChanged() | QueueChanged():
                self._frames.request()

    def _draw(self) -> None:
        queue, session = self._studio.queue, self._studio.session
        shown = queue.running
        run, baseline = (shown.run, shown.baseline) if shown else (session.run, session.baseline)
        if queue.is_held and queue.waiting and shown is None:
            message = tr("Stopped; {count} waiting. Ctrl+Enter or Shift+Esc goes on.")
            waiting = message.format(count=len(queue.waiting))
            self._bar.show_progress(Progress(message=waiting))
        elif run is not None:
            self._bar.show_progress(self._progress(run, baseline))

    def _progress(self, run: OpenRun, baseline: OpenRun | None) -> Progress:
        waiting = len(self._studio.queue.waiting)
        if baseline is None or not run.is_over:
            job = tr("Guided") if baseline else ""
            return progress_of(run, job, self._seconds_left(run, baseline), waiting)
        if baseline.is_over:
            return progress_of(run, "", None, waiting)
        return progress_of(baseline, tr("Baseline"), self._seconds_left(baseline, None), waiting)

    def _seconds_left(self, *runs: OpenRun | None) -> float | None:
        total = 0.0
        for run in runs:
            if run is not None and run.request is not None:
                left = self._studio.estimates.seconds_left(run.request, len(run.steps))
                if left is None:
                    return None
                total += left
        return total
