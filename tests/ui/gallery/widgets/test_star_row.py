"""Stars are given by clicks and keys, and shown without telling."""

import pytest
from PySide6.QtCore import QPoint, Qt

from spatialstudio.ui.gallery.widgets.star_row import STEP_EM, StarRow
from spatialstudio.ui.theme.theme import em

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def row(qtbot, theme):
    row = StarRow(theme)
    qtbot.addWidget(row)
    row.resize(row.sizeHint())
    row.show()
    return row


def click(qtbot, row, star):
    qtbot.mouseClick(row, LEFT, pos=QPoint(em(STEP_EM) * star - em(STEP_EM) // 2, 5))


def test_a_click_gives_all_up_to_there(qtbot, row):
    with qtbot.waitSignal(row.stars_picked) as picked:
        click(qtbot, row, 3)
    assert picked.args == [3]


def test_a_click_on_the_last_star_takes_all_away(qtbot, row):
    row.show_stars(3)
    click(qtbot, row, 3)
    assert row.stars == 0


@pytest.mark.parametrize(
    ("key", "stars"),
    [(Qt.Key.Key_Right, 3), (Qt.Key.Key_Left, 1), (Qt.Key.Key_5, 5), (Qt.Key.Key_0, 0)],
    ids=["more", "less", "five", "none"],
)
def test_keys_give_and_take(qtbot, row, key, stars):
    row.show_stars(2)
    qtbot.keyClick(row, key)
    assert row.stars == stars


def test_showing_tells_nobody(row):
    told = []
    row.stars_picked.connect(told.append)
    row.show_stars(4)
    assert told == []
    assert row.accessibleDescription() == "4 of 5 stars"
