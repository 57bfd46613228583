"""The grid of a sweep: labelled sides, cells to walk among."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QImage

from spatialstudio.ui.gallery.widgets.run_tile import TileFace
from spatialstudio.ui.gallery.widgets.sweep_grid import SweepGrid, SweepTable

TABLE = SweepTable(
    column_title="Step size",
    columns=("0", "5", "10"),
    row_title="Seed",
    rows=("7", "8"),
    keys=((11, 12, 13), (14, None, 16)),
)


def face_in(colour, words="a cat left of a dog; seed 7; PASS"):
    picture = QImage(8, 8, QImage.Format.Format_RGB888)
    picture.fill(QColor(colour))
    return TileFace(
        picture=picture,
        outcome=None,
        caption="seed 7",
        brief="7",
        stars=0,
        is_rejected=False,
        tags="",
        is_missing=False,
        place="",
        words=words,
    )


@pytest.fixture
def grid(qtbot, theme):
    grid = SweepGrid(theme)
    qtbot.addWidget(grid)
    grid.resize(600, 500)
    grid.show()
    grid.show_table(TABLE)
    return grid


def colour_at(grid, row, column):
    place = grid.place_of(row, column).center().toPoint()
    return grid.viewport().grab().toImage().pixelColor(place).name()


def test_a_picture_is_shown_in_its_cell(grid):
    grid.show_face(16, face_in("#ff0000"))
    assert colour_at(grid, 1, 2) == "#ff0000"
    assert colour_at(grid, 0, 2) != "#ff0000"


def test_columns_and_rows_stand_in_order(grid):
    assert grid.place_of(0, 0).left() < grid.place_of(0, 1).left() < grid.place_of(0, 2).left()
    assert grid.place_of(0, 0).bottom() < grid.place_of(1, 0).top()
    assert grid.place_of(0, 2).right() <= grid.viewport().width()


def test_arrows_walk_and_stop_at_the_edges(qtbot, grid):
    with qtbot.waitSignal(grid.picked):
        qtbot.keyClick(grid, Qt.Key.Key_Right)
    assert grid.current == 12
    qtbot.keyClick(grid, Qt.Key.Key_End)
    qtbot.keyClick(grid, Qt.Key.Key_Right)
    qtbot.keyClick(grid, Qt.Key.Key_Down)
    qtbot.keyClick(grid, Qt.Key.Key_Down)
    assert grid.current == 16
    qtbot.keyClick(grid, Qt.Key.Key_Home)
    assert grid.current == 14


def test_a_cell_without_a_picture_is_told(qtbot, grid):
    qtbot.mouseClick(
        grid.viewport(), Qt.MouseButton.LeftButton, pos=grid.place_of(1, 1).center().toPoint()
    )
    assert grid.current is None
    assert grid.accessibleDescription() == "Step size 5; Seed 8; no picture yet"


def test_all_is_said_in_words(grid):
    grid.show_face(11, face_in("#00ff00"))
    assert grid.accessibleDescription().startswith("Step size 0; Seed 7; a cat left of a dog")


def test_a_double_click_opens(qtbot, grid):
    place = grid.place_of(0, 2).center().toPoint()
    qtbot.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=place)
    with qtbot.waitSignal(grid.opened) as opened:
        qtbot.mouseDClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert opened.args == [13]


def test_a_click_outside_the_cells_changes_nothing(qtbot, grid):
    qtbot.keyClick(grid, Qt.Key.Key_Right)
    qtbot.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(2, 2))
    assert grid.current == 12


def test_escape_leaves(qtbot, grid):
    with qtbot.waitSignal(grid.left):
        qtbot.keyClick(grid, Qt.Key.Key_Escape)


def test_more_columns_than_fit_are_scrolled_to(qtbot, grid):
    many = tuple(str(value) for value in range(40))
    grid.show_table(SweepTable(column_title="Seed", columns=many, rows=("",), keys=(range(40),)))
    qtbot.keyClick(grid, Qt.Key.Key_End)
    assert grid.place_of(0, 39).right() <= grid.viewport().width() + 1
    qtbot.keyClick(grid, Qt.Key.Key_Home)
    assert grid.place_of(0, 0).left() >= 0


def test_a_smaller_sweep_keeps_the_keyboard_inside(qtbot, grid):
    qtbot.keyClick(grid, Qt.Key.Key_End)
    qtbot.keyClick(grid, Qt.Key.Key_Down)
    grid.show_table(SweepTable(column_title="Seed", columns=("1",), rows=("",), keys=((5,),)))
    assert grid.current == 5
