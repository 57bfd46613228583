import pytest
from PySide6.QtWidgets import QLabel

from spatialstudio.application.paths import resources_folder
from spatialstudio.ui.framework.command import Menu
from spatialstudio.ui.theme.fonts import use_bundled_font
from spatialstudio.ui.widgets.dock_column import DockRoom
from spatialstudio.ui.window.command_table import TABLE
from spatialstudio.ui.window.shortcuts import ShortcutSheet


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


@pytest.mark.parametrize(("percent", "columns"), [(100, 3), (150, 2), (200, 1)])
def test_larger_text_has_fewer_columns_and_scrolls_down_only(
    qtbot, qapp, window, appearance, percent, columns
):
    use_bundled_font(qapp, resources_folder() / "fonts")
    appearance.use_text_percent(percent)
    qtbot.wait(0)
    window.resize(1280, 800)
    ShortcutSheet(window.context.actions, window).open()
    sheet = window.findChild(ShortcutSheet)
    qtbot.waitUntil(sheet.isVisible)
    titles = {menu.value.replace("&", "") for menu in Menu}
    headings = [label for label in sheet.findChildren(QLabel) if label.text() in titles]
    assert len({label.mapTo(sheet, label.rect().topLeft()).x() for label in headings}) == columns
    room = sheet.findChild(DockRoom)
    assert room.horizontalScrollBar().maximum() == 0
    assert (room.verticalScrollBar().maximum() == 0) is (percent == 100)
    sheet.close()
