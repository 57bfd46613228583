from PySide6.QtWidgets import QLabel

from spatialstudio.ui.commands.table import TABLE
from spatialstudio.ui.dialogs.shortcut_sheet import ShortcutSheet


def test_every_action_with_a_key_is_on_the_sheet(qtbot, context):
    sheet = ShortcutSheet(context.actions)
    qtbot.addWidget(sheet)
    seen = {label.text() for label in sheet.findChildren(QLabel)}
    expected = {context.actions.keys_in_words(command) for command in TABLE if command.keys}
    assert expected <= seen


def test_the_sheet_stays_within_its_window(qtbot, window):
    window.resize(800, 500)
    ShortcutSheet(window.context.actions, window).open()
    sheet = window.findChild(ShortcutSheet)
    qtbot.addWidget(sheet)
    assert sheet.width() <= 800
    assert sheet.height() <= 500
