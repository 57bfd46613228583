import pytest
from PySide6.QtCore import Qt

from spatialstudio.ui.inspect.widgets.number_table import NumberColumn, NumberTable

COLUMNS = (NumberColumn("dog", "entropy", "In bits"), NumberColumn("dog", "spread", ""))
ROWS = ((3.0, 0.25), (2.0, None), (1.0, 0.125))


@pytest.fixture
def table(qtbot):
    table = NumberTable()
    qtbot.addWidget(table)
    table.resize(400, 200)
    table.show_numbers(COLUMNS, (0, 1, 2), ROWS)
    table.show()
    table.setFocus()
    return table


def cell(table, row, column, role=Qt.ItemDataRole.DisplayRole):
    return table.model().index(row, column).data(role)


def test_numbers_stand_under_the_names_of_word_and_measure(table):
    across = Qt.Orientation.Horizontal
    assert table.model().headerData(1, across) == "dog\nspread"
    assert cell(table, 2, 1) == "0.125"


def test_steps_are_counted_from_one(table):
    assert table.model().headerData(0, Qt.Orientation.Vertical) == "1"


def test_what_was_not_measured_is_said(table):
    assert cell(table, 1, 1, Qt.ItemDataRole.AccessibleTextRole) == "dog spread: not measured"


def test_another_row_is_another_step(qtbot, table):
    table.show_step(0)
    with qtbot.waitSignal(table.step_picked) as picked:
        qtbot.keyClick(table, Qt.Key.Key_Down)
    assert picked.args == [1]


def test_showing_a_step_does_not_echo_it(qtbot, table):
    with qtbot.assertNotEmitted(table.step_picked):
        table.show_step(2)
    assert table.currentIndex().row() == 2


def test_rows_that_come_on_leave_the_picked_one(table):
    table.show_step(1)
    table.show_numbers(COLUMNS, (0, 1, 2, 3), (*ROWS, (0.5, 0.0)))
    assert table.model().rowCount() == 4
    assert table.currentIndex().row() == 1


def test_another_run_takes_the_place_of_the_first(table):
    table.show_numbers(COLUMNS[:1], (0,), ((9.0,),))
    assert cell(table, 0, 0) == "9.000"
    assert table.model().columnCount() == 1


def test_the_chosen_rows_can_be_copied(qtbot, table):
    table.selectRow(1)
    with qtbot.waitSignal(table.copy_asked) as asked:
        qtbot.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert asked.args == [[1]]


def test_the_row_of_the_step_stays_in_sight_when_there_is_less_room(qtbot, table):
    table.show_numbers(COLUMNS, tuple(range(20)), ROWS[:1] * 20)
    table.show_step(12)
    table.resize(400, 120)
    row = table.visualRect(table.currentIndex())
    assert table.viewport().rect().contains(row.center())
    assert table.viewport().rect().bottom() >= row.bottom()


def test_a_column_is_wide_enough_for_both_lines_of_its_header(table):
    relation = NumberColumn("dog to the left of car", "PoS before", "")
    table.show_numbers((COLUMNS[0], relation), (0,), ((3.0, 0.5),))
    header = table.horizontalHeader()
    for place in range(2):
        assert header.sectionSize(place) >= header.sectionSizeHint(place)
    assert header.sectionSize(1) > header.sectionSize(0)
    assert "…" not in table.model().headerData(1, Qt.Orientation.Horizontal)
