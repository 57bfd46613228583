from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QLabel, QMenu, QPushButton, QToolButton

from spatialstudio.ui.compose import commands as compose_commands
from spatialstudio.ui.compose.widgets.prompt_editor import PromptEditor
from spatialstudio.ui.compose.widgets.relation_chip import RelationChip
from spatialstudio.ui.compose.widgets.relation_wheel import RelationWheel
from spatialstudio.ui.compose.widgets.word_handle import WordHandle
from tests.ui.by_name import named
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


def test_the_prompt_is_said_the_other_way_round_and_back_by_undo(qtbot, panel, window, studio):
    counterfactual = window.context.actions[compose_commands.COUNTERFACTUAL]
    counterfactual.trigger()
    qtbot.waitUntil(lambda: names(panel) == ["Relation: car to the right of dog"])
    assert studio.session.scene.prompt.text == "a photo of a car to the right of a dog"
    window.context.edits.undo()
    qtbot.waitUntil(lambda: names(panel) == ["Relation: dog to the left of car"])
    counterfactual.trigger()
    qtbot.waitUntil(lambda: names(panel) == ["Relation: car to the right of dog"])
    assert hues(panel) == {"dog": 0, "car": 1}  # things keep their colours in another order
    editor = panel.findChild(PromptEditor)
    editor.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.keyClicks(editor, ", at night")
    qtbot.waitUntil(lambda: studio.session.scene.prompt.text.endswith("night"))
    assert hues(panel) == {"dog": 0, "car": 1}


def hues(panel):
    return {word.word.phrase: word.word.hue for chip in chips(panel) for word in chip.words}


def test_words_that_point_back_are_their_thing(qtbot, panel, studio):
    panel.use_prompt("a cat to the left of a dog, the dog above a lamp")
    qtbot.waitUntil(lambda: len(chips(panel)) == 2)
    editor = panel.findChild(PromptEditor)
    dog = studio.session.scene.mentions[1]
    cursor = editor.textCursor()
    cursor.setPosition(editor.toPlainText().rindex("dog") + 1)
    editor.setTextCursor(cursor)
    assert editor.thing_under_cursor() == dog.id
    assert dog.head == "dog"


def test_the_focus_stays_on_a_relation_that_was_changed(qtbot, panel):
    chips(panel)[0].swap_asked.emit()
    qtbot.waitUntil(lambda: names(panel) == ["Relation: car to the left of dog"])
    chips(panel)[0].setFocus()
    chips(panel)[0].type_picked.emit("right_of")
    qtbot.waitUntil(lambda: names(panel) == ["Relation: car to the right of dog"])
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


def test_things_without_a_relation_get_a_note(qtbot, panel):
    panel.use_prompt("a cat and a dog")
    qtbot.waitUntil(
        lambda: any("no relation" in label.text() for label in panel.findChildren(QLabel))
    )
    panel.use_prompt(PROMPT)
    qtbot.waitUntil(lambda: len(chips(panel)) == 1)
    editor = panel.findChild(PromptEditor)
    editor.selectAll()
    qtbot.keyClick(editor, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: not chips(panel))


THREE = "a dog to the left of a car, with a bird above the car"


@pytest.fixture
def three(qtbot, window):
    """The prompt panel with two relations of three things."""
    window.prompt.use_prompt(THREE)
    qtbot.waitUntil(lambda: len(chips(window.prompt)) == 2)
    return window.prompt


def relations(studio):
    return studio.session.scene.relations


def sentences(studio):
    scene = studio.session.scene
    return [scene.sentence(relation) for relation in scene.relations]


def drag(qtbot, widget, to):
    """Drag a widget to a place on the screen."""
    target = widget.mapFromGlobal(to)
    qtbot.mousePress(widget, Qt.MouseButton.LeftButton, pos=QPoint(3, 3))
    qtbot.mouseMove(widget, target)
    qtbot.mouseRelease(widget, Qt.MouseButton.LeftButton, pos=target)


def word_in(editor, word):
    cursor = editor.textCursor()
    cursor.setPosition(editor.toPlainText().index(word) + 1)
    return editor.viewport().mapToGlobal(editor.cursorRect(cursor).center())


def test_an_end_is_dragged_onto_an_end_of_another_relation(qtbot, three, studio):
    qtbot.waitUntil(lambda: chips(three)[1].y() > 0)
    handle = chips(three)[0].findChildren(WordHandle)[1]
    target = chips(three)[1].words[0]
    drag(qtbot, handle, target.mapToGlobal(target.rect().center()))
    qtbot.waitUntil(lambda: "dog to the left of bird" in sentences(studio))


def test_an_end_is_dragged_onto_a_word_of_the_prompt(qtbot, three, studio, window):
    before = sentences(studio)
    handle = chips(three)[0].findChildren(WordHandle)[1]
    drag(qtbot, handle, window.stage.mapToGlobal(window.stage.rect().center()))
    assert sentences(studio) == before  # dropped beside all words
    drag(qtbot, handle, word_in(three.findChild(PromptEditor), "bird"))
    qtbot.waitUntil(lambda: "dog to the left of bird" in sentences(studio))


def test_a_chip_is_dragged_to_another_rank(qtbot, three, studio):
    qtbot.waitUntil(lambda: chips(three)[1].y() > 0)
    first, last = chips(three)
    drag(qtbot, first, last.mapToGlobal(QPoint(3, last.height() + 20)))
    qtbot.waitUntil(lambda: sentences(studio)[-1] == "dog to the left of car")
    assert studio.session.scene.prompt.text == THREE


def test_a_muted_relation_reaches_the_request_and_typing_keeps_it(qtbot, panel, window, engine):
    chips(panel)[0].mute_picked.emit(True)
    panel.use_prompt(PROMPT + ", oil on canvas")
    window.generation.generate()
    assert engine.jobs[0].request.scene.relations[0].is_muted
    assert not any(relation.is_guided for relation in engine.jobs[0].request.scene.relations)


def test_muting_is_undone_and_a_weight_reaches_the_request(panel, window, studio, engine):
    window.context.actions[compose_commands.MUTE].trigger()
    assert relations(studio)[0].is_muted
    window.context.edits.undo()
    assert not relations(studio)[0].is_muted
    chips(panel)[0].weight_picked.emit(2.0)
    window.generation.generate()
    assert engine.jobs[0].request.scene.relations[0].weight == 2.0


def test_ctrl_and_up_weigh_the_relations_of_the_word(qtbot, three, studio):
    editor = three.findChild(PromptEditor)
    editor.setFocus()
    cursor = editor.textCursor()
    cursor.setPosition(THREE.index("bird") + 1)
    editor.setTextCursor(cursor)
    qtbot.keyClick(editor, Qt.Key.Key_Up, Qt.KeyboardModifier.ControlModifier)
    assert [relation.weight for relation in relations(studio)] == [1.0, 2.0]


def test_the_picked_relation_is_marked_and_the_wheel_opens_for_it(qtbot, three, studio, window):
    qtbot.mouseClick(chips(three)[1], Qt.MouseButton.LeftButton, pos=QPoint(3, 3))
    assert studio.session.relation_id == relations(studio)[1].id
    qtbot.waitUntil(lambda: chips(three)[1].property("kind") == "picked")
    window.context.actions[compose_commands.CHANGE_RELATION].trigger()
    wheel = three.findChild(RelationWheel)
    assert wheel.accessibleName() == "Where is the bird?"
    qtbot.keyClick(wheel, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: three.findChild(RelationWheel) is None)


@pytest.mark.usefixtures("diagonally_above")
def test_a_registered_type_is_picked_in_the_wheel_and_written(qtbot, panel, studio, window):
    window.context.actions[compose_commands.CHANGE_RELATION].trigger()
    wheel = panel.findChild(RelationWheel)
    qtbot.mouseClick(named(wheel, QToolButton, "diagonally above"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: names(panel) == ["Relation: dog diagonally above car"])
    assert studio.session.scene.prompt.text == "a photo of a dog diagonally above a car"


def test_a_contradiction_is_marked_and_mended_on_its_chip(qtbot, panel, studio):
    panel.use_prompt("a dog to the left of a car and the car to the left of the dog")
    qtbot.waitUntil(lambda: len(chips(panel)) == 2)
    assert all(" contradicts " in chip.accessibleDescription() for chip in chips(panel))
    chips(panel)[1].fix_asked.emit()
    qtbot.waitUntil(lambda: sentences(studio) == ["dog to the left of car"])


def test_alt_and_up_bring_back_what_was_drawn(qtbot, panel, window):
    window.generation.generate()
    editor = panel.findChild(PromptEditor)
    qtbot.waitUntil(lambda: bool(window.context.settings.earlier_prompts))
    panel.use_prompt("a dog above a car")
    editor.setFocus()
    qtbot.keyClick(editor, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert editor.toPlainText() == PROMPT
    qtbot.keyClick(editor, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    assert editor.toPlainText() == "a dog above a car"


def labels(panel):
    return [label.text() for label in panel.findChildren(QLabel) if not label.isHidden()]


def test_tokens_are_counted_and_a_thing_beyond_the_limit_blocks_the_run(
    qtbot, panel, engine, window
):
    engine.answer(limit=46)
    qtbot.waitUntil(lambda: "11 of 46 tokens" in labels(panel))
    engine.answer(limit=8)
    qtbot.waitUntil(lambda: any("cannot read car." in text for text in labels(panel)))
    window.generation.generate()
    assert engine.jobs == []
    window.generation.use_seed(11)  # settings can be changed
    assert window.generation.settings.sampling.seed == 11
    estimates = [
        each for each in window.findChildren(QLabel) if each.accessibleName() == "Estimate"
    ]
    assert estimates
    assert all(each.isHidden() for each in estimates)
    panel.use_prompt("a dog left of a car")
    engine.answer(limit=8)
    qtbot.waitUntil(lambda: not any("cannot read car." in text for text in labels(panel)))
    window.generation.generate()
    assert engine.jobs


def test_words_are_completed_to_whatever_can_be_named(qtbot, panel):
    editor = panel.findChild(PromptEditor)
    editor.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.keyClicks(editor, " and an accord")
    assert editor.accessibleDescription() == "Tab completes: ion"


def test_words_that_the_model_does_not_know_are_offered_after_its_own(
    qtbot, panel, studio, monkeypatch
):
    known = {name: name for name in ("dog", "car", "giraffe")}
    cards = (replace(studio.model(), known_objects=known),)
    monkeypatch.setattr(studio.model_list, "_cards", cards)
    panel.use_model(studio.model().id)
    editor = panel.findChild(PromptEditor)
    editor.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.keyClicks(editor, " and a gir")
    assert editor.accessibleDescription() == "Tab completes: affe"
    qtbot.keyClicks(editor, "affe and an accord")
    assert editor.accessibleDescription() == "Tab completes: ion not supported by this model"


def test_what_was_just_typed_can_be_undone_or_drawn(qtbot, panel, window, engine):
    editor = panel.findChild(PromptEditor)
    editor.setFocus()
    editor.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.keyClicks(editor, ", a cat")
    qtbot.keyClick(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert editor.toPlainText() == PROMPT
    editor.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.keyClicks(editor, ", a cat")
    qtbot.keyClick(editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert engine.jobs[0].request.scene.prompt.text.endswith(", a cat")


def test_syntax_is_shaded_while_it_is_typed(panel):
    editor = panel.findChild(PromptEditor)
    editor.show_prompt("a (dog:1.3) to the left of a __animal__")
    assert shaded(editor) == ["(", ":1.3)", "__animal__"]
    editor.insertPlainText("(")
    assert shaded(editor) == ["(", ":1.3)", "__animal__"]
    editor.show_prompt(PROMPT)
    assert shaded(editor) == []


def shaded(editor):
    return [editor.toPlainText()[start:stop] for start, stop in editor._syntax]
