"""Progress of the running job, its remaining time, and the number of waiting jobs."""

import time
from collections.abc import Callable

from PySide6.QtCore import QTimer

from spatialstudio.application.inspect.step_numbers import name_first, name_second
from spatialstudio.application.run.queue import QueueChanged
from spatialstudio.application.session import (
    BaselineChanged,
    OpenRun,
    RunChanged,
)
from spatialstudio.ui.framework.bridge import VisibleFrameClock
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.framework.workspace import READY_TO_GENERATE
from spatialstudio.ui.inspect.trace_presenter import progress_of
from spatialstudio.ui.run import commands as commands
from spatialstudio.ui.widgets.builders import column
from spatialstudio.ui.widgets.phase_bar import PhaseBar, Progress
from spatialstudio.ui.widgets.texts import tr

PULSE_MS = 1000


class ProgressPanel(Panel):
    """Shows phases, progress and remaining time of the running picture, else of the open run.

    Args:
        context: Services of the window.
        clock: Returns seconds; only differences count.
    """

    title = "Progress"

    def __init__(self, context: WindowContext, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._studio = context.studio
        self._actions = context.actions
        self._bar = PhaseBar()
        self._frames = VisibleFrameClock(self._draw, self)
        self._now = clock
        self._last_report = clock()
        self._ready = tr(READY_TO_GENERATE)
        self._pulse = QTimer(self, interval=PULSE_MS)
        self._pulse.timeout.connect(self._frames.request)
        column(self._bar, within=self)
        self._draw()
        self._actions.keys_changed.connect(self._frames.request)

    def handle(self, event: object) -> None:
        """Follow the runs and the queue."""
        match event:
            case RunChanged() | BaselineChanged() | QueueChanged():
                self._last_report = self._now()
                self._frames.request()

    def show_ready(self, message: str) -> None:
        """Set the message without a run; {generate} stands for the keys of that command."""
        self._ready = message
        self._frames.request()

    def _draw(self) -> None:
        queue, session = self._studio.queue, self._studio.session
        shown = queue.running
        run, baseline = (shown.run, shown.baseline) if shown else (session.run, session.baseline)
        if queue.is_held and queue.waiting and shown is None:
            message = tr("Queue paused, {count} waiting. Press {generate} or {stop} to continue.")
            waiting = message.format(count=len(queue.waiting), **self._keys())
            self._bar.show_progress(Progress(message=waiting))
        elif run is None:
            self._bar.show_progress(Progress(message=self._ready.format(**self._keys())))
        else:
            progress = self._progress(run, baseline)
            self._bar.show_progress(progress)
            self._keep_pulse(progress.current is not None)

    def _keys(self) -> dict[str, str]:
        """Return labels of the active commands, by shortcut, or by name without one."""
        shortcuts = {"generate": commands.GENERATE, "stop": commands.STOP_AFTER}
        actions = self._actions
        return {
            name: actions.keys_in_words(command) or actions[command].text()
            for name, command in shortcuts.items()
        }

    def _keep_pulse(self, is_beating: bool) -> None:
        """Redraw every second during a run, to report time without events."""
        if is_beating != self._pulse.isActive():
            (self._pulse.start if is_beating else self._pulse.stop)()

    def _progress(self, run: OpenRun, baseline: OpenRun | None) -> Progress:
        waiting = len(self._studio.queue.waiting)
        silent_s = self._now() - self._last_report
        if baseline is None or not run.is_over:
            job = tr(name_first(run, baseline)) if baseline else ""
            return progress_of(run, job, self._seconds_left(run, baseline), waiting, silent_s)
        if baseline.is_over:
            return progress_of(run, "", None, waiting)
        left = self._seconds_left(baseline, None)
        return progress_of(baseline, tr(name_second(run, baseline)), left, waiting, silent_s)

    def _seconds_left(self, *runs: OpenRun | None) -> float | None:
        total = 0.0
        for run in runs:
            if run is not None and run.request is not None:
                left = self._studio.estimates.seconds_left(run.request, len(run.steps))
                if left is None:
                    return None
                total += left
        return total
