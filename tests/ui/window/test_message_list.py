import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton

from spatialstudio.ui.widgets.toast_cards import Toast, ToastKind
from spatialstudio.ui.window.window_commands import MessageList


@pytest.fixture
def messages(qtbot):
    toasts = [Toast(kind=ToastKind.NEWS, message=text, hint="Why.") for text in ("old", "new")]
    dialog = MessageList(tuple(toasts))
    qtbot.addWidget(dialog)
    return dialog


def test_the_newest_message_comes_first_and_all_can_be_copied(qtbot, messages):
    copy = next(each for each in messages.findChildren(QPushButton) if each.text() == "Copy all")
    qtbot.mouseClick(copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == "new\nWhy.\n\nold\nWhy."


def test_without_messages_there_is_nothing_to_copy(qtbot):
    dialog = MessageList(())
    qtbot.addWidget(dialog)
    copy = next(each for each in dialog.findChildren(QPushButton) if each.text() == "Copy all")
    assert not copy.isEnabled()
