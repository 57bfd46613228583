import threading

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QAbstractButton, QLabel, QPushButton

from spatialstudio.domain.generation import UNGUIDED, GuidanceSettings
from spatialstudio.domain.run_settings import with_values
from spatialstudio.ui.framework import commands as framework_commands
from spatialstudio.ui.framework.file_reading import Subject
from spatialstudio.ui.inspect import commands as inspect_commands
from spatialstudio.ui.inspect import replay_commands
from spatialstudio.ui.inspect.time_panel import TimePanel
from spatialstudio.ui.inspect.widgets.pos_chart import PosChart
from spatialstudio.ui.inspect.widgets.replay_bar import ReplayBar, StepScrubber
from spatialstudio.ui.inspect.widgets.time_header import CurveLegend
from spatialstudio.ui.stage.widgets.picture_view import PictureView
from tests.ui.scripted_engine import PROMPT, STEPS, step_of


@pytest.fixture
def live(qtbot, window, engine):
    """The time strip while a run is at its fourth step."""
    window.prompt.use_prompt(PROMPT)
    window.generation.generate()
    engine.play(engine.jobs[0], steps=4)
    scrubber = window.findChild(StepScrubber)
    qtbot.waitUntil(lambda: scrubber.value() == 3)
    return window.panel(TimePanel)


def live_button(panel):
    return next(each for each in panel.findChildren(QPushButton) if each.text() == "Live")


def test_touching_the_scrubber_lets_the_live_run_go_on_without_it(qtbot, live, engine, studio):
    scrubber = live.findChild(StepScrubber)
    qtbot.keyClick(scrubber, Qt.Key.Key_End)  # only steps that happened can be picked
    assert scrubber.value() == 3 < STEPS - 1
    qtbot.keyClick(scrubber, Qt.Key.Key_Home)
    engine.report(step_of(engine.jobs[0].request, 4))
    qtbot.waitUntil(lambda: len(studio.session.run.steps) == 5)
    assert studio.session.step == 0
    qtbot.waitUntil(lambda: live_button(live).isVisible())
    qtbot.mouseClick(live_button(live), Qt.MouseButton.LeftButton)
    assert studio.session.step == 4


@pytest.fixture
def alone(qtbot, window, engine, studio):
    """The time strip after a guided run that has no baseline."""
    window.prompt.use_prompt(PROMPT)
    studio.generate(studio.new_request(seed=7))
    engine.play(engine.jobs.pop())
    qtbot.waitUntil(lambda: studio.session.run is not None and studio.session.run.path is not None)
    panel = window.panel(TimePanel)
    scrubber = panel.findChild(StepScrubber)
    qtbot.waitUntil(lambda: scrubber.value() == STEPS - 1)
    scrubber.setFocus()
    return panel


def test_the_replay_bar_is_in_sight_in_a_small_window(qtbot, alone, window):
    window.resize(1280, 800)
    window.context.actions[framework_commands.INSPECT_WORKSPACE].trigger()
    legend = alone.findChild(CurveLegend)
    qtbot.waitUntil(lambda: legend.isVisible() and "updates" in legend.accessibleDescription())
    bar = alone.findChild(ReplayBar)
    qtbot.waitUntil(lambda: bar.visibleRegion().boundingRect() == bar.rect())


def said(panel):
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]


def drop(panel, path):
    """Drop a file on the strip."""
    carried = QMimeData()
    carried.setUrls([QUrl.fromLocalFile(str(path))])
    copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    event = QDropEvent(QPointF(5, 5), copy, carried, left, Qt.KeyboardModifier.NoModifier)
    panel.dropEvent(event)


def test_a_range_is_marked_by_keys_and_averaged(qtbot, alone):
    scrubber = alone.findChild(StepScrubber)
    for key in (Qt.Key.Key_Home, Qt.Key.Key_BracketLeft, Qt.Key.Key_End, Qt.Key.Key_BracketRight):
        qtbot.keyClick(scrubber, key)
    assert any(text.startswith(f"Mean of steps 1 to {STEPS}: dog") for text in said(alone))
    qtbot.keyClick(scrubber, Qt.Key.Key_Backslash)
    assert not any(text.startswith("Mean of steps") for text in said(alone))


def test_another_run_has_no_range_yet(qtbot, alone, studio, engine):
    qtbot.keyClick(alone.findChild(StepScrubber), Qt.Key.Key_BracketLeft)
    studio.generate(studio.new_request(seed=8))
    engine.play(engine.jobs.pop())
    qtbot.waitUntil(lambda: studio.session.run.is_over)
    assert not any(text.startswith("Mean of steps") for text in said(alone))


def test_the_baseline_can_be_drawn_afterwards(qtbot, alone, window, studio, engine):
    window.context.actions[replay_commands.SECOND_BASELINE].trigger()
    qtbot.waitUntil(lambda: len(engine.jobs) == 1)
    (job,) = engine.jobs
    assert job.request.sampling.guidance.method_id == UNGUIDED
    engine.play(job)
    lanes = window.context.actions[replay_commands.LANES_DIFFERENCE]
    qtbot.waitUntil(lanes.isEnabled)
    lanes.trigger()
    assert not window.context.actions[replay_commands.LANES_TOGETHER].isChecked()


def test_a_stored_baseline_is_shown_and_not_drawn_again(qtbot, alone, window, studio, engine):
    baseline = window.context.actions[replay_commands.SECOND_BASELINE]
    baseline.trigger()
    qtbot.waitUntil(lambda: len(engine.jobs) == 1)
    engine.play(engine.jobs.pop())
    qtbot.waitUntil(lambda: studio.session.baseline.path is not None)
    stored = studio.session.baseline.path
    studio.second.put_away()
    baseline.trigger()
    qtbot.waitUntil(lambda: studio.session.baseline is not None)
    assert (studio.session.baseline.path, engine.jobs) == (stored, [])
    assert "stored baseline" in window.context.toasts.earlier[-1].message


def test_the_search_for_a_baseline_yields_to_a_newer_choice(
    qtbot, alone, window, studio, engine, monkeypatch
):
    gate, search = threading.Event(), studio.library.baseline_of

    def slow(request):
        gate.wait(10)
        return search(request)

    monkeypatch.setattr(studio.library, "baseline_of", slow)
    actions, done = window.context.actions, []
    actions[replay_commands.SECOND_BASELINE].trigger()
    actions[replay_commands.SECOND_SEED].trigger()
    chosen = studio.session.baseline.id
    gate.set()
    window.context.reading.read(Subject.REPORT, "", lambda: True, done.append, done.append)
    qtbot.waitUntil(lambda: bool(done))  # one job after the other
    assert studio.session.baseline.id == chosen
    assert [job.request.id for job in engine.jobs] == [chosen]


def test_a_run_without_guidance_has_no_baseline(qtbot, alone, window, studio, engine):
    baseline = window.context.actions[replay_commands.SECOND_BASELINE]
    assert baseline.isEnabled()
    plain = with_values(studio.new_request(seed=8), guidance=GuidanceSettings())
    studio.generate(plain)
    engine.play(engine.jobs.pop())
    qtbot.waitUntil(lambda: not baseline.isEnabled())
    assert window.context.actions[replay_commands.SECOND_SEED].isEnabled()


def test_a_run_dropped_on_the_strip_becomes_the_second_run(qtbot, alone, studio, tmp_path):
    (tmp_path / "no.strace").write_bytes(b"nothing")
    with qtbot.waitSignal(alone.problem_met):
        drop(alone, tmp_path / "no.strace")
    assert studio.session.baseline is None
    path = studio.session.run.path
    drop(alone, path.with_suffix(".strace"))
    qtbot.waitUntil(lambda: studio.session.baseline is not None)
    assert studio.session.baseline.request.sampling.seed == 7


def test_loop_and_speed_follow_their_keys(qtbot, alone, window):
    scrubber, bar = alone.findChild(StepScrubber), alone.findChild(ReplayBar)
    shift, actions = Qt.KeyboardModifier.ShiftModifier, window.context.actions
    assert not actions[replay_commands.LANES_DIFFERENCE].isEnabled()  # that needs a second run
    assert not actions[replay_commands.SECOND_NONE].isEnabled()
    qtbot.keyClick(scrubber, Qt.Key.Key_L, shift)
    assert actions[replay_commands.LOOP].isChecked()
    loop = next(
        each for each in alone.findChildren(QAbstractButton) if each.accessibleName() == "Loop"
    )
    assert loop.isChecked()
    qtbot.mouseClick(loop, Qt.MouseButton.LeftButton)
    assert not actions[replay_commands.LOOP].isChecked()
    before = bar.speed
    qtbot.keyClick(scrubber, Qt.Key.Key_Up, shift)
    assert bar.speed == before + 5


def test_the_second_run_can_leave_the_stage_and_come_back(qtbot, drawn):
    scrubber = drawn.panel(TimePanel).findChild(StepScrubber)
    qtbot.waitUntil(scrubber.isEnabled)
    scrubber.setFocus()
    beside = drawn.stage.findChildren(PictureView)[1]
    qtbot.waitUntil(beside.isVisible)
    qtbot.keyClick(scrubber, Qt.Key.Key_C)
    qtbot.waitUntil(lambda: not beside.isVisible())
    qtbot.keyClick(scrubber, Qt.Key.Key_C)
    qtbot.waitUntil(beside.isVisible)


def test_the_keys_of_the_steps_work_while_the_curves_are_out_of_sight(
    qtbot, window, engine, studio
):
    panel = window.panel(TimePanel)
    window.hide_docks(True)
    window.prompt.use_prompt(PROMPT)
    window.generation.generate()
    engine.play(engine.jobs[0])
    qtbot.waitUntil(lambda: panel.findChild(StepScrubber).value() == STEPS - 1)
    assert not panel.isVisible()
    assert window.context.actions[replay_commands.SECOND_SEED].isEnabled()
    window.context.actions[inspect_commands.FIRST].trigger()
    assert studio.session.step == 0


def test_curves_are_drawn_when_they_come_into_sight(qtbot, window, engine, studio):
    panel = window.panel(TimePanel)
    window.hide_docks(True)
    window.prompt.use_prompt(PROMPT)
    window.generation.generate()
    engine.play(engine.jobs[0])
    qtbot.waitUntil(lambda: studio.session.run.is_over)
    curve = panel.findChild(PosChart)
    assert not curve.accessibleDescription()
    window.hide_docks(False)
    qtbot.waitUntil(lambda: bool(curve.accessibleDescription()))
