import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QSlider, QSpinBox, QToolButton

from tests.ui.scripted_engine import PROMPT, STEPS


@pytest.fixture
def panel(window):
    window.prompt.use_prompt(PROMPT)
    return window.generation


def test_the_models_own_numbers_are_offered(panel):
    assert panel.findChild(QSpinBox).value() == STEPS
    assert panel.findChild(QSlider).value() == 50


def test_strength_zero_draws_one_plain_picture(qtbot, panel, engine):
    qtbot.keyClick(panel.findChild(QSlider), Qt.Key.Key_Home)
    panel.generate()
    assert [job.request.guidance.strength for job in engine.jobs] == [0.0]


def test_the_steps_reach_the_request(qtbot, panel, engine):
    panel.findChild(QSpinBox).setValue(9)
    panel.generate()
    assert engine.jobs[0].request.steps == 9


def test_while_it_runs_a_second_one_is_not_begun(qtbot, panel, engine):
    panel.generate()
    qtbot.waitUntil(lambda: panel.is_running)
    panel.generate()
    assert len(engine.jobs) == 2  # guided and baseline


def test_an_unlocked_seed_is_rolled_when_the_run_is_over(qtbot, panel, engine, studio):
    lock = next(
        each for each in panel.findChildren(QToolButton) if each.accessibleName().startswith("Keep")
    )
    qtbot.mouseClick(lock, Qt.MouseButton.LeftButton)
    panel.use_seed(7)
    panel.generate()
    for job in engine.jobs:
        engine.play(job)
    qtbot.waitUntil(lambda: studio.session.baseline.is_over and not panel.is_running)
    assert panel.findChild(QLineEdit).text() != "7"


def test_without_anything_to_draw_one_is_told(qtbot, window, engine):
    window.prompt.use_prompt("")
    with qtbot.waitSignal(window.generation.problem_met) as met:
        window.generation.generate()
    assert met.args[0].hint
    assert engine.jobs == []
