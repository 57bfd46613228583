import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QPushButton

from spatialstudio.domain.relation import BY_HAND
from spatialstudio.ui.commands.compose import SKETCH
from spatialstudio.ui.widgets.compose.layout_sketch import LayoutSketch
from spatialstudio.ui.widgets.stage.empty_stage import EmptyStage
from tests.ui.scripted_engine import PROMPT


@pytest.fixture
def sketch(qtbot, window, studio):
    """The sketch of a prompt, on the stage."""
    window.prompt.use_prompt(PROMPT)
    qtbot.waitUntil(lambda: studio.session.scene is not None)
    window.context.actions[SKETCH].trigger()
    sketch = window.stage.findChild(LayoutSketch)
    qtbot.waitUntil(lambda: sketch.isVisible() and "left" in sketch.accessibleDescription())
    return sketch


def push(qtbot, sketch, key, share_x):
    start = sketch.place_of(key).toPoint()
    by = QPoint(round(share_x * sketch.frame().width()), 0)
    qtbot.mousePress(sketch, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(sketch, start + by)
    qtbot.mouseRelease(sketch, Qt.MouseButton.LeftButton, pos=start + by)


def said(studio):
    return studio.session.scene.prompt.text


def test_a_push_across_turns_relation_and_prompt(qtbot, sketch, studio):
    push(qtbot, sketch, "m1", 0.7)
    qtbot.waitUntil(lambda: said(studio) == "a photo of a dog to the right of a car")
    assert studio.session.scene.relations[0].source == BY_HAND


def test_a_push_that_says_the_same_leaves_the_prompt(qtbot, sketch, studio):
    before = sketch.place_of("m1")
    push(qtbot, sketch, "m1", 0.1)
    qtbot.waitUntil(lambda: sketch.place_of("m1") != before)
    assert said(studio) == PROMPT


def test_a_push_is_undone_with_its_place(qtbot, sketch, studio, window):
    before = sketch.place_of("m1")
    push(qtbot, sketch, "m1", 0.7)
    window.context.edits.undo()
    assert said(studio) == PROMPT
    qtbot.waitUntil(lambda: sketch.place_of("m1") == before)


@pytest.mark.parametrize("prompt", [PROMPT, "a dog to the left of a car, and a cat"])
def test_a_layout_taken_over_forgets_where_things_were_pushed(
    qtbot, sketch, studio, window, prompt
):
    before = sketch.place_of("m1")
    push(qtbot, sketch, "m1", 0.1)
    qtbot.waitUntil(lambda: sketch.place_of("m1") != before)
    window.context.switchboard.prompt_offered.emit(prompt)
    qtbot.waitUntil(lambda: said(studio) == prompt and sketch.place_of("m1") == before)


def test_while_a_thing_is_held_the_sketch_tells_what_it_would_say(qtbot, sketch, studio):
    start = sketch.place_of("m1").toPoint()
    qtbot.mousePress(sketch, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(sketch, start + QPoint(round(0.7 * sketch.frame().width()), 0))
    assert "right" in sketch.accessibleDescription()
    assert said(studio) == PROMPT
    qtbot.mouseRelease(sketch, Qt.MouseButton.LeftButton, pos=start)


def test_a_relation_changed_elsewhere_moves_the_things(qtbot, sketch, window):
    before = sketch.place_of("m1")
    window.prompt.use_prompt("a photo of a dog to the right of a car")
    qtbot.waitUntil(lambda: sketch.place_of("m1").x() > sketch.place_of("m2").x())
    assert sketch.place_of("m1") != before


def test_the_picked_thing_is_the_windows(qtbot, sketch, studio):
    qtbot.mouseClick(sketch, Qt.MouseButton.LeftButton, pos=sketch.place_of("m2").toPoint())
    assert studio.session.mention_id == "m2"


def test_the_sketch_makes_room_for_a_picture(qtbot, sketch, window):
    window.generation.generate()
    qtbot.waitUntil(lambda: not sketch.isVisible())
    assert not window.context.actions[SKETCH].isChecked()


def test_the_empty_stage_offers_the_sketch_and_comes_back(qtbot, window):
    empty = window.stage.findChild(EmptyStage)
    offer = next(each for each in empty.findChildren(QPushButton) if "Sketch" in each.text())
    qtbot.mouseClick(offer, Qt.MouseButton.LeftButton)
    assert window.stage.findChild(LayoutSketch).isVisible()
    assert not empty.isVisible()
    window.context.actions[SKETCH].trigger()
    assert empty.isVisible()


def test_an_empty_sketch_says_how_to_begin(qtbot, window):
    window.context.actions[SKETCH].trigger()
    sketch = window.stage.findChild(LayoutSketch)
    assert sketch.accessibleDescription().startswith("Name two things")
    window.prompt.use_prompt(PROMPT)
    qtbot.waitUntil(lambda: "Name two things" not in sketch.accessibleDescription())
