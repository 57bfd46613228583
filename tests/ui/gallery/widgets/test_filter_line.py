"""The filter line completes the word at the cursor and says what it cannot read."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit

from spatialstudio.ui.gallery.widgets.filter_line import CompletingLine, FilterLine

WORDS = ("is:starred", "relation:left_of", "verdict:", "verdict:fail", "verdict:pass")


@pytest.fixture
def line(qtbot):
    line = FilterLine()
    qtbot.addWidget(line)
    line.show_words(WORDS)
    line.show()
    line.activateWindow()
    line.setFocus()
    return line


@pytest.fixture
def field(line):
    return line.findChild(CompletingLine)


def test_a_field_is_offered_by_its_beginning(qtbot, field):
    qtbot.keyClicks(field, "cat ver")
    assert field.offers == ("verdict:", "verdict:fail", "verdict:pass")
    field._popup.hide()


def test_return_takes_what_is_offered_and_leaves_the_rest(qtbot, line, field):
    qtbot.keyClicks(field, "cat -rel")
    qtbot.keyClick(field._popup, Qt.Key.Key_Return)
    assert line.line == "cat -relation:left_of"


def test_what_is_complete_is_not_offered(qtbot, field):
    qtbot.keyClicks(field, "is:starred")
    assert field.offers == ()


def test_typing_is_told_and_showing_is_not(qtbot, line, field):
    told = []
    line.line_edited.connect(told.append)
    line.show_line("dog")
    assert told == []
    qtbot.keyClick(field, Qt.Key.Key_S)
    assert told == ["dogs"]


def test_down_moves_to_the_results(qtbot, line, field):
    with qtbot.waitSignal(line.left_downwards):
        qtbot.keyClick(field, Qt.Key.Key_Down)


def test_an_error_is_shown_below_until_it_is_fixed(line, field):
    line.show_problem('"colour" is not a filter field.')
    assert line.problem.isVisible()
    assert "colour" in field.accessibleDescription()
    line.show_problem("")
    assert not line.problem.isVisible()


def test_the_line_has_a_name(line):
    assert line.findChild(QLineEdit).accessibleName() == "Filter"
