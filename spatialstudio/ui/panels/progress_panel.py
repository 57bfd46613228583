"""How far the running job is, and how long it still takes."""

import time
from collections.abc import Callable

from PySide6.QtWidgets import QVBoxLayout

from spatialstudio.application.session import BaselineChanged, OpenRun, RunChanged
from spatialstudio.domain.generation import GenerationStarted, StepEvent
from spatialstudio.ui.bridge import FrameClock
from spatialstudio.ui.panel_api import Panel, WindowContext
from spatialstudio.ui.panels.trace_contents import progress_of
from spatialstudio.ui.remaining_time import RemainingTime
from spatialstudio.ui.widgets.phase_bar import PhaseBar, Progress

READY = "Ready. Write a prompt, then press Ctrl+Enter."


class ProgressPanel(Panel):
    """Shows phases, progress and the time left.

    Args:
        context: Whose session is followed.
        clock: Tells seconds; only differences count.
    """

    title = "Progress"

    def __init__(
        self, context: WindowContext, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        super().__init__()
        self._session = context.studio.session
        self._now = clock
        self._remaining = RemainingTime()
        self._bar = PhaseBar()
        self._frames = FrameClock(self._draw, self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._bar)
        self._bar.show_progress(Progress(message=READY))

    def handle(self, event: object) -> None:
        """Follow the runs; learn the pace of their steps."""
        match event:
            case GenerationStarted():
                self._remaining.start(self._now())
            case StepEvent():
                self._remaining.observe(event, self._now())
            case RunChanged() | BaselineChanged():
                self._frames.request()

    def _draw(self) -> None:
        run, baseline = self._session.run, self._session.baseline
        if run is None:
            return
        if baseline is None or not run.is_over:
            job = "Guided" if baseline else ""
            self._bar.show_progress(progress_of(run, job, self._seconds_left(run, baseline)))
        elif baseline.is_over:
            self._bar.show_progress(progress_of(run, "", None))
        else:
            left = self._seconds_left(baseline, None)
            self._bar.show_progress(progress_of(baseline, "Baseline", left))

    def _seconds_left(self, *runs: OpenRun | None) -> float | None:
        total = 0.0
        for run in runs:
            if run is not None and run.request is not None:
                left = self._remaining.seconds_left(run.request, len(run.steps))
                if left is None:
                    return None
                total += left
        return total
