import pytest
from PySide6.QtCore import Qt

from spatialstudio.ui.widgets.prompt_editor import MarkedWord, PromptEditor


@pytest.fixture
def editor(qtbot, theme):
    editor = PromptEditor(theme)
    qtbot.addWidget(editor)
    editor.resize(300, 100)
    editor.show()
    return editor


def test_typing_tells_the_prompt_after_a_moment(qtbot, editor):
    with qtbot.waitSignal(editor.prompt_edited) as told:
        qtbot.keyClicks(editor, "a dog")
    assert told.args == ["a dog"]


def test_one_pause_tells_once(qtbot, editor):
    told = []
    editor.prompt_edited.connect(told.append)
    qtbot.keyClicks(editor, "a cat")
    qtbot.waitUntil(lambda: bool(told))
    assert told == ["a cat"]


def test_showing_a_prompt_does_not_echo_it(qtbot, editor):
    with qtbot.assertNotEmitted(editor.prompt_edited, wait=200):
        editor.show_prompt("a dog")
    assert editor.toPlainText() == "a dog"


def test_an_object_word_is_underlined_in_its_hue(editor, theme):
    editor.show_prompt("a dog and a car")
    editor.show_words((MarkedWord(2, 5, 1),))
    image = editor.viewport().grab().toImage()
    seen = {
        image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())
    }
    assert theme.mention(1).name() in seen
    assert theme.mention(0).name() not in seen


def test_a_word_beyond_the_text_is_let_be(editor):
    editor.show_prompt("a dog")
    editor.show_words((MarkedWord(2, 50, 0),))
    assert not editor.viewport().grab().isNull()


def test_undo_is_left_to_the_window(qtbot, editor):
    qtbot.keyClicks(editor, "a dog")
    qtbot.keyClick(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert editor.toPlainText() == "a dog"
