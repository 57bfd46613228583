from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton

from spatialstudio.ui.commands import frame
from spatialstudio.ui.commands.gallery import EXPORT


def buttons(window):
    corner = window.menuBar().cornerWidget()
    return [each for each in corner.findChildren(QToolButton) if each.isVisible()]


def has_button_of(window, command):
    return window.context.actions[command] in [each.defaultAction() for each in buttons(window)]


def button_of(window, command):
    action = window.context.actions[command]
    return next(each for each in buttons(window) if each.defaultAction() is action)


def test_a_wide_bar_has_all_buttons(window):
    assert has_button_of(window, frame.STAGE_ONLY)
    assert has_button_of(window, frame.INSPECT_WORKSPACE)


def test_a_narrow_bar_keeps_the_workspaces_and_the_search(window):
    window.resize(900, 700)
    assert not has_button_of(window, frame.STAGE_ONLY)
    assert has_button_of(window, frame.INSPECT_WORKSPACE)
    assert any(each.accessibleName() == "Find a command…" for each in buttons(window))


def test_the_buttons_come_back_with_the_room(window):
    window.resize(900, 700)
    window.resize(1280, 800)
    assert has_button_of(window, frame.STAGE_ONLY)


def test_workspaces_keep_their_places_whatever_tools_there_are(window, qtbot):
    inspect = button_of(window, frame.INSPECT_WORKSPACE)
    places = set()
    for command in (frame.GENERATE_WORKSPACE, frame.EVALUATE_WORKSPACE, frame.GALLERY_WORKSPACE):
        qtbot.mouseClick(button_of(window, command), Qt.MouseButton.LeftButton)
        places.add(inspect.mapTo(window, inspect.rect().topLeft()).toTuple())
    assert len(places) == 1


def test_a_workspace_shows_its_own_tools(window):
    window.context.actions[frame.EVALUATE_WORKSPACE].trigger()
    assert has_button_of(window, frame.OPEN_PICTURE)
    window.context.actions[frame.GALLERY_WORKSPACE].trigger()
    assert not has_button_of(window, frame.OPEN_PICTURE)
    assert has_button_of(window, EXPORT)
