import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QApplication

from spatialstudio.ui.stage.widgets.word_chips import (
    WordChip,
    WordChips,
    WordTag,
)

LEFT = Qt.MouseButton.LeftButton
SHIFT = Qt.KeyboardModifier.ShiftModifier
TAGS = (
    WordTag("word-0", "a", 2, is_quiet=True, reason="Not captured"),
    WordTag("m1", "dog", 0),
    WordTag("m2", "car", 1),
)


@pytest.fixture
def words(qtbot, theme):
    words = WordChips(theme)
    qtbot.addWidget(words)
    words.show_words(TAGS)
    words.resize(400, 40)
    words.show()
    return words


@pytest.fixture
def asked(words):
    """What was asked for: names of signals with their keys, looks in passing left out."""
    pronounced = []
    for name in ("pin", "compare", "solo"):
        signal = getattr(words, f"{name}_asked")
        signal.connect(lambda key, name=name: pronounced.append((name, key)))
    return pronounced


def chip(words, key):
    return next(each for each in words.findChildren(WordChip) if each.tag.key == key)


def test_a_click_pins(qtbot, words, asked):
    qtbot.mouseClick(chip(words, "m1"), LEFT)
    assert asked == [("pin", "m1")]


def test_shift_and_click_compares(qtbot, words, asked):
    qtbot.mouseClick(chip(words, "m2"), LEFT, SHIFT)
    assert asked == [("compare", "m2")]


def test_a_double_click_shows_alone(qtbot, words, asked):
    middle = chip(words, "m1").rect().center()
    qtbot.mouseClick(chip(words, "m1"), LEFT, pos=middle)
    qtbot.mouseDClick(chip(words, "m1"), LEFT, pos=middle)
    assert asked == [("pin", "m1"), ("solo", "m1")]


@pytest.mark.parametrize(
    ("key", "modifier", "name"),
    [
        (Qt.Key.Key_Space, Qt.KeyboardModifier.NoModifier, "pin"),
        (Qt.Key.Key_Space, SHIFT, "compare"),
        (Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier, "solo"),
    ],
    ids=["space", "shift-space", "enter"],
)
def test_the_keyboard_does_all_of_it(qtbot, words, asked, key, modifier, name):
    qtbot.keyClick(chip(words, "m2"), key, modifier)
    assert asked == [(name, "m2")]


def test_a_press_that_slides_off_pins_nothing(qtbot, words, asked):
    one = chip(words, "m1")
    qtbot.mousePress(one, LEFT)
    qtbot.mouseMove(one, QPoint(-20, 60))
    qtbot.mouseRelease(one, LEFT, pos=QPoint(-20, 60))
    assert asked == []


def test_the_pointer_looks_in_passing(qtbot, words):
    looked = []
    words.word_hovered.connect(looked.append)
    place = QPointF(2, 2)
    QApplication.sendEvent(chip(words, "m1"), QEnterEvent(place, place, place))
    assert looked == ["m1"]


def test_the_keyboard_looks_in_passing(qtbot, words):
    looked = []
    words.word_hovered.connect(looked.append)
    chip(words, "m1").setFocus()
    chip(words, "m2").setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(lambda: looked[-1:] == ["m2"])


def test_a_word_without_a_map_says_why_and_cannot_be_picked(qtbot, words, asked):
    one = chip(words, "word-0")
    qtbot.mouseClick(one, LEFT)
    assert asked == []
    assert one.toolTip() == "Not captured"


def test_pins_are_marked_and_never_by_the_chip_itself(qtbot, words):
    qtbot.mouseClick(chip(words, "m1"), LEFT)
    assert not chip(words, "m1").isChecked()
    words.show_pins(("m1", "m2"))
    assert chip(words, "m1").isChecked()
    assert chip(words, "m2").isChecked()


def test_the_same_words_keep_their_chips(words):
    before = chip(words, "m1")
    words.show_words(TAGS)
    assert chip(words, "m1") is before


def test_words_that_do_not_fit_wrap_to_the_next_line(qtbot, words):
    words.resize(chip(words, "m1").width() + 30, 200)
    qtbot.waitUntil(lambda: chip(words, "m2").y() > chip(words, "m1").y())
    assert words.heightForWidth(60) > words.heightForWidth(400)


def test_all_words_are_one_stop_of_tab(words):
    tab = Qt.FocusPolicy.TabFocus
    stops = [each for each in words.findChildren(WordChip) if each.focusPolicy() & tab]
    assert [each.tag.key for each in stops if each.isEnabled()] == ["m1"]


def test_arrows_lead_along_the_words_and_stay_there(qtbot, words):
    chip(words, "m1").setFocus()
    for _ in range(2):
        qtbot.keyClick(words.focusWidget(), Qt.Key.Key_Right)
    assert words.focusWidget() is chip(words, "m2")
    assert chip(words, "m2").focusPolicy() is Qt.FocusPolicy.StrongFocus
    assert chip(words, "m1").focusPolicy() is Qt.FocusPolicy.ClickFocus


def test_where_there_is_little_room_words_without_a_map_are_left_out(words):
    words.show_brief(True)
    assert not chip(words, "word-0").isVisible()
    assert chip(words, "m1").isVisible()
    words.layout().activate()
    assert chip(words, "m1").x() == 0
    words.show_brief(False)
    assert chip(words, "word-0").isVisible()
