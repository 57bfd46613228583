"""The dock of the process that draws a benchmark."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton

from spatialstudio.application.benchmark.background_run import (
    EVERY_CAUSE,
    RunBegan,
    RunEnded,
    RunOrder,
)
from spatialstudio.application.benchmark.executors import EnginePlan, Executor
from spatialstudio.application.benchmark.monitor import BenchmarkChanged
from spatialstudio.application.benchmark.runner import BenchmarkProgress, EngineProgress
from spatialstudio.domain.benchmark_cells import CellState
from spatialstudio.domain.benchmark_plan import JudgePlan
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.ui.benchmark import commands
from spatialstudio.ui.benchmark.benchmark_presenter import device_facts
from spatialstudio.ui.benchmark.run_panel import RunPanel
from tests.benchmark_cells import PASS
from tests.ui.benchmark.conftest import changed


class NotedRun:
    """Notes what it is asked to draw."""

    def __init__(self):
        self.order = self.progress = None
        self.asked = []

    def start(self, order):
        self.asked.append(order)

    def stop(self):
        self.asked.append("stop")


class NotedBenchmark:
    """Notes what it is asked to hold."""

    def __init__(self):
        self.view = None
        self.run = NotedRun()
        self.held = []

    def hold(self, kind):
        self.held.append(kind)


@pytest.fixture
def benchmark():
    return NotedBenchmark()


@pytest.fixture
def panel(context, benchmark, shown):
    return shown(RunPanel(replace(context, benchmark=benchmark)))


def buttons(panel, name):
    return [each for each in panel.findChildren(QPushButton) if each.text() == name]


def test_start_draws_the_open_benchmark_with_the_chosen_workers(panel, benchmark, context):
    panel._workers.setValue(2)
    context.actions[commands.START].trigger()
    assert benchmark.run.asked == [RunOrder(folder=Path("/bench"), engines=EnginePlan(workers=2))]


def test_start_is_disabled_when_every_picture_is_done(panel, context, qtbot):
    panel.handle(changed(states=[PASS] * 8))
    qtbot.waitUntil(lambda: not context.actions[commands.START].isEnabled())
    assert panel._state.text() == "All pictures are done."


def test_start_is_enabled_while_another_judge_set_has_work(panel, context, qtbot):
    done = changed(states=[PASS] * 8).view
    two = replace(done.plan, judges=(JudgePlan(), JudgePlan(name="cut")))
    start = context.actions[commands.START]
    panel.handle(BenchmarkChanged(view=replace(done, plan=two, unjudged=3)))
    words = "3 pictures are left to judge."
    qtbot.waitUntil(lambda: panel._state.text() == words)
    assert start.isEnabled()
    panel.handle(BenchmarkChanged(view=replace(done, plan=two)))
    qtbot.waitUntil(lambda: panel._state.text() == "All pictures are done.")
    assert not start.isEnabled()


def test_each_engine_shows_its_pace_and_its_share_of_the_rest():
    engines = {
        "cuda:0": EngineProgress(items=30, seconds=100.0),
        "cuda:1": EngineProgress(items=10, seconds=100.0, lost=1),
        "cuda:2": EngineProgress(),
    }
    progress = BenchmarkProgress(total=120, done=40, failed=0, seconds=100.0, engines=engines)
    assert dict(device_facts(progress)) == {
        "cuda:0": "30 pictures, 1,080 per hour, about 60 left in 3 min",
        "cuda:1": "10 pictures, 360 per hour, about 20 left in 3 min, lost 1 times",
        "cuda:2": "0 pictures",
    }


def test_the_time_is_that_of_earlier_pictures_before_the_first_one(panel, qtbot):
    waiting = [CellState.WAITING] * 8
    panel.handle(changed(states=waiting))
    unknown = "Not running in this window. Time left: unknown until the first picture."
    qtbot.waitUntil(lambda: panel._state.text() == unknown)
    view = replace(changed(states=waiting).view, expected={"plain": 30.0, "psg": 60.0})
    panel.handle(BenchmarkChanged(view=view))
    known = "Not running in this window. About 6 min left with one worker, as before."
    qtbot.waitUntil(lambda: panel._state.text() == known)


def test_extent_and_engines_are_remembered_after_a_restart(context, benchmark, shown):
    engines = EnginePlan(executor=Executor.RAY, address="host:6379")
    order = RunOrder(folder=Path("/bench"), engines=engines, choose="pse")
    shown(RunPanel(replace(context, benchmark=benchmark)), RunBegan(order=order))

    later = shown(RunPanel(replace(context, benchmark=benchmark)))
    later.start()

    assert benchmark.run.asked == [order]


def test_workers_are_remembered_and_damage_is_ignored(context, benchmark, shown):
    order = RunOrder(folder=Path("/bench"), engines=EnginePlan(workers=3))
    shown(RunPanel(replace(context, benchmark=benchmark)), RunBegan(order=order))
    assert shown(RunPanel(replace(context, benchmark=benchmark)))._workers.value() == 3
    context.settings.benchmark_run = '{"executor": 1}'
    assert shown(RunPanel(replace(context, benchmark=benchmark)))._workers.value() == 1


def test_listed_devices_get_an_engine_each(panel, benchmark):
    panel._devices.setText("cuda:0, cuda:1,")
    panel.start()
    assert benchmark.run.asked[0].engines.devices == ("cuda:0", "cuda:1")


def test_pause_and_drain_are_for_a_running_benchmark(panel, benchmark, context, qtbot):
    assert not context.actions[commands.PAUSE].isEnabled()
    benchmark.run.order = RunOrder(folder=Path("/bench"))
    panel.handle(changed())
    qtbot.waitUntil(context.actions[commands.PAUSE].isEnabled)
    assert not context.actions[commands.START].isEnabled()
    context.actions[commands.PAUSE].trigger()
    context.actions[commands.DRAIN].trigger()
    assert benchmark.held == ["pause", "drain"]


def test_start_ends_a_pause(panel, benchmark, context, qtbot):
    benchmark.run.order = RunOrder(folder=Path("/bench"))
    panel.handle(changed(held="pause"))
    qtbot.waitUntil(lambda: panel._state.text() == "Paused.")
    context.actions[commands.START].trigger()
    assert benchmark.held == [""]
    assert benchmark.run.asked == []


@pytest.mark.parametrize(("held", "word"), [("pause", "Paused"), ("drain", "Drained")])
def test_a_run_held_by_another_process_says_how_it_continues(panel, qtbot, held, word):
    panel.handle(changed(held=held))
    qtbot.waitUntil(lambda: panel._state.text() == f"{word}. Start continues.")


def test_failures_are_retried_by_their_cause(panel, benchmark, qtbot):
    qtbot.waitUntil(lambda: len(buttons(panel, "Retry group")) == 1)
    buttons(panel, "Retry group")[0].click()
    assert benchmark.run.asked[0].retry == "The engine ran out of memory."


def test_all_failures_are_retried(panel, benchmark, context, qtbot):
    qtbot.waitUntil(context.actions[commands.RETRY].isEnabled)
    context.actions[commands.RETRY].trigger()
    assert benchmark.run.asked[0].retry == EVERY_CAUSE


def test_show_filters_the_pictures_of_a_cause(panel, context, qtbot):
    lines = []
    context.window_signals.cells_asked.connect(lines.append)
    qtbot.waitUntil(lambda: len(buttons(panel, "Show")) == 1)
    buttons(panel, "Show")[0].click()
    assert lines == ['is:missing "The engine ran out of memory."']


def test_an_unexpected_end_is_reported(panel):
    problems = []
    panel.problem_met.connect(problems.append)
    error = ErrorReport(title="", message="It stopped.", hint="", details="")
    panel.handle(RunEnded(order=RunOrder(folder=Path("/bench")), error=error))
    assert problems == [error]
