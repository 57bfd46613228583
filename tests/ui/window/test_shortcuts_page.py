import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QKeySequenceEdit, QLabel, QLineEdit, QPushButton, QTreeWidget

from spatialstudio.ui.framework.commands import PALETTE, QUIT
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.window.shortcuts import ShortcutsPage

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def page(qtbot, context):
    page = ShortcutsPage(context.actions)
    qtbot.addWidget(page)
    page.show()
    choose(page, "Quit")
    return page


def choose(page, text):
    tree = page.findChild(QTreeWidget)
    tree.setCurrentItem(tree.findItems(text, Qt.MatchFlag.MatchExactly)[0])


def type_keys(page, text):
    page.findChild(QKeySequenceEdit).setKeySequence(QKeySequence(text))


def press(qtbot, page, text):
    button = next(each for each in page.findChildren(QPushButton) if each.text() == text)
    qtbot.mouseClick(button, LEFT)


def texts(page):
    return [label.text() for label in page.findChildren(QLabel)]


def test_new_keys_are_taken(qtbot, page, context):
    type_keys(page, "F9")
    press(qtbot, page, "Assign shortcut")
    assert context.actions[QUIT].shortcut() == QKeySequence("F9")


def test_keys_of_another_command_are_told_before_they_move(qtbot, page, context):
    type_keys(page, PALETTE.keys)
    assert "This shortcut is already assigned to “Find a command”." in texts(page)
    press(qtbot, page, "Reassign")
    assert context.actions[QUIT].shortcut() == QKeySequence(PALETTE.keys)
    assert context.actions[PALETTE].shortcut().isEmpty()


def test_the_usual_keys_can_be_had_again(qtbot, page, context):
    press(qtbot, page, "Remove shortcut")
    assert context.actions[QUIT].shortcut().isEmpty()
    press(qtbot, page, "Restore default")
    assert context.actions[QUIT].shortcut() == QKeySequence(QUIT.keys)


def test_a_command_is_found_by_its_keys(qtbot, page):
    qtbot.keyClicks(page.findChild(QLineEdit), "ctrl+k")
    tree = page.findChild(QTreeWidget)
    shown = [tree.topLevelItem(row) for row in range(tree.topLevelItemCount())]
    assert [item.text(0) for item in shown if not item.isHidden()] == ["Find a command"]


def test_keys_are_whole_where_there_is_little_room(qtbot, page):
    tree = page.findChild(QTreeWidget)
    tree.resize(em(20), em(20))
    qtbot.waitUntil(lambda: tree.columnWidth(0) + tree.columnWidth(1) <= tree.viewport().width())
    assert tree.columnWidth(1) >= tree.sizeHintForColumn(1)
