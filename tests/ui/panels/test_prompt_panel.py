import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QMenu, QPushButton

from spatialstudio.ui.widgets.prompt_editor import PromptEditor
from spatialstudio.ui.widgets.relation_chip import RelationChip
from tests.ui.scripted_engine import PROMPT


@pytest.fixture
def panel(qtbot, window):
    """The prompt panel after it has read a prompt."""
    window.prompt.use_prompt(PROMPT)
    qtbot.waitUntil(lambda: bool(chips(window.prompt)))
    return window.prompt


def chips(panel):
    return [chip for chip in panel.findChildren(RelationChip) if not chip.isHidden()]


def names(panel):
    return [chip.accessibleName() for chip in chips(panel)]


def test_removing_the_only_relation_leaves_the_things(qtbot, panel, studio):
    chips(panel)[0].removal_asked.emit()
    qtbot.waitUntil(lambda: not chips(panel))
    assert [mention.head for mention in studio.session.scene.mentions] == ["dog", "car"]


def test_swapping_says_the_contrary(qtbot, panel):
    chips(panel)[0].swap_asked.emit()
    qtbot.waitUntil(lambda: names(panel) == ["Relation: car to the left of dog"])


def test_the_focus_stays_on_a_relation_that_was_changed(qtbot, panel):
    chips(panel)[0].setFocus()
    chips(panel)[0].type_picked.emit("right_of")
    qtbot.waitUntil(lambda: names(panel) == ["Relation: dog to the right of car"])
    assert chips(panel)[0].has_focus_inside


def test_a_relation_can_be_added_between_any_two_things(qtbot, panel):
    panel_button = next(
        each for each in panel.findChildren(QPushButton) if each.text() == "Add relation"
    )
    qtbot.mouseClick(panel_button, Qt.MouseButton.LeftButton)
    menu = next(each for each in panel.findChildren(QMenu) if each.isVisible())
    menu.actions()[1].trigger()
    menu.close()
    qtbot.waitUntil(lambda: len(chips(panel)) == 2)
    assert names(panel)[1] == "Relation: car to the left of dog"


def test_claims_that_contradict_each_other_are_marked(qtbot, panel):
    panel.use_prompt("a dog to the left of a car and the car to the left of the dog")
    qtbot.waitUntil(lambda: len(chips(panel)) == 2)
    assert all(" contradicts " in chip.accessibleDescription() for chip in chips(panel))


def test_things_without_a_relation_get_a_note(qtbot, panel):
    panel.use_prompt("a cat and a dog")
    qtbot.waitUntil(
        lambda: any("no relation" in label.text() for label in panel.findChildren(QLabel))
    )


def test_clearing_the_prompt_takes_the_chips_away(qtbot, panel):
    editor = panel.findChild(PromptEditor)
    editor.selectAll()
    qtbot.keyClick(editor, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: not chips(panel))
