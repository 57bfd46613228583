"""The film strip of this session's results; a click opens a result on the stage."""

from spatialstudio.application.run.queue import QueueChanged
from spatialstudio.application.session import OpenRun, RunChanged
from spatialstudio.ui.framework.bridge import VisibleFrameClock
from spatialstudio.ui.framework.file_reading import Subject
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.run.presenters import results_of
from spatialstudio.ui.run.widgets.result_strip import ResultStrip
from spatialstudio.ui.widgets.builders import column, pages
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr


class ResultsPanel(Panel):
    """Shows the results of this session and opens the picked one."""

    title = "Results"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._studio = context.studio
        self._reading = context.reading
        self._shown: tuple[tuple[object, ...], ...] = ()
        self._strip = ResultStrip(context.theme)
        self._strip.result_picked.connect(self._open)
        self._waiting = TextLabel(tr("The results of this session appear here."), Tone.MUTED)
        self._clock = VisibleFrameClock(self._draw, self)
        self._pages = pages(self._waiting, self._strip)  # the first result moves nothing
        column(self._pages, within=self, edges=(0.7, 0.2, 0.7, 0.2))

    def handle(self, event: object) -> None:
        """Follow finished runs and the open picture."""
        match event:
            case QueueChanged():
                self._clock.request()
            case RunChanged(run=run):
                self._strip.show_picked(run.id)

    def _draw(self) -> None:
        entries = self._studio.queue.entries
        shown = tuple((each.id, each.state, each.outcome, len(each.unfinished)) for each in entries)
        if shown != self._shown:
            self._shown = shown
            results = results_of(entries)
            self._pages.setCurrentWidget(self._strip if results else self._waiting)
            self._strip.show_results(results)
            if (run := self._studio.session.run) is not None:
                self._strip.show_picked(run.id)

    def _open(self, key: str) -> None:
        entry = self._studio.queue.entry(key)
        if entry is None:
            return
        if all(run.path is None for run in entry.runs):
            self._studio.session.open(*entry.runs)
            return
        self._reading.read(
            Subject.STAGE,
            tr("Opening the picture"),
            lambda: tuple(self._whole(run) for run in entry.runs),
            lambda runs: self._studio.session.open(*runs),
            self.problem_met.emit,
        )

    def _whole(self, run: OpenRun) -> OpenRun:
        """Return a run with all its steps, read from its files if stored."""
        return run if run.path is None else self._studio.read_run(run.path)
