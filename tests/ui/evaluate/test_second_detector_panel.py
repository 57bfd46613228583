"""A second detector is chosen in the window, kept, and asked from then on."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton

from spatialstudio.domain.errors import ModelNotFound
from spatialstudio.domain.generation import ModelRef
from spatialstudio.domain.ports import PerceptionCard, PerceptionRole
from spatialstudio.ui.evaluate.evaluation_panel import EvaluationPanel
from spatialstudio.ui.evaluate.second_detector_panel import SecondDetectorPanel
from spatialstudio.ui.run.widgets.fields import ChoiceField
from tests.ui.scripted_engine import PROMPT

BROKEN = ModelNotFound('The model folder "owl" is damaged.', hint="Download it again.")


def card(name, role=PerceptionRole.DETECTOR):
    ref = ModelRef(id=name)
    return PerceptionCard(
        ref=ref, role=role, architecture="GroundingDino", folder=Path(name), size_bytes=1
    )


class Shelf:
    """Two detectors, a depth model, and a damaged one; or what the test puts there."""

    def __init__(self):
        self.models = (card("dino"), card("detr"), card("midas", PerceptionRole.DEPTH))
        self.broken = {"owl": BROKEN}

    def cards(self):
        return self.models

    def damaged(self):
        return self.broken


@pytest.fixture
def shelf(monkeypatch, studio):
    shelf = Shelf()
    monkeypatch.setattr(studio._registry, "perception_catalog", lambda _id: shelf)
    return shelf


@pytest.fixture
def panel(qtbot, shelf, context):
    return shown(qtbot, context)


def shown(qtbot, context):
    panel = SecondDetectorPanel(context)
    qtbot.addWidget(panel)
    panel.show()
    return panel


def field_of(panel):
    return panel.findChild(ChoiceField)


def titles(panel):
    field = field_of(panel)
    return [field.itemText(place) for place in range(field.count())]


def test_detectors_are_offered_and_damaged_ones_say_why(panel):
    assert titles(panel) == ["None", "dino", "detr", BROKEN.message]
    assert not field_of(panel).model().item(3).isEnabled()


def test_what_is_judged_next_is_seen_by_the_second_as_well(qtbot, shelf, window, engine):
    panel = window.panel(SecondDetectorPanel)
    window.context.window_signals.workspace_asked.emit("evaluate")
    qtbot.waitUntil(lambda: len(titles(panel)) == 4)
    qtbot.keyClick(field_of(panel), Qt.Key.Key_Down)
    window.prompt.use_prompt(PROMPT)
    window.generation.generate()
    assert engine.jobs[0].judges.second_id == "dino"


def test_the_choice_can_be_undone(qtbot, panel, context):
    qtbot.keyClick(field_of(panel), Qt.Key.Key_Down)
    context.edits.undo()
    assert context.studio.judges.second_id is None
    assert field_of(panel).currentText() == "None"


def test_the_choice_is_kept(qtbot, panel, context):
    qtbot.keyClick(field_of(panel), Qt.Key.Key_Down)
    again = shown(qtbot, context)
    assert field_of(again).currentText() == "dino"


def test_a_detector_that_has_gone_is_named_but_not_asked(qtbot, shelf, context):
    context.settings.second_detector = "gone"
    panel = shown(qtbot, context)
    assert field_of(panel).currentText() == "gone, not found"
    assert context.studio.judges.second_id is None


def test_the_verdicts_panel_judges_again_once_another_is_chosen(qtbot, shelf, drawn, engine):
    drawn.context.window_signals.workspace_asked.emit("evaluate")
    verdicts = drawn.panel(EvaluationPanel)
    again = next(
        each for each in verdicts.findChildren(QPushButton) if each.text().startswith("Judge")
    )
    qtbot.waitUntil(again.isHidden)
    engine.jobs.clear()
    field = field_of(drawn.panel(SecondDetectorPanel))
    qtbot.waitUntil(lambda: field.count() == 4)
    qtbot.keyClick(field, Qt.Key.Key_Down)
    qtbot.waitUntil(again.isVisible)
    assert again.text() == "Judge again"
    qtbot.mouseClick(again, Qt.MouseButton.LeftButton)
    (job,) = engine.jobs
    assert job.judges.second_id == "dino"
    qtbot.waitUntil(again.isHidden)


def test_where_there_is_none_it_is_said_where_they_are_looked_for(qtbot, shelf, context):
    shelf.models, shelf.broken = (), {}
    panel = shown(qtbot, context)
    texts = [label.text() for label in panel.findChildren(QLabel)]
    assert any("models folder" in text for text in texts)
