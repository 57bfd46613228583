import pytest
from PySide6.QtCore import Qt, QThread, QTimer

from spatialstudio.ui.compose.widgets.prompt_editor import (
    MarkedWord,
    PromptEditor,
    TokenMarks,
    rest_of,
)


@pytest.fixture
def editor(qtbot, theme):
    editor = PromptEditor(theme)
    qtbot.addWidget(editor)
    editor.resize(300, 100)
    editor.show()
    return editor


def colours_of(editor):
    image = editor.viewport().grab().toImage()
    return {
        image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())
    }


def middle_of(editor, word):
    cursor = editor.textCursor()
    cursor.setPosition(editor.toPlainText().index(word) + 1)
    return editor.viewport().mapToGlobal(editor.cursorRect(cursor).center())


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


def test_the_longer_a_prompt_takes_the_longer_it_waits_for_the_next_pause(qtbot, editor):
    editor.prompt_edited.connect(lambda _text: QThread.msleep(200))
    qtbot.keyClicks(editor, "a")
    editor.settle()
    assert editor.findChild(QTimer).interval() >= 400


def test_what_is_not_told_yet_can_be_asked_for_once(qtbot, editor):
    told = []
    editor.prompt_edited.connect(told.append)
    qtbot.keyClicks(editor, "a cat")
    editor.settle()
    editor.settle()
    assert told == ["a cat"]


def test_showing_a_prompt_does_not_echo_it(qtbot, editor):
    with qtbot.assertNotEmitted(editor.prompt_edited, wait=200):
        editor.show_prompt("a dog")
    assert editor.toPlainText() == "a dog"


def test_an_object_word_is_underlined_in_its_hue(editor, theme):
    editor.show_prompt("a dog and a car")
    editor.show_words((MarkedWord(2, 5, 1),))
    seen = colours_of(editor)
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


def test_what_the_model_does_not_read_is_struck_through(editor, theme):
    editor.show_prompt("a dog and a car")
    editor.show_tokens(TokenMarks("a dog and a car", ((0, 1), (2, 5)), read=5))
    assert theme.colour("bad").name() in colours_of(editor)


def test_tokens_are_ticked_under_the_words(editor, theme):
    editor.show_prompt("a dog")
    before = theme.colour("faint").name() in colours_of(editor)
    editor.show_tokens(TokenMarks("a dog", ((0, 1), (2, 5)), read=5))
    after = theme.colour("faint").name() in colours_of(editor)
    assert (before, after) == (False, True)


def test_tokens_of_another_text_are_not_shown(editor, theme):
    editor.show_prompt("a dog")
    editor.show_tokens(TokenMarks("a dog and a car", ((0, 1),), read=1))
    assert theme.colour("bad").name() not in colours_of(editor)


def test_the_thing_at_a_place_is_known(editor):
    editor.show_prompt("a dog and a car")
    editor.show_words((MarkedWord(2, 5, 0, "m1"), MarkedWord(12, 15, 1, "m2")))
    assert editor.thing_at(middle_of(editor, "car")) == "m2"
    assert editor.thing_at(middle_of(editor, "and")) is None


def test_the_thing_under_the_cursor_is_known(editor):
    editor.show_prompt("a dog and a car")
    editor.show_words((MarkedWord(2, 5, 0, "m1"), MarkedWord(12, 15, 1, "m2")))
    assert editor.thing_under_cursor() == "m2"


@pytest.mark.parametrize("key", [Qt.Key.Key_Tab, Qt.Key.Key_Right], ids=["Tab", "Right"])
def test_a_word_is_completed(qtbot, editor, key):
    editor.show_vocabulary(("cat", "elephant"))
    qtbot.keyClicks(editor, "an el")
    assert editor.accessibleDescription() == "Tab completes: ephant"
    qtbot.keyClick(editor, key)
    assert (editor.toPlainText(), editor.accessibleDescription()) == ("an elephant", "")


def test_what_the_model_knows_is_offered_before_the_rest(qtbot, editor):
    editor.show_vocabulary(("cattle",), beyond=("cat", "giraffe"))
    qtbot.keyClicks(editor, "a catt")
    assert editor.accessibleDescription() == "Tab completes: le"
    qtbot.keyClicks(editor, "le and a gir")
    assert editor.remark == "not supported by this model"
    assert editor.accessibleDescription() == "Tab completes: affe not supported by this model"


def test_the_remark_goes_with_the_completion(qtbot, editor):
    editor.show_vocabulary((), beyond=("giraffe",))
    qtbot.keyClicks(editor, "a gir")
    qtbot.keyClick(editor, Qt.Key.Key_Tab)
    assert (editor.toPlainText(), editor.remark) == ("a giraffe", "")


def test_a_completion_can_be_waved_off(qtbot, editor):
    editor.show_vocabulary(("elephant",))
    qtbot.keyClicks(editor, "an el")
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    qtbot.keyClick(editor, Qt.Key.Key_Right)
    assert editor.toPlainText() == "an el"


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("a ca", "t"),
        ("a cat", ""),
        ("a fire", " hydrant"),
        ("a Fire hy", "drant"),
        ("a c", ""),
        ("a zz", ""),
        ("a cat, ", ""),
        ("a cat and", ""),
    ],
)
def test_only_what_is_begun_is_completed(text, rest):
    assert rest_of(text, ("cat", "fire hydrant", "cattle", "android")) == rest


def test_syntax_is_shaded(editor):
    editor.show_prompt("(dog:1.3)")
    before = editor.viewport().grab().toImage()
    editor.show_syntax(((0, 1), (4, 9)))
    assert editor.viewport().grab().toImage() != before
    editor.show_syntax(())
    assert editor.viewport().grab().toImage() == before
