from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QTabBar

from spatialstudio.ui.framework.window_settings import Density
from spatialstudio.ui.framework.workspace import BOTTOM
from spatialstudio.ui.inspect.workspace import LAYER_STEPS, TIME
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.window.workspaces import INSPECT, WORKSPACES

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


def test_docks_at_the_bottom_have_the_same_breadth_again_after_another_size_of_text(
    qtbot, window, appearance
):
    def breadths():
        return [width_of(window, name) for name in ("attention", "time")]

    window.use_workspace(WORKSPACES[0])
    qtbot.waitUntil(lambda: min(breadths()) > em(20))
    before = breadths()
    for percent in (110, 100):
        appearance.use_text_percent(percent)
        qtbot.waitUntil(lambda: window.updatesEnabled() and min(breadths()) > em(20))
    qtbot.waitUntil(lambda: breadths() == before)


def test_tabs_of_docks_are_named_in_every_workspace(window):
    window.use_density(Density.FULL)
    names = []
    for workspace in WORKSPACES:
        window.use_workspace(workspace)
        shown = (tabs for tabs in window.findChildren(QTabBar) if tabs.isVisible())
        names += [tabs.accessibleName() for tabs in shown]
    assert set(names) == {"Docks in this place"}


def stand_at(window, names):
    """Return the middles of docks in sight, in pixels."""
    return {window.findChild(QDockWidget, name).geometry().center().toTuple() for name in names}


def docks_at(workspace, *, bottom):
    """Return the ids of the docks below the stage, or of those at its sides."""
    return {plan.id for plan in workspace.docks if (plan.area is BOTTOM) is bottom}


def test_docks_at_the_bottom_share_a_place_in_a_low_window(qtbot, window):
    below = docks_at(WORKSPACES[0], bottom=True)
    alone = [plan for plan in WORKSPACES[0].docks if plan.id in below and not plan.tab_of]
    assert len(stand_at(window, below)) == len(alone) > 1
    window.resize(1280, em(40))
    window.use_workspace(WORKSPACES[1])
    window.use_workspace(WORKSPACES[0])
    qtbot.waitUntil(lambda: window.stage.height() > window.height() / 3)
    attention = window.findChild(QDockWidget, "attention")
    tabs = {dock.objectName() for dock in window.tabifiedDockWidgets(attention)}
    assert tabs == below - {"attention"}
    assert not attention.visibleRegion().isEmpty()


def test_docks_at_the_sides_share_a_place_in_a_narrow_window(qtbot, window):
    window.resize(em(50), 800)
    window.use_workspace(WORKSPACES[1])
    window.use_workspace(WORKSPACES[0])
    prompt = window.findChild(QDockWidget, "prompt")
    tabs = {dock.objectName() for dock in window.tabifiedDockWidgets(prompt)}
    assert tabs == docks_at(WORKSPACES[0], bottom=False) - {"prompt"}
    assert not prompt.visibleRegion().isEmpty()
    qtbot.waitUntil(lambda: window.stage.width() > window.width() / 2)


def test_all_docks_share_a_place_in_a_window_with_little_room(qtbot, window):
    window.resize(em(50), em(31))
    for workspace in (WORKSPACES[0], WORKSPACES[1]):
        window.use_workspace(workspace)
    maps = window.findChild(QDockWidget, "maps")
    tabs = {dock.objectName() for dock in window.tabifiedDockWidgets(maps)}
    assert tabs == {plan.id for plan in WORKSPACES[1].docks} - {"maps"}
    assert not maps.visibleRegion().isEmpty()
    qtbot.waitUntil(lambda: window.stage.height() > 0.6 * window.height())


def test_what_was_arranged_in_a_low_window_stays_there(qtbot, window):
    window.resize(1280, em(40))
    window.use_workspace(WORKSPACES[1])
    window.use_workspace(WORKSPACES[0])
    window.resize(1280, em(60))
    window.use_workspace(WORKSPACES[1])
    window.use_workspace(WORKSPACES[0])
    attention = window.findChild(QDockWidget, "attention")
    assert window.tabifiedDockWidgets(attention) == []


def test_a_dock_behind_another_is_hidden_until_it_is_raised(qtbot, window):
    window.use_density(Density.FULL)
    graph, verdict = (window.findChild(QDockWidget, name) for name in ("graph", VERDICT))
    qtbot.waitUntil(verdict.widget().isVisible)
    assert not graph.widget().isVisible()
    graph.raise_()
    qtbot.waitUntil(graph.widget().isVisible)
    assert not verdict.widget().isVisible()


def test_a_dock_that_the_simple_window_hides_is_shown_at_its_planned_height(qtbot, window):
    window.resize(1600, 960)
    window.use_density(Density.SIMPLE)
    window.use_workspace(INSPECT)
    time = window.findChild(QDockWidget, TIME.id)
    window.resizeDocks([time], [em(12)], Qt.Orientation.Vertical)
    qtbot.waitUntil(lambda: 0 < time.height() < em(LAYER_STEPS.size_em))
    window.show_dock(LAYER_STEPS)
    dock = window.findChild(QDockWidget, LAYER_STEPS.id)
    qtbot.waitUntil(lambda: dock.height() >= em(LAYER_STEPS.size_em))


def test_no_tabs_are_left_of_docks_that_were_taken_down(qtbot, window):
    window.use_density(Density.FULL)
    window.resize(1280, 800)
    before = tabs_seen(window)
    assert before
    for workspace in (*WORKSPACES[1:], WORKSPACES[0], WORKSPACES[0]):
        window.use_workspace(workspace)
        qtbot.wait(0)
    qtbot.waitUntil(lambda: tabs_seen(window) == before)


def tabs_seen(window):
    bars = [each for each in window.findChildren(QTabBar) if each.isVisible()]
    return [[bar.tabText(place) for place in range(bar.count())] for bar in bars if bar.count()]
