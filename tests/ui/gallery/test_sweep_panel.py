"""A sweep opens in the gallery as a grid, which fills while it is drawn."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QToolButton

from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.domain.sweep import (
    SweepCell,
    SweepField,
    SweepId,
    SweepPoint,
)
from spatialstudio.ui.gallery import commands as commands
from spatialstudio.ui.gallery.export_dialog import ExportDialog
from spatialstudio.ui.gallery.gallery_panel import GalleryPanel
from spatialstudio.ui.gallery.sweep_panel import SweepPanel
from spatialstudio.ui.run import commands as run_commands
from spatialstudio.ui.run.presenters import cell_in_words
from spatialstudio.ui.run.sweep_dialog import SweepDialog
from spatialstudio.ui.window.workspaces import GALLERY
from tests.ui.scripted_engine import PROMPT


@pytest.fixture
def begun(window):
    """A window whose queue holds a sweep of step size 0, 5 and seed 7, 8."""
    window.make_docks()
    window.prompt.use_prompt(PROMPT)
    window.generation.use_seed(7)
    window.context.actions[run_commands.SWEEP].trigger()
    dialog = window.findChild(SweepDialog)
    dialog._columns.values.setText("0, 5")
    dialog._rows.values.setText("7, 8")
    dialog.asked.emit()
    return window


@pytest.fixture
def sweep_id(begun, studio):
    return studio.queue.entries[0].sweep_id


@pytest.fixture
def panel(qtbot, begun, studio, engine, sweep_id):
    """The grid after three of its four pictures."""
    for place in range(3):
        qtbot.waitUntil(lambda place=place: len(engine.jobs) > place)
        engine.play(engine.jobs[place])
    qtbot.waitUntil(lambda: len(studio.library.list(f"sweep:{sweep_id}")) == 3)
    begun.use_workspace(GALLERY)
    panel = begun.findChild(SweepPanel)
    begun.context.gallery.sweep_asked.emit(sweep_id)
    qtbot.waitUntil(lambda: panel.grid.face(panel.grid.current) is not None)
    return panel


def label(panel, text):
    return next((each for each in panel.findChildren(QLabel) if each.text() == text), None)


def test_pictures_stand_where_their_values_are_and_empty_cells_fill(qtbot, panel, begun, engine):
    chosen = begun.context.gallery.current.summary
    assert (chosen.strength, chosen.seed) == (0, 7)
    qtbot.keyClick(panel.grid, Qt.Key.Key_Right)
    chosen = begun.context.gallery.current.summary
    assert (chosen.strength, chosen.seed) == (5, 7)
    assert label(panel, "3 of 4 pictures") is not None
    assert label(panel, PROMPT) is not None
    qtbot.keyClick(panel.grid, Qt.Key.Key_Down)
    qtbot.keyClick(panel.grid, Qt.Key.Key_End)
    assert panel.grid.current is None
    engine.play(engine.jobs[3])
    qtbot.waitUntil(lambda: panel.grid.current is not None)
    qtbot.waitUntil(lambda: label(panel, "4 pictures") is not None)


def test_a_run_of_the_grid_is_rated_and_the_grid_exported_whole(qtbot, panel, begun, studio):
    qtbot.keyClick(panel.grid, Qt.Key.Key_4)
    path = begun.context.gallery.current.path
    qtbot.waitUntil(lambda: studio.library.marks(path).stars == 4)
    assert panel.grid.face(panel.grid.current).stars == 4
    begun.context.actions[commands.EXPORT_SWEEP].trigger()
    dialog = begun.findChild(ExportDialog)
    assert dialog.choice.kind is EXPORT_KINDS["sweep"]
    assert dialog.windowTitle() == "Export 3 runs"


def test_return_opens_the_run_in_inspect(qtbot, panel, begun, studio):
    qtbot.keyClick(panel.grid, Qt.Key.Key_Right)
    wanted = begun.context.gallery.current.path
    qtbot.keyClick(panel.grid, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: begun.context.settings.workspace == "inspect")
    assert studio.session.run.path == wanted


def test_escape_goes_back_to_all_runs_and_the_grid_can_be_asked_for_again(qtbot, panel, begun):
    gallery = begun.findChild(GalleryPanel)
    qtbot.keyClick(panel.grid, Qt.Key.Key_Escape)
    qtbot.waitUntil(gallery.grid.isVisible)
    qtbot.waitUntil(lambda: begun.context.gallery.current is not None)
    qtbot.keyClick(gallery.grid, Qt.Key.Key_W)
    assert panel.grid.isVisible()
    assert not gallery.grid.isVisible()
    back = next(each for each in panel.findChildren(QToolButton) if each.text() == "All runs")
    qtbot.mouseClick(back, Qt.MouseButton.LeftButton)
    assert gallery.grid.isVisible()


def test_a_run_of_no_sweep_has_no_grid(qtbot, drawn, studio):
    qtbot.waitUntil(lambda: studio.session.baseline.path is not None)
    drawn.use_workspace(GALLERY)
    qtbot.waitUntil(lambda: drawn.context.gallery.current is not None)
    assert not drawn.context.actions[commands.SWEEP].isEnabled()


def test_the_queue_names_a_picture_by_its_place():
    cell = SweepCell(
        sweep_id=SweepId("one"),
        column=SweepPoint(field=SweepField.STRENGTH, value=2.5),
        row=SweepPoint(field=SweepField.SEED, value=3),
    )
    assert cell_in_words(cell) == "Step size 2.5, seed 3"
