import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from spatialstudio.ui.compose.layouts_panel import LayoutDialog, LayoutsPanel
from spatialstudio.ui.compose.widgets.layout_tile import LayoutTile
from spatialstudio.ui.compose.widgets.prompt_editor import PromptEditor
from spatialstudio.ui.framework.window_settings import Density

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def panel(window):
    window.use_density(Density.SIMPLE)
    return window.panel(LayoutsPanel)


def tile(panel, name):
    return next(each for each in panel.findChildren(LayoutTile) if each.text() == name)


def button(panel, text):
    return next(each for each in panel.findChildren(QPushButton) if each.text() == text)


def written(window):
    return window.prompt.findChild(PromptEditor).toPlainText()


def test_a_layout_is_written_with_the_things_of_the_prompt(qtbot, window, panel, studio):
    window.prompt.use_prompt("a lamp and a boat")
    qtbot.waitUntil(lambda: "lamp" in tile(panel, "Above").toolTip())
    qtbot.mouseClick(tile(panel, "Above"), LEFT)
    assert written(window) == "a lamp above a boat"
    window.context.edits.undo()
    assert written(window) == "a lamp and a boat"


def test_a_layout_can_be_had_before_anything_is_written(qtbot, window, panel):
    tile(panel, "Left of").setFocus()
    qtbot.keyClick(tile(panel, "Left of"), Qt.Key.Key_Space)
    assert "to the left of" in written(window)


def test_all_tiles_are_one_stop_of_tab(qtbot, panel):
    tiles = panel.findChildren(LayoutTile)
    stops = [each for each in tiles if each.focusPolicy() & Qt.FocusPolicy.TabFocus]
    assert len(stops) == 1
    qtbot.keyClick(tiles[0], Qt.Key.Key_Right)
    assert tiles[1].focusPolicy() & Qt.FocusPolicy.TabFocus


def test_the_sketch_and_all_layouts_are_a_click_away(qtbot, window, panel):
    qtbot.mouseClick(button(panel, "Sketch"), LEFT)
    assert window.context.stage.is_sketching
    qtbot.mouseClick(button(panel, "All…"), LEFT)
    assert window.findChild(LayoutDialog).isVisible()


def test_where_all_settings_are_shown_layouts_leave_them_the_room(window, panel):
    assert panel.isVisibleTo(window)
    window.use_density(Density.FULL)
    assert not panel.isVisibleTo(window)
