"""Kept runs are found by a line, marked by single keys, deleted and put back."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton

from spatialstudio.ui.gallery.gallery_panel import GalleryPanel
from spatialstudio.ui.gallery.widgets.filter_line import CompletingLine
from spatialstudio.ui.gallery.widgets.run_grid import RunGrid
from spatialstudio.ui.window.workspaces import GALLERY
from tests.ui.scripted_engine import PROMPT

CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def grid(panel):
    panel.grid.setFocus()
    return panel.grid


@pytest.fixture
def current(drawn):
    """Returns the run that the keyboard is on."""
    return lambda: drawn.context.gallery.current


def marks(studio, current):
    return studio.library.marks(current().path)


def write(qtbot, panel, text):
    line = panel.findChild(CompletingLine)
    line.clear()
    qtbot.keyClicks(line, text)
    line._popup.hide()


def texts(panel):
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]


def test_a_pair_is_one_stack_with_the_guided_run_on_top_which_return_opens(
    qtbot, panel, grid, drawn, studio, current
):
    assert current().summary.method_id == "layout"
    assert current().summary.prompt == PROMPT
    assert "2 runs" in texts(panel)
    assert len(panel.grid.chosen) == 1
    qtbot.keyClick(grid, Qt.Key.Key_Space)  # opens it
    qtbot.keyClick(grid, Qt.Key.Key_A, CONTROL)
    qtbot.waitUntil(lambda: len(grid._keys) == 2)
    qtbot.keyClick(grid, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: len(grid._keys) == 1)
    path = current().path
    studio.session.baseline = None
    qtbot.keyClick(grid, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: drawn.context.settings.workspace == "inspect")
    assert studio.session.run.path == path


def test_digits_and_the_dot_rate_and_x_sorts_out(qtbot, grid, studio, drawn, current):
    layers = drawn.context.stage.layers
    for stars in (2, 0, 1, 3, 4, 5):
        qtbot.keyClick(grid, Qt.Key(Qt.Key.Key_0 + stars))
        assert current().marks.stars == stars
        qtbot.waitUntil(lambda stars=stars: marks(studio, current).stars == stars)
    assert drawn.context.stage.layers == layers  # the digits hide none while the grid has the focus
    qtbot.keyClick(grid, Qt.Key.Key_0)
    for stars in (1, 0):
        qtbot.keyClick(grid, Qt.Key.Key_Period)
        assert current().marks.stars == stars
    qtbot.keyClick(grid, Qt.Key.Key_X)
    qtbot.waitUntil(lambda: marks(studio, current).is_rejected)
    drawn.context.edits.undo()
    assert not current().marks.is_rejected
    qtbot.waitUntil(lambda: not marks(studio, current).is_rejected)


def test_del_moves_to_the_trash_and_the_toast_brings_it_back(qtbot, grid, drawn, current):
    path = current().path
    qtbot.keyClick(grid, Qt.Key.Key_Delete)
    assert not path.exists()
    qtbot.waitUntil(lambda: current() is not None and current().path != path)
    undo = next(each for each in drawn.findChildren(QPushButton) if each.text() == "Undo")
    qtbot.mouseClick(undo, Qt.MouseButton.LeftButton)
    assert path.exists()


def test_the_trash_can_be_undone_like_any_edit(qtbot, grid, drawn, current):
    path = current().path
    qtbot.keyClick(grid, Qt.Key.Key_Delete)
    drawn.context.edits.undo()
    assert path.exists()
    drawn.context.edits.redo()
    assert not path.exists()


def test_a_line_finds_at_once(qtbot, panel, grid):
    write(qtbot, panel, "method:none")
    qtbot.waitUntil(lambda: "1 run" in texts(panel))
    write(qtbot, panel, "")
    qtbot.waitUntil(lambda: "2 runs" in texts(panel))
    write(qtbot, panel, "colour:red")  # an error is named beneath, and the runs stay
    qtbot.waitUntil(lambda: any("colour" in text for text in texts(panel)))
    assert grid.current is not None
    write(qtbot, panel, "unicorn")
    qtbot.waitUntil(lambda: "No matching runs" in texts(panel))
    button = next(b for b in panel.findChildren(QPushButton) if b.text() == "Show all runs")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "2 runs" in texts(panel))


def test_the_first_start_says_that_there_is_nothing_yet(qtbot, window):
    window.use_workspace(GALLERY)
    panel = window.findChild(GalleryPanel)
    qtbot.waitUntil(lambda: "No pictures yet" in texts(panel))
    button = next(
        b for b in panel.findChildren(QPushButton) if b.text() == "Generate the first picture"
    )
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert window.context.settings.workspace == "generate"


def test_a_file_that_goes_is_shown_as_missing(qtbot, grid, studio, current):
    path = current().path
    path.unlink()
    studio.library.refresh()
    qtbot.waitUntil(lambda: grid.face(grid.current) and grid.face(grid.current).is_missing)
    assert grid.face(grid.current).place == str(path)


def test_ctrl_f_goes_to_the_line_from_anywhere(qtbot, window):
    window.make_docks()
    qtbot.keyClick(window, Qt.Key.Key_F, CONTROL)
    assert window.context.settings.workspace == "gallery"
    assert window.panel(GalleryPanel).findChild(CompletingLine).hasFocus()
    assert not window.findChild(RunGrid).hasFocus()
