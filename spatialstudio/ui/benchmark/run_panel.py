"""The dock of the process that draws a benchmark: progress, devices, failures by cause."""

from collections import Counter
from dataclasses import replace
from functools import partial

from PySide6.QtWidgets import QProgressBar, QWidget

from spatialstudio.application.benchmark.background_run import (
    EVERY_CAUSE,
    RunBegan,
    RunEnded,
    RunOrder,
    RunProgressed,
)
from spatialstudio.application.benchmark.executors import EnginePlan, Executor
from spatialstudio.application.benchmark.monitor import BenchmarkChanged, BenchmarkView
from spatialstudio.application.benchmark.result_store import cause_of
from spatialstudio.domain.benchmark_cells import CellState
from spatialstudio.ui.benchmark import commands
from spatialstudio.ui.benchmark.benchmark_presenter import (
    device_facts,
    has_work,
    run_in_words,
)
from spatialstudio.ui.benchmark.run_choices import remember_run, remembered_run
from spatialstudio.ui.benchmark.widgets.failure_groups import FailureGroup, FailureGroups
from spatialstudio.ui.framework.bridge import VisibleFrameClock
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.widgets.builders import SPACE, action_button, column, flow, row
from spatialstudio.ui.widgets.fact_list import FactList
from spatialstudio.ui.widgets.fields import PLAIN_NUMBER, NumberBox, TextLine
from spatialstudio.ui.widgets.texts import PlainLabel, TextLabel, Tone, tr

MOST_WORKERS = 64
PAUSE, DRAIN = "pause", "drain"


class RunPanel(Panel):
    """Starts, pauses and stops the process, and shows what it has done."""

    title = "Benchmark run"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        self._benchmark = context.benchmark
        self._view: BenchmarkView | None = None
        self._last = remembered_run(context.settings)
        self._state = TextLabel()
        self._bar = QProgressBar(textVisible=False)
        self._bar.setAccessibleName(tr("Progress of the benchmark"))
        self._workers = NumberBox(minimum=1, maximum=MOST_WORKERS, value=1, **PLAIN_NUMBER)
        self._workers.setAccessibleName(tr("Workers"))
        self._workers.setToolTip(tr("Engine processes that draw at the same time"))
        self._devices = TextLine(placeholderText=tr("cuda:0, cuda:1"))
        self._devices.setAccessibleName(tr("Devices"))
        self._devices.setToolTip(tr("One engine process per device; empty for the fastest one"))
        self._facts = FactList()
        self._no_facts = TextLabel(tone=Tone.MUTED)
        self._failures = FailureGroups()
        self._failures.retry_picked.connect(self._retry)
        self._failures.show_picked.connect(context.window_signals.cells_asked)
        self._clock = VisibleFrameClock(self._draw, self)
        self._show_engines()
        self._lay_out()
        self._bind()
        if self._benchmark.view is not None:
            self._view = self._benchmark.view
        self._draw()

    def handle(self, event: object) -> None:
        """Follow the open benchmark and its process."""
        match event:
            case BenchmarkChanged(view=view):
                self._view = view
            case RunEnded(error=error) if error is not None:
                self.problem_met.emit(error)
            case RunBegan(order=order):
                self._last = order
                remember_run(self._context.settings, order)
            case RunEnded(best=best) if best:
                self._context.toasts.tell(tr("{name} is the best method.").format(name=best))
            case RunEnded(order=order, is_stopped=False) if order.only_smoke:
                self._context.toasts.tell(tr("The smoke run has ended. Start draws the rest."))
            case RunProgressed() | RunEnded():
                pass
            case _:
                return
        self._clock.request()

    def start(self, retry: str | None = None) -> None:
        """Draw what is not done, or let a paused process go on.

        Args:
            retry: Cause of failed pictures to try again; None for none.
        """
        if self._view is None:
            return
        if self._benchmark.run.order is not None:
            self._benchmark.hold("")
            return
        names = (each.strip() for each in self._devices.text().split(","))
        devices = tuple(name for name in names if name)
        engines = EnginePlan(workers=0 if devices else self._workers.value(), devices=devices)
        order = RunOrder(folder=self._view.folder, engines=engines)
        if self._last is not None and self._last.folder == order.folder:
            is_local = self._last.engines.executor is Executor.LOCAL
            order = replace(self._last, engines=engines if is_local else self._last.engines)
        self._benchmark.run.start(replace(order, retry=retry, only_smoke=False))

    def _retry(self, cause: str) -> None:
        if self._benchmark.run.order is not None:
            self._context.toasts.tell(tr("Stop the benchmark first, then retry the pictures."))
        else:
            self.start(cause)

    def _show_engines(self) -> None:
        """Show the engines of the last run on this machine."""
        if self._last is not None and self._last.engines.executor is Executor.LOCAL:
            self._workers.setValue(self._last.engines.workers)
            self._devices.setText(", ".join(self._last.engines.devices))

    def _lay_out(self) -> None:
        actions = self._context.actions
        buttons = [
            action_button(actions[commands.START], tr("Start"), kind="primary"),
            action_button(actions[commands.PAUSE], tr("Pause")),
            action_button(actions[commands.DRAIN], tr("Drain")),
            action_button(actions[commands.STOP], tr("Stop")),
        ]
        column(
            self._state,
            self._bar,
            flow(*buttons, gap=0.4),
            row(self._label(tr("Workers"), self._workers), self._workers, SPACE, gap=0.6),
            row(self._label(tr("Devices"), self._devices), self._devices, gap=0.6),
            TextLabel(tr("Engines"), Tone.HEADING),
            self._no_facts,
            self._facts,
            TextLabel(tr("Failures"), Tone.HEADING),
            self._failures,
            within=self,
            gap=0.6,
        )

    def _label(self, text: str, field: QWidget) -> PlainLabel:
        label = PlainLabel(text, tone=Tone.MUTED)
        label.setBuddy(field)
        return label

    def _bind(self) -> None:
        self._context.actions.bind_all(
            {
                commands.START: self.start,
                commands.PAUSE: partial(self._benchmark.hold, PAUSE),
                commands.DRAIN: partial(self._benchmark.hold, DRAIN),
                commands.STOP: self._benchmark.run.stop,
                commands.RETRY: partial(self._retry, EVERY_CAUSE),
            }
        )

    def _draw(self) -> None:
        view, run = self._view, self._benchmark.run
        is_own = view is not None and run.order is not None and run.order.folder == view.folder
        progress = run.progress if is_own else None
        self._state.setText(run_in_words(view, is_own=is_own, progress=progress))
        if view is not None:
            self._bar.setRange(
                0, max(len(view.table.grid) - view.table.count(CellState.UNUSABLE), 1)
            )
            self._bar.setValue(int(view.table.is_judged.sum()) + view.table.count(CellState.FAILED))
        facts = device_facts(progress) if progress is not None else ()
        self._facts.show_facts(facts)
        self._no_facts.setText(
            tr("No picture is finished yet.") if is_own else tr("Nothing is drawn by this window.")
        )
        self._facts.setVisible(bool(facts))
        self._no_facts.setVisible(not facts)
        self._failures.show_groups(_groups(view))
        self._enable(view, is_running=is_own)

    def _enable(self, view: BenchmarkView | None, *, is_running: bool) -> None:
        actions = self._context.actions
        is_held = view is not None and view.held == PAUSE
        can_start = view is not None and not is_running and has_work(view)
        actions[commands.START].setEnabled(can_start or (is_running and is_held))
        for command in (commands.PAUSE, commands.DRAIN):
            actions[command].setEnabled(is_running and not is_held)
        actions[commands.STOP].setEnabled(is_running)
        has_failed = view is not None and view.table.count(CellState.FAILED) > 0
        actions[commands.RETRY].setEnabled(has_failed and not is_running)
        self._workers.setEnabled(not is_running)
        self._devices.setEnabled(not is_running)


def _groups(view: BenchmarkView | None) -> tuple[FailureGroup, ...]:
    """Return the failures of the open benchmark by cause, the most frequent first."""
    if view is None:
        return ()
    table = view.table
    messages = [
        message
        for cell, message in table.causes.items()
        if table.state_of(cell) is CellState.FAILED
    ]
    counts = Counter(map(cause_of, messages))
    example = {cause_of(each): each for each in reversed(messages)}
    return tuple(
        FailureGroup(cause=cause, example=example[cause], count=count)
        for cause, count in counts.most_common()
    )
