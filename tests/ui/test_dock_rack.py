from PySide6.QtWidgets import QDockWidget, QTabBar

from spatialstudio.ui.window_settings import Density
from spatialstudio.ui.workspaces.registry import WORKSPACES

VERDICT = "verdict"


def width_of(window, name):
    """Return the width of the dock that is in sight under a name."""
    docks = window.findChildren(QDockWidget, name)
    return next((dock.width() for dock in docks if dock.isVisible()), 0)


def test_docks_grow_with_the_text_in_every_workspace(qtbot, window, appearance):
    window.resize(2400, 1200)
    widths = {}
    for workspace in WORKSPACES[:3]:
        window.use_workspace(workspace)
        qtbot.waitUntil(lambda: width_of(window, VERDICT) > 0)
        widths[workspace.id] = width_of(window, VERDICT)
    appearance.use_text_percent(150)
    qtbot.waitUntil(lambda: width_of(window, VERDICT) > 1.2 * widths[WORKSPACES[2].id])
    for workspace in WORKSPACES[:3]:
        window.use_workspace(workspace)
        wanted = 1.2 * widths[workspace.id]
        qtbot.waitUntil(lambda wanted=wanted: width_of(window, VERDICT) > wanted)


def test_tabs_of_docks_are_named_in_every_workspace(window):
    window.use_density(Density.FULL)
    names = []
    for workspace in WORKSPACES:
        window.use_workspace(workspace)
        shown = (tabs for tabs in window.findChildren(QTabBar) if tabs.isVisible())
        names += [tabs.accessibleName() for tabs in shown]
    assert set(names) == {"Docks in this place"}
