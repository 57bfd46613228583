from PySide6.QtWidgets import QToolButton

from spatialstudio.ui.commands import frame


def buttons(window):
    corner = window.menuBar().cornerWidget()
    return [each for each in corner.findChildren(QToolButton) if each.isVisible()]


def has_button_of(window, command):
    return window.context.actions[command] in [each.defaultAction() for each in buttons(window)]


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
