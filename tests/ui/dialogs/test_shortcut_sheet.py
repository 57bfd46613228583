from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QLabel

from spatialstudio.ui.actions import ACTIONS
from spatialstudio.ui.dialogs.shortcut_sheet import ShortcutSheet


def test_every_action_with_a_key_is_on_the_sheet(qtbot):
    sheet = ShortcutSheet()
    qtbot.addWidget(sheet)
    seen = {label.text() for label in sheet.findChildren(QLabel)}
    native = QKeySequence.SequenceFormat.NativeText
    expected = {QKeySequence(text.keys).toString(native) for text in ACTIONS.values() if text.keys}
    assert expected <= seen
