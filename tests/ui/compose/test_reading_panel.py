from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QLabel, QPushButton

from spatialstudio.application.compose.edit_relations import why
from spatialstudio.application.compose.language_model import ReadAgain, ServerKept
from spatialstudio.domain.scene import BEHIND, RIGHT_OF, Note
from spatialstudio.domain.servers import ServerChoice
from spatialstudio.ui.compose.reading_panel import ReadingPanel
from spatialstudio.ui.compose.widgets.prompt_editor import PromptEditor
from spatialstudio.ui.compose.widgets.reading_notes import NoteRow
from spatialstudio.ui.framework.window_signals import LANGUAGE_MODEL_PAGE
from spatialstudio.ui.window.window_commands import shown_settings
from tests.ui.scripted_engine import PROMPT


@pytest.fixture
def panel(window):
    """The doubts about the prompt, within a window."""
    return window.prompt.findChild(ReadingPanel)


@pytest.fixture
def type_prompt(window):
    return window.prompt.use_prompt


@pytest.fixture
def type_on(qtbot, window, studio):
    """Type some words behind the prompt, and wait until they are read."""

    def type_(words):
        editor = window.prompt.findChild(PromptEditor)
        editor.moveCursor(QTextCursor.MoveOperation.End)
        qtbot.keyClicks(editor, words)
        qtbot.waitUntil(lambda: studio.session.scene.prompt.text.endswith(words))

    return type_


@pytest.fixture
def read_again(qtbot, studio):
    """Have a model read the same prompt, with "behind" in the place of every relation."""

    def publish(note="", is_implied=False):
        qtbot.waitUntil(lambda: studio.session.scene is not None)
        read = studio.session.scene
        relations = tuple(
            replace(each, type=BEHIND, is_implied=is_implied) for each in read.relations
        )
        notes = (Note(message=note),) if note else ()
        later = replace(read, relations=relations, notes=notes, extractor_id="llm")
        studio.bus.publish(ReadAgain(scene=later))

    return publish


def shown(panel):
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisibleTo(panel)]


def says(panel, words):
    return any(words in text for text in shown(panel))


def buttons(panel, words):
    return [
        each
        for each in panel.findChildren(QPushButton)
        if words in each.text() and each.isVisibleTo(panel)
    ]


def press(qtbot, panel, words):
    qtbot.waitUntil(lambda: bool(buttons(panel, words)))
    qtbot.mouseClick(buttons(panel, words)[0], Qt.MouseButton.LeftButton)


def types(studio):
    return [relation.type.phrase for relation in studio.session.scene.relations]


def test_a_contradiction_is_mended_in_one_step(qtbot, panel, window, studio, type_prompt):
    type_prompt("a dog left of a car and the car left of the dog")
    qtbot.waitUntil(lambda: says(panel, "Contradiction"))
    press(qtbot, panel, "Remove")
    qtbot.waitUntil(lambda: not says(panel, "Contradiction"))
    assert types(studio) == ["to the left of"]
    assert studio.session.scene.prompt.text == "a dog to the left of a car"
    window.context.edits.undo()
    qtbot.waitUntil(lambda: says(panel, "Contradiction"))


def test_what_is_said_twice_is_no_contradiction(qtbot, panel, type_prompt):
    type_prompt("a dog left of a car and the car to the right of the dog")
    qtbot.waitUntil(lambda: says(panel, "Repeated"))
    assert not says(panel, "Contradiction")


def test_a_note_points_at_its_words_in_the_prompt(qtbot, panel, window, type_prompt):
    type_prompt("a dog not left of a car")
    qtbot.waitUntil(lambda: says(panel, "Note: I do not understand"))
    editor = window.prompt.findChild(PromptEditor)
    row = next(
        each for each in panel.findChildren(NoteRow) if "not left of" in each.accessibleName()
    )
    row.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(lambda: marked(editor) == ["not left of"])
    editor.setFocus()
    qtbot.waitUntil(lambda: marked(editor) == [])


def marked(editor):
    return [editor.toPlainText()[start:stop] for start, stop in editor._pointed]


def test_what_a_model_adds_is_told_with_its_offer(qtbot, panel, studio, type_prompt, read_again):
    type_prompt(PROMPT)
    read_again(note="It names a unicorn, which is not in the prompt.", is_implied=True)
    qtbot.waitUntil(lambda: says(panel, 'It may imply "dog behind car" without stating it.'))
    assert says(panel, "Note: It names a unicorn")
    press(qtbot, panel, "Accept")
    qtbot.waitUntil(lambda: len(types(studio)) == 2)
    implied = studio.session.scene.relations[-1]
    assert "inferred it" in why(studio.session.scene, implied)


def test_another_reading_is_offered_and_what_is_accepted_stays(
    qtbot, panel, studio, type_prompt, type_on, read_again
):
    type_prompt(PROMPT)
    read_again()
    qtbot.waitUntil(lambda: len(buttons(panel, "Accept")) == 2)
    assert types(studio) == ["to the left of"]
    press(qtbot, panel, "Accept")
    qtbot.waitUntil(lambda: types(studio) == ["to the left of", "behind"])
    qtbot.waitUntil(lambda: len(buttons(panel, "Accept")) == 1)
    assert studio.session.scene.prompt.text == PROMPT
    type_on(" at night")
    assert types(studio) == ["to the left of", "behind"]


def test_a_relation_that_the_model_reverses_is_an_offer(qtbot, panel, studio, type_prompt):
    type_prompt(PROMPT)
    qtbot.waitUntil(lambda: studio.session.scene is not None)
    read = studio.session.scene
    claim = replace(read.relations[0], type=RIGHT_OF, is_unconfirmed=True)
    studio.bus.publish(ReadAgain(scene=replace(read, disputed=(claim,), extractor_id="llm")))
    qtbot.waitUntil(lambda: says(panel, "the grammar finds"))
    assert types(studio) == ["to the left of"]
    press(qtbot, panel, "Accept")
    qtbot.waitUntil(lambda: types(studio) == ["to the right of"])
    scene = studio.session.scene
    assert "Lower confidence: the grammar reads these words differently." in why(
        scene, scene.relations[0]
    )


def test_what_was_dismissed_stays_so_while_the_prompt_is_typed_on(
    qtbot, panel, studio, type_prompt, type_on, read_again
):
    type_prompt(PROMPT)
    read_again(note="first")
    qtbot.waitUntil(lambda: len(buttons(panel, "Dismiss")) == 2)
    press(qtbot, panel, "Dismiss")
    qtbot.waitUntil(lambda: len(buttons(panel, "Dismiss")) == 1)
    assert types(studio) == ["to the left of"]
    type_on(" at night")
    read_again(note="second")
    qtbot.waitUntil(lambda: says(panel, "second"))
    assert len(buttons(panel, "Dismiss")) == 1


def test_offers_go_with_their_prompt_and_what_was_dismissed_returns_with_it(
    qtbot, panel, type_prompt, read_again
):
    type_prompt(PROMPT)
    read_again()
    press(qtbot, panel, "Dismiss")
    qtbot.waitUntil(lambda: len(buttons(panel, "Dismiss")) == 1)
    assert buttons(panel, "Accept")
    type_prompt("oil on canvas, two huge rocks under a bird")
    qtbot.waitUntil(lambda: not buttons(panel, "Dismiss") and not buttons(panel, "Accept"))
    type_prompt(PROMPT)
    read_again()
    qtbot.waitUntil(lambda: len(buttons(panel, "Dismiss")) == 2)


@pytest.fixture
def server(monkeypatch, studio):
    """A language model's server that is chosen; remembers which prompts it was asked for."""
    asked = []
    choice = ServerChoice(url="http://127.0.0.1:9/v1", model="some")
    monkeypatch.setattr(type(studio.language_model), "choice", choice)
    monkeypatch.setattr(studio, "request_second_reading", asked.append)
    return asked


@pytest.fixture
def fail(qtbot, studio, panel, server, type_prompt):
    """Let the server fail at the prompt."""

    def publish():
        type_prompt(PROMPT)
        qtbot.waitUntil(lambda: studio.session.scene is not None)
        scene = studio.session.scene
        studio.bus.publish(ReadAgain(scene=scene, failure=Note(message="It cannot be reached.")))
        qtbot.waitUntil(lambda: says(panel, "It cannot be reached."))
        server.clear()

    return publish


def test_a_server_that_fails_is_asked_again(qtbot, panel, fail, server, studio):
    fail()
    assert studio.session.scene.notes == ()
    panel.handle(ServerKept(problem="There is no keyring."))
    assert server == []
    press(qtbot, panel, "Try again")
    assert server == [PROMPT]
    assert not says(panel, "It cannot be reached.")


def test_a_server_that_fails_leads_to_its_settings(qtbot, panel, fail, window, server, studio):
    fail()
    press(qtbot, panel, "Settings…")
    assert shown_settings(window) == (LANGUAGE_MODEL_PAGE,)
    studio.bus.publish(ServerKept())  # another server is asked at once
    qtbot.waitUntil(lambda: server == [PROMPT])
