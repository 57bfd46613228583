import pytest
from PySide6.QtCore import Qt

from spatialstudio.ui.stage.widgets.map_grid import (
    GridRow,
    GridView,
    MapGrid,
)
from tests.ui.scripted_engine import blob

STEPS = range(20)
LEFT_BUTTON = Qt.MouseButton.LeftButton


def row_of(key, text, hue, x):
    maps = {step: blob(x, 0.5) for step in STEPS}
    return GridRow(key, text, hue, maps, dict.fromkeys(STEPS, 1.0))


ROWS = (row_of("m1", "dog", 0, 0.1), row_of("m2", "car", 1, 0.9))


@pytest.fixture
def grid(qtbot, theme):
    grid = MapGrid(theme)
    qtbot.addWidget(grid)
    grid.resize(700, 300)
    grid.show_rows(ROWS)
    grid.show()
    return grid


def lightness(grid, row, column, x):
    cell = grid.cell(row, column)
    image = grid.grab().toImage()
    place = round(cell.left() + x * cell.width())
    return image.pixelColor(place, round(cell.center().y())).lightness()


def test_the_first_and_the_last_step_are_in_sight(grid):
    assert grid.columns[0] == 0
    assert grid.columns[-1] == 19
    assert 6 <= len(grid.columns) < 20


def test_the_step_looked_at_is_always_in_sight(grid):
    hidden = next(step for step in STEPS if step not in grid.columns)
    count = len(grid.columns)
    grid.show_step(hidden)
    assert hidden in grid.columns
    assert len(grid.columns) == count


def test_a_wider_grid_shows_more_steps(grid):
    before = len(grid.columns)
    grid.resize(2400, 300)
    assert len(grid.columns) > before


def test_each_word_has_its_maps(grid):
    assert lightness(grid, 0, 1, 0.1) > lightness(grid, 0, 1, 0.9) + 50
    assert lightness(grid, 1, 1, 0.9) > lightness(grid, 1, 1, 0.1) + 50


def test_a_click_picks_a_word_and_a_step(qtbot, grid):
    with qtbot.waitSignal(grid.map_picked) as picked:
        qtbot.mouseClick(grid, LEFT_BUTTON, pos=grid.cell(1, 1).center().toPoint())
    assert picked.args == ["m2", grid.columns[1]]


def test_a_double_click_asks_for_a_pin(qtbot, grid):
    with qtbot.waitSignal(grid.pin_asked) as asked:
        qtbot.mouseDClick(grid, LEFT_BUTTON, pos=grid.cell(0, 0).center().toPoint())
    assert asked.args == ["m1"]


def test_arrows_go_from_map_to_map(qtbot, grid):
    picked = []
    grid.map_picked.connect(lambda *place: picked.append(place))
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Left):
        qtbot.keyClick(grid, key)
    steps = grid.columns
    assert picked == [("m1", steps[1]), ("m2", steps[1]), ("m2", steps[1]), ("m2", steps[0])]


def test_space_asks_for_a_pin(qtbot, grid):
    with qtbot.waitSignal(grid.pin_asked) as asked:
        qtbot.keyClick(grid, Qt.Key.Key_Space)
    assert asked.args == ["m1"]


def test_it_is_told_in_words(grid):
    grid.show_step(0)
    said = grid.accessibleDescription()
    assert said.startswith("dog, car; steps 1 to 20. dog at step 1: peak ")


def test_a_wide_picture_has_wide_maps(grid):
    grid.show_rows(ROWS, shape=1.5)
    cell = grid.cell(0, 0)
    assert cell.width() / cell.height() == pytest.approx(1.5, rel=0.05)


def test_without_maps_there_is_nothing_to_pick(qtbot, grid):
    grid.show_rows(())
    with qtbot.assertNotEmitted(grid.map_picked):
        qtbot.mouseClick(grid, LEFT_BUTTON, pos=grid.rect().center())
        qtbot.keyClick(grid, Qt.Key.Key_Right)
    assert grid.accessibleDescription() == ""


def test_more_words_than_room_are_scrolled_to(qtbot, theme):
    view = GridView(theme)
    qtbot.addWidget(view)
    view.resize(700, 200)
    view.grid.show_rows(tuple(row_of(f"m{n}", f"word {n}", n, 0.5) for n in range(12)))
    view.show()
    grid = view.findChild(MapGrid)
    qtbot.waitUntil(lambda: grid.height() > view.viewport().height())
    for _ in range(11):
        qtbot.keyClick(grid, Qt.Key.Key_Down)
    assert view.verticalScrollBar().value() > 0
    assert grid.cursor_cell.bottom() <= view.verticalScrollBar().value() + view.viewport().height()
