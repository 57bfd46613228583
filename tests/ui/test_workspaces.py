"""Workspaces change what stands around the stage, never what is on it."""

import pytest
from PySide6.QtCore import QEvent, QRectF, Qt
from PySide6.QtWidgets import QDockWidget, QLabel, QToolButton

from spatialstudio.ui.compose.widgets.relation_chip import RelationChip
from spatialstudio.ui.framework import commands as framework_commands
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.framework.window_settings import Density, WindowSettings
from spatialstudio.ui.window.app import close_windows
from spatialstudio.ui.window.command_table import TABLE
from spatialstudio.ui.window.main_window import MainWindow
from spatialstudio.ui.window.workspaces import WORKSPACES
from tests.ui.event_count import EventCount

PART = QRectF(0.25, 0.25, 0.5, 0.5)
GENERATE, INSPECT, EVALUATE, *_ = WORKSPACES


def visible(window):
    docks = window.findChildren(QDockWidget)
    return {dock.objectName() for dock in docks if dock.isVisible()}


def planned(workspace):
    return {plan.id for plan in workspace.docks}


def foot(window):
    labels = window.statusBar().findChildren(QLabel)
    return next(label.text() for label in labels if label.text().startswith("Ready. "))


@pytest.fixture
def another(qtbot, studio, settings, appearance):
    """Opens the window anew, as the next start does."""

    def open_again():
        window = MainWindow(WindowContext.of(studio, appearance.theme, settings, TABLE), appearance)
        qtbot.addWidget(window)
        window.show()
        return window

    return open_again


def test_docks_change_and_picture_step_and_zoom_stay(drawn, studio):
    run = studio.session.run
    studio.session.pick_step(2)
    drawn.context.stage.show_region(PART)
    for workspace in (*WORKSPACES, WORKSPACES[0]):
        drawn.use_workspace(workspace)
        assert visible(drawn) == planned(workspace)
        assert studio.session.run is run
        assert studio.session.step == 2
        assert drawn.context.stage.region == PART


def test_a_dock_that_was_closed_stays_closed_in_that_workspace_until_all_are_put_back(window):
    window.findChild(QDockWidget, "verdict").close()
    window.use_workspace(INSPECT)
    assert "verdict" in visible(window)
    window.use_workspace(GENERATE)
    assert visible(window) == planned(GENERATE) - {"verdict"}
    window.context.actions[framework_commands.RESET_LAYOUT].trigger()
    assert visible(window) == planned(GENERATE)


def test_the_last_workspace_with_its_floating_dock_is_open_at_the_next_start(window, another):
    window.use_workspace(INSPECT)
    window.findChild(QDockWidget, "verdict").setFloating(True)
    close_windows()
    again = another()
    assert visible(again) == planned(INSPECT)
    assert again.findChild(QDockWidget, "verdict").isFloating()


def test_a_floating_dock_is_painted_after_a_change_of_workspace(qtbot, window):
    window.use_workspace(INSPECT)
    dock = window.findChild(QDockWidget, "verdict")
    dock.setFloating(True)
    for workspace in (GENERATE, INSPECT):
        window.use_workspace(workspace)
    assert dock.isFloating()
    painted = EventCount(dock, QEvent.Type.Paint)
    dock.update()
    qtbot.waitUntil(lambda: painted.count > 0)


def test_a_dock_that_floats_in_one_workspace_is_painted_where_it_is_docked(window):
    dock = window.findChild(QDockWidget, "verdict")
    put_back = window.context.actions[framework_commands.RESET_LAYOUT].trigger
    for dock_it in (lambda: window.use_workspace(EVALUATE), put_back):
        window.use_workspace(INSPECT)
        dock.setFloating(True)
        dock_it()
        assert not dock.isFloating()
        assert dock.updatesEnabled()


def test_a_dock_returns_in_front_of_the_docks_in_its_place(qtbot, window):
    window.use_workspace(EVALUATE)
    dock = window.findChild(QDockWidget, "verdict")
    dock.raise_()
    button = dock.titleBarWidget().findChild(QToolButton)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dock.isFloating() and dock.isVisible())
    qtbot.wait(50)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.wait(50)  # Qt puts it among the tabs later
    qtbot.waitUntil(lambda: not dock.visibleRegion().isEmpty())


def test_the_foot_asks_for_a_prompt_only_where_there_is_one(qtbot, window):
    for workspace in WORKSPACES:
        window.use_workspace(workspace)
        has_prompt = "prompt" in planned(workspace)
        qtbot.waitUntil(lambda wanted=has_prompt: ("prompt" in foot(window)) is wanted)


def test_layers_are_remembered_by_workspace(qtbot, window):
    window.use_workspace(INSPECT)
    qtbot.keyClick(window, Qt.Key.Key_4)
    hidden = window.context.stage.layers
    window.use_workspace(GENERATE)
    assert window.context.stage.layers == GENERATE.layers
    window.use_workspace(INSPECT)
    assert window.context.stage.layers == hidden != INSPECT.layers


def test_the_simple_window_shows_the_docks_for_it(window):
    window.use_density(Density.SIMPLE)
    assert visible(window) == {plan.id for plan in GENERATE.docks if plan.in_simple}
    window.use_density(Density.FULL)
    assert visible(window) == planned(GENERATE)


def test_prompt_manual_changes_and_hidden_docks_are_restored_at_the_next_start(
    qtbot, window, studio, another
):
    window.prompt.use_prompt("a cat above a dog")
    qtbot.waitUntil(lambda: window.prompt.findChild(RelationChip) is not None)
    window.prompt.findChild(RelationChip).mute_picked.emit(True)
    window.context.actions[framework_commands.STAGE_ONLY].trigger()
    window.close()
    studio.session.scene = studio.session.last_scene = None
    again = another()
    assert visible(again) == planned(GENERATE)
    again.prompt.restore()
    assert studio.session.scene.prompt.text == "a cat above a dog"
    assert studio.session.scene.relations[0].is_muted


def test_docks_side_by_side_have_fair_shares_and_keep_them(qtbot, window):
    def widths():
        return [window.findChild(QDockWidget, plan.id).width() for plan in side_by_side]

    side_by_side = [plan for plan in EVALUATE.docks if plan.breadth_em]
    window.use_workspace(EVALUATE)
    qtbot.waitUntil(lambda: min(widths()) > 0.6 * max(widths()))
    before = widths()
    window.use_workspace(GENERATE)
    window.use_workspace(EVALUATE)
    qtbot.waitUntil(lambda: widths() == before)


@pytest.fixture
def newcomer(qtbot, studio, tmp_path, appearance):
    """A window at the first start of all: nothing was ever chosen."""
    settings = WindowSettings(tmp_path / "first.ini")
    window = MainWindow(WindowContext.of(studio, appearance.theme, settings, TABLE), appearance)
    qtbot.addWidget(window)
    window.show()
    return window


def question(window, text):
    buttons = window.stage.findChildren(QToolButton)
    return next(each for each in buttons if each.text() == text)


@pytest.mark.parametrize(
    ("text", "density"), [("Simple", Density.SIMPLE), ("All controls", Density.FULL)]
)
def test_the_first_start_is_simple_and_asks_once(qtbot, newcomer, text, density):
    settings = newcomer.context.settings
    assert settings.density is Density.SIMPLE
    assert question(newcomer, text).isVisible()
    qtbot.mouseClick(question(newcomer, text), Qt.MouseButton.LeftButton)
    assert (settings.density, settings.is_density_chosen) == (density, True)
    assert newcomer.context.actions[framework_commands.ALL_CONTROLS].isChecked() is (
        density is Density.FULL
    )
    assert not question(newcomer, text).isVisible()


def test_what_reads_kept_runs_is_loaded_before_the_docks_that_show_them(context):
    gallery = WORKSPACES[-1]
    storage = context.studio.storage
    assert "library" not in vars(storage)
    for prepare in gallery.prepare:
        prepare(context)
    assert {"metadata", "store", "library"} <= vars(storage).keys()
