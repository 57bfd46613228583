"""The grid shows what is in sight, and is worked by keys and clicks."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage

from spatialstudio.domain.library import Cells
from spatialstudio.domain.verdict import Outcome
from spatialstudio.ui.gallery.widgets.run_grid import GridSection, RunGrid
from spatialstudio.ui.gallery.widgets.run_tile import TileFace

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
LEFT = Qt.MouseButton.LeftButton
MANY = 3000


def cells_of(keys, stacks=()):
    """Make cells of runs, some of them stacks, given by how many runs lie in each."""
    runs = np.array(list(keys))
    sizes = np.array(stacks or [1] * len(runs))
    starts = np.cumsum(sizes) - sizes
    return Cells(
        runs=runs,
        tops=starts,
        starts=starts,
        stops=starts + sizes,
        is_open=np.zeros(len(sizes), bool),
        ratios=np.ones(len(sizes)),
    )


def face(words="a cat", **changes):
    picture = QImage(64, 64, QImage.Format.Format_RGB888)
    picture.fill(0)
    shown = {
        "picture": picture,
        "outcome": Outcome.PASS,
        "caption": "seed 7",
        "brief": "7",
        "stars": 2,
        "is_rejected": False,
        "tags": "",
        "is_missing": False,
        "place": "/a.png",
        "words": words,
    }
    return TileFace(**(shown | changes))


@pytest.fixture
def grid(qtbot, theme):
    grid = RunGrid(theme)
    qtbot.addWidget(grid)
    grid.resize(800, 600)
    grid.show()
    grid.show_cells(cells_of(range(100, 100 + MANY)), (GridSection("Today", "", 0),))
    click(qtbot, grid, 100)
    return grid


def click(qtbot, grid, key, modifiers=Qt.KeyboardModifier.NoModifier):
    place = grid.place_of(key).center().toPoint()
    qtbot.mouseClick(grid.viewport(), LEFT, modifiers, place)


def test_only_tiles_near_the_sight_are_asked_for(qtbot, grid):
    with qtbot.waitSignal(grid.faces_wanted) as asked:
        grid.renew_faces()
    assert asked.args[0][0] == 100
    assert len(asked.args[0]) < 100


def test_known_tiles_are_not_asked_for_again(qtbot, grid):
    with qtbot.waitSignal(grid.faces_wanted) as first:
        grid.renew_faces()
    for key in first.args[0][1:]:
        grid.show_face(key, face())
    with qtbot.waitSignal(grid.faces_wanted) as again:
        grid.show_cells(cells_of(range(100, 140)), (GridSection("Today", "", 0),))
    assert again.args[0] == (100,)


def test_scrolling_asks_for_what_comes_into_sight(qtbot, grid):
    with qtbot.waitSignal(grid.faces_wanted) as asked:
        grid.verticalScrollBar().setValue(grid.verticalScrollBar().maximum())
    assert 100 + MANY - 1 in asked.args[0]
    assert 100 not in asked.args[0]


@pytest.mark.parametrize(
    ("keys", "current"),
    [
        ([Qt.Key.Key_Right, Qt.Key.Key_Right], 102),
        ([Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Left], 100),
        ([Qt.Key.Key_End], 100 + MANY - 1),
        ([Qt.Key.Key_End, Qt.Key.Key_Home], 100),
    ],
    ids=["on", "back", "end", "home"],
)
def test_keys_lead_from_tile_to_tile(qtbot, grid, keys, current):
    for key in keys:
        qtbot.keyClick(grid, key)
    assert grid.current == current
    assert grid.viewport().rect().contains(grid.place_of(current).center().toPoint())


def test_down_and_up_stay_in_the_column(qtbot, grid):
    qtbot.keyClick(grid, Qt.Key.Key_Right)
    left = grid.place_of(101).left()
    qtbot.keyClick(grid, Qt.Key.Key_Down)
    assert grid.place_of(grid.current).left() == left
    qtbot.keyClick(grid, Qt.Key.Key_Up)
    assert grid.current == 101


def test_shift_chooses_all_on_the_way(qtbot, grid):
    qtbot.keyClick(grid, Qt.Key.Key_Right, SHIFT)
    qtbot.keyClick(grid, Qt.Key.Key_Right, SHIFT)
    assert grid.chosen == (100, 101, 102)


def test_everything_can_be_chosen(qtbot, grid):
    qtbot.keyClick(grid, Qt.Key.Key_A, CONTROL)
    assert len(grid.chosen) == MANY


def test_clicks_choose(qtbot, grid):
    with qtbot.waitSignal(grid.selection_picked):
        click(qtbot, grid, 102)
    click(qtbot, grid, 104, SHIFT)
    click(qtbot, grid, 103, CONTROL)
    assert grid.chosen == (102, 104)


def test_a_double_click_opens(qtbot, grid):
    place = grid.place_of(103).center().toPoint()
    with qtbot.waitSignal(grid.opened) as opened:
        qtbot.mouseDClick(grid.viewport(), LEFT, pos=place)
    assert opened.args == [103]


def test_the_number_of_a_stack_can_be_clicked(qtbot, grid):
    grid.show_cells(cells_of([1, 2, 3, 4], stacks=[3, 1]), (GridSection("Today", "", 0),))
    corner = grid.place_of(1).topRight().toPoint() + QPoint(-14, 12)
    with qtbot.waitSignal(grid.stack_picked) as picked:
        qtbot.mouseClick(grid.viewport(), LEFT, pos=corner)
    assert picked.args == [1]


def test_pulling_a_tile_begins_a_drag_and_keeps_the_choice(qtbot, grid):
    click(qtbot, grid, 102, SHIFT)
    middle = grid.place_of(101).center().toPoint()
    qtbot.mousePress(grid.viewport(), LEFT, pos=middle)
    with qtbot.waitSignal(grid.drag_begun):
        qtbot.mouseMove(grid.viewport(), middle + QPoint(40, 0))
    assert grid.chosen == (100, 101, 102)


def test_what_was_chosen_stays_chosen_when_others_come(qtbot, grid):
    click(qtbot, grid, 105)
    grid.show_cells(cells_of(range(90, 200)), (GridSection("Today", "", 0),))
    assert grid.chosen == (105,)


def test_when_a_tile_goes_its_neighbour_is_current(qtbot, grid):
    click(qtbot, grid, 105)
    grid.show_cells(cells_of([*range(100, 105), *range(106, 200)]), (GridSection("T", "", 0),))
    assert grid.current == 106


def test_screen_readers_hear_of_the_current_tile(qtbot, grid):
    grid.show_face(101, face("a dog; seed 7; PASS"))
    qtbot.keyClick(grid, Qt.Key.Key_Right)
    assert grid.accessibleDescription() == "a dog; seed 7; PASS"


@pytest.mark.parametrize(
    "changes",
    [{}, {"is_rejected": True}, {"picture": None, "is_missing": True}, {"outcome": None}],
    ids=["plain", "rejected", "missing", "not judged"],
)
def test_a_face_changes_what_is_drawn(grid, changes):
    before = grid.viewport().grab().toImage()
    grid.show_face(101, face(**changes))
    assert grid.viewport().grab().toImage() != before


def test_a_narrower_grid_keeps_its_place(grid):
    grid.verticalScrollBar().setValue(5000)
    first = next(key for key in range(100, 100 + MANY) if grid.place_of(key).top() >= -200)
    grid.resize(500, 600)
    assert abs(grid.place_of(first).top()) < 400


def test_an_empty_grid_takes_keys_and_clicks(qtbot, grid):
    grid.show_cells(Cells(), ())
    qtbot.keyClick(grid, Qt.Key.Key_Right)
    qtbot.mouseClick(grid.viewport(), LEFT, pos=QPoint(50, 50))
    assert (grid.current, grid.chosen) == (None, ())


def test_pictures_are_larger_in_a_wide_grid(grid):
    before = grid.place_of(100).height()
    grid.resize(2400, 600)
    assert before < grid.place_of(100).height() <= 1.6 * before
