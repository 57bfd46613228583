import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton

from spatialstudio.ui.compose.widgets.reading_notes import (
    NoteKind,
    NoteRow,
    ReadingNote,
    ReadingNotes,
)

REMARK = ReadingNote("remark", NoteKind.REMARK, "I read a slip.")
CLASH = ReadingNote("clash", NoteKind.CONTRADICTION, "Both cannot be.", ("Leave one out",))
LOST = ReadingNote("lost", NoteKind.REMARK, "I do not understand this.", spans=((2, 5),))
AGAIN = ReadingNote("again", NoteKind.REMARK, "Nor this.", spans=((7, 9), (11, 12)))
OFFER = ReadingNote("offer", NoteKind.OFFER, "It may say more.", ("Accept", "Dismiss"))


@pytest.fixture
def notes(qtbot, theme):
    notes = ReadingNotes(theme)
    qtbot.addWidget(notes)
    return notes


def texts(notes):
    labels = notes.findChildren(QLabel)
    return [label.text() for label in labels if label.text() and label.isVisible()]


def test_without_notes_nothing_is_in_sight(notes):
    notes.show_notes((REMARK,))
    notes.show_notes(())
    assert not notes.isVisible()


def test_each_kind_is_told_by_a_word_and_the_graver_first(notes):
    notes.show_notes((REMARK, OFFER, CLASH))
    assert texts(notes) == [
        "Contradiction: Both cannot be.",
        "Interpreted differently: It may say more.",
        "Note: I read a slip.",
    ]


def test_a_long_note_is_cut_and_told_whole_in_its_tip(notes):
    names = ", ".join(f"object {number}" for number in range(90))
    notes.show_notes((ReadingNote("long", NoteKind.REMARK, names),))
    (shown,) = texts(notes)
    assert shown.startswith("Note: object 0, object 1")
    assert shown.endswith("…")
    row = notes.findChild(NoteRow)
    assert row.toolTip() == row.accessibleName() == f"Note: {names}"


def test_other_notes_take_the_place_of_those_before(qtbot, notes):
    notes.show_notes((REMARK, CLASH))
    notes.show_notes((OFFER,))
    qtbot.waitUntil(lambda: texts(notes) == ["Interpreted differently: It may say more."])


@pytest.mark.parametrize(("answer", "number"), [("Accept", 0), ("Dismiss", 1)])
def test_an_answer_is_decoded_with_its_note(qtbot, notes, answer, number):
    notes.show_notes((CLASH, OFFER))
    button = next(each for each in notes.findChildren(QPushButton) if each.text() == answer)
    with qtbot.waitSignal(notes.answer_picked) as picked:
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert picked.args == ["offer", number]


def test_contradictions_stand_out_by_their_frame(notes):
    notes.show_notes((REMARK, CLASH))
    kinds = [notes.layout().itemAt(row).widget().property("kind") for row in range(2)]
    assert kinds == ["warning", "quiet"]


@pytest.fixture
def rows(qtbot, notes):
    """The rows of notes about words, in a window that has the keyboard."""
    notes.show_notes((LOST, AGAIN, OFFER))
    notes.activateWindow()
    qtbot.waitExposed(notes)
    return {row.accessibleName(): row for row in notes.findChildren(NoteRow)}


def test_the_keyboard_points_at_the_words_of_a_note(qtbot, notes, rows):
    first = rows["Note: I do not understand this."]
    with qtbot.waitSignal(notes.words_pointed, check_params_cb=lambda spans: spans == LOST.spans):
        first.setFocus(Qt.FocusReason.TabFocusReason)
    with qtbot.waitSignal(notes.words_pointed, check_params_cb=lambda spans: spans == AGAIN.spans):
        qtbot.keyClick(first, Qt.Key.Key_Down)
    assert rows["Note: Nor this."].hasFocus()


def test_notes_about_words_are_one_stop_of_tab(rows):
    stops = [row for row in rows.values() if row.focusPolicy() is Qt.FocusPolicy.StrongFocus]
    assert [row.accessibleName() for row in stops] == ["Note: I do not understand this."]


def test_the_mouse_points_at_the_words_of_a_note_until_it_leaves(qtbot, notes, rows):
    row = rows["Note: Nor this."]
    with qtbot.waitSignal(notes.words_pointed, check_params_cb=lambda spans: spans == AGAIN.spans):
        qtbot.mouseMove(row)
    with qtbot.waitSignal(notes.words_pointed, check_params_cb=lambda spans: spans == ()):
        qtbot.mouseMove(rows["Interpreted differently: It may say more."])
