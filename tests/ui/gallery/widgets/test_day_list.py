"""Days are listed with their numbers, and gone to by a click or a key."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from spatialstudio.ui.gallery.widgets.day_list import DayList
from spatialstudio.ui.theme.theme import em

DAYS = (("Today", 3), ("Yesterday", 12))


@pytest.fixture
def days(qtbot, theme):
    days = DayList(theme)
    qtbot.addWidget(days)
    days.show_days(DAYS)
    days.show()
    return days


def test_the_busiest_day_is_the_measure(days):
    assert days.most == 12


def test_a_day_is_picked_by_a_click(qtbot, days):
    place = days.visualItemRect(days.item(1)).center()
    with qtbot.waitSignal(days.day_picked) as picked:
        qtbot.mouseClick(days.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert picked.args == [1]


def test_a_day_is_picked_by_a_key(qtbot, days):
    days.setCurrentRow(1)
    with qtbot.waitSignal(days.day_picked) as picked:
        qtbot.keyClick(days, Qt.Key.Key_Return)
    assert picked.args == [1]


def test_screen_readers_hear_the_number(days):
    assert days.item(1).data(Qt.ItemDataRole.AccessibleTextRole) == "Yesterday: 12"


def test_without_days_nothing_is_listed(days):
    days.show_days(())
    assert days.count() == 0


def test_a_bar_is_drawn_for_each_day(days):
    before = days.viewport().grab().toImage()
    days.show_days((("Today", 12), ("Yesterday", 12)))
    assert days.viewport().grab().toImage() != before


def test_no_empty_frame_is_below_the_days(qtbot, theme):
    room, days = QWidget(), DayList(theme)
    qtbot.addWidget(room)
    days.show_days(DAYS)
    column = QVBoxLayout(room)
    column.addWidget(days)
    column.addStretch()
    room.resize(em(20), em(40))
    room.show()
    qtbot.waitUntil(lambda: days.height() == days.sizeHint().height())
    assert days.verticalScrollBar().maximum() == 0
    assert days.viewport().height() == sum(days.sizeHintForRow(row) for row in range(2))
    days.show_days((*DAYS, *((f"Day {number}", 1) for number in range(30))))
    qtbot.waitUntil(lambda: days.verticalScrollBar().maximum() > 0)
    assert days.geometry().bottom() < room.height()
