"""The bar at the foot is never silent while something runs."""

import pytest
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QLabel

from spatialstudio.application.jobs.messages import Phase, PhaseChanged
from spatialstudio.ui.run.commands import GENERATE
from spatialstudio.ui.run.progress_panel import ProgressPanel
from tests.ui.scripted_engine import PROMPT


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def panel(qtbot, window, clock):
    panel = ProgressPanel(window.context, clock)
    qtbot.addWidget(panel)
    panel.show()
    window.serve(panel)
    return panel


def seen(panel):
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]


def test_the_seconds_of_a_long_silence_are_told(qtbot, window, panel, engine, clock):
    window.prompt.use_prompt(PROMPT)
    window.generation.generate()
    job_id = engine.jobs[0].job_id
    engine.report(PhaseChanged(request_id=job_id, phase=Phase.LOADING))
    qtbot.waitUntil(lambda: "Load" in seen(panel))
    assert panel._pulse.isActive()
    clock.now += 5
    panel._pulse.timeout.emit()
    qtbot.waitUntil(lambda: "Load 5 s" in seen(panel))
    engine.report(PhaseChanged(request_id=job_id, phase=Phase.ENCODING))
    qtbot.waitUntil(lambda: "Encode" in seen(panel))


def test_when_all_is_done_nothing_beats(qtbot, drawn, panel, studio):
    qtbot.waitUntil(lambda: any(text.startswith("Generated") for text in seen(panel)))
    assert not panel._pulse.isActive()


def test_the_first_word_names_the_keys_as_the_user_has_set_them(qtbot, window, panel):
    assert seen(panel) == ["Ready. Enter a prompt, then press Ctrl+Return."]
    window.context.actions.use_keys(GENERATE, QKeySequence("F5"))
    qtbot.waitUntil(lambda: seen(panel) == ["Ready. Enter a prompt, then press F5."])
