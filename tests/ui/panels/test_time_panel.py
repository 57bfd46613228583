import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from spatialstudio.ui.panels.time_panel import TimePanel
from spatialstudio.ui.widgets.step_scrubber import StepScrubber
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
    qtbot.keyClick(live.findChild(StepScrubber), Qt.Key.Key_Home)
    engine.report(step_of(engine.jobs[0].request, 4))
    qtbot.waitUntil(lambda: len(studio.session.run.steps) == 5)
    assert studio.session.step == 0


def test_live_follows_the_newest_step_again(qtbot, live, studio):
    qtbot.keyClick(live.findChild(StepScrubber), Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: live_button(live).isVisible())
    qtbot.mouseClick(live_button(live), Qt.MouseButton.LeftButton)
    assert studio.session.step == 3


def test_only_steps_that_happened_can_be_picked(qtbot, live):
    scrubber = live.findChild(StepScrubber)
    qtbot.keyClick(scrubber, Qt.Key.Key_End)
    assert scrubber.value() == 3 < STEPS - 1
