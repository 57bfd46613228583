import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QToolButton

from spatialstudio.application.paths import resources_folder
from spatialstudio.ui.framework import commands as framework_commands
from spatialstudio.ui.framework.command import Menu, Scope
from spatialstudio.ui.gallery.commands import EXPORT
from spatialstudio.ui.inspect.widgets.replay_bar import ReplayBar
from spatialstudio.ui.theme.fonts import use_bundled_font
from spatialstudio.ui.widgets.picture_layers import Layer


def buttons(window):
    corner = window.menuBar().cornerWidget()
    return [each for each in corner.findChildren(QToolButton) if each.isVisible()]


def has_button_of(window, command):
    return window.context.actions[command] in [each.defaultAction() for each in buttons(window)]


def button_of(window, command):
    action = window.context.actions[command]
    return next(each for each in buttons(window) if each.defaultAction() is action)


def test_a_narrow_bar_keeps_the_workspaces_and_the_search(window):
    assert has_button_of(window, framework_commands.STAGE_ONLY)
    assert has_button_of(window, framework_commands.INSPECT_WORKSPACE)
    window.resize(900, 700)
    assert not has_button_of(window, framework_commands.STAGE_ONLY)
    assert has_button_of(window, framework_commands.INSPECT_WORKSPACE)
    assert any(each.accessibleName() == "Find a command…" for each in buttons(window))
    window.resize(1280, 800)
    assert has_button_of(window, framework_commands.STAGE_ONLY)


def titles(window):
    return [action.text().replace("&", "") for action in window.menuBar().actions()]


def visible(bar):
    corner = bar.cornerWidget().geometry()
    places = [bar.actionGeometry(action) for action in bar.actions()]
    return all(not place.isEmpty() and place.right() < corner.left() for place in places)


@pytest.mark.parametrize("percent", [100, 150, 200])
def test_every_menu_can_be_reached_at_any_size_of_text(qtbot, qapp, window, appearance, percent):
    use_bundled_font(qapp, resources_folder() / "fonts")
    appearance.use_text_percent(percent)
    window.resize(1280, 800)
    menus = [menu.value.replace("&", "") for menu in Menu]
    wanted = menus if percent == 100 else ["Menu"]
    qtbot.waitUntil(lambda: titles(window) == wanted and visible(window.menuBar()))


def test_one_menu_holds_all_where_the_bar_is_narrow(qtbot, window):
    window.resize(640, 700)
    assert titles(window) == ["Menu"]
    whole = window.menuBar().actions()[0].menu()
    parts = [action.text().replace("&", "") for action in whole.actions()]
    assert parts == [menu.value.replace("&", "") for menu in Menu]
    whole.popup(window.pos())
    qtbot.keyClick(whole, Qt.Key.Key_V)
    view = QApplication.activePopupWidget()
    assert window.context.actions[framework_commands.ALL_CONTROLS] in view.actions()
    view.close()
    whole.close()
    window.resize(1280, 800)
    assert "File" in titles(window)


def test_workspaces_keep_their_places_whatever_tools_there_are(window, qtbot):
    inspect = button_of(window, framework_commands.INSPECT_WORKSPACE)
    places = set()
    for command in (
        framework_commands.GENERATE_WORKSPACE,
        framework_commands.EVALUATE_WORKSPACE,
        framework_commands.GALLERY_WORKSPACE,
    ):
        qtbot.mouseClick(button_of(window, command), Qt.MouseButton.LeftButton)
        places.add(inspect.mapTo(window, inspect.rect().topLeft()).toTuple())
    assert len(places) == 1


def test_a_workspace_shows_its_own_tools(window):
    window.context.actions[framework_commands.EVALUATE_WORKSPACE].trigger()
    assert has_button_of(window, framework_commands.OPEN_PICTURE)
    window.context.actions[framework_commands.GALLERY_WORKSPACE].trigger()
    assert not has_button_of(window, framework_commands.OPEN_PICTURE)
    assert has_button_of(window, EXPORT)


def test_keys_on_a_workspace_button_mean_what_they_mean_in_the_window(qtbot, drawn):
    button = button_of(drawn, framework_commands.INSPECT_WORKSPACE)
    button.setFocus()
    qtbot.keyClick(button, Qt.Key.Key_Space)
    assert drawn.context.actions[framework_commands.INSPECT_WORKSPACE].isChecked()
    assert not drawn.findChild(ReplayBar).is_playing
    drawn.context.actions[framework_commands.EVALUATE_WORKSPACE].trigger()
    for in_gallery in drawn.context.actions.of_scope(Scope.GALLERY):
        in_gallery.setEnabled(True)  # as they are once a run was picked there
    button = button_of(drawn, framework_commands.EVALUATE_WORKSPACE)
    button.setFocus()
    before = Layer.BOXES in drawn.context.stage.layers
    qtbot.keyClick(button, Qt.Key.Key_4)
    assert (Layer.BOXES in drawn.context.stage.layers) is not before


def test_menus_have_their_icons_when_they_open(window):
    for menu, title in zip(Menu, window.menuBar().actions(), strict=True):
        title.menu().popup(QPoint())
        pairs = window.context.actions.of_menu(menu)
        assert all(not action.icon().isNull() for command, action in pairs if command.icon)
        title.menu().close()
