from PySide6.QtWidgets import QLabel

from spatialstudio.ui.commands.table import TABLE
from spatialstudio.ui.dialogs.shortcut_sheet import ShortcutSheet


def test_every_action_with_a_key_is_on_the_sheet(qtbot, context):
    sheet = ShortcutSheet(context.actions)
    qtbot.addWidget(sheet)
    seen = {label.text() for label in sheet.findChildren(QLabel)}
    expected = {context.actions.keys_in_words(command) for command in TABLE if command.keys}
    assert expected <= seen
