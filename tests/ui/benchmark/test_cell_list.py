"""The table of pictures, which draws its rows itself."""

import pytest

from spatialstudio.domain.benchmark_cells import CellState
from spatialstudio.ui.benchmark.widgets.cell_list import CellList, Column, Role
from tests.benchmark_cells import grid, judged
from tests.ui.benchmark.conftest import STATES


@pytest.fixture
def shown_list(context, qtbot):
    made = CellList(context.theme, str)
    qtbot.addWidget(made)
    made.resize(1400, 400)
    table = judged(grid(), STATES)
    made.show_table(table, table.grid.places()[1].argsort(kind="stable"))
    made.show()
    return made


def strip(widget, row, column):
    """Return the pixels of a field."""
    left, top = widget.columnViewportPosition(column), widget.rowViewportPosition(row)
    height = widget.verticalHeader().defaultSectionSize()
    return widget.viewport().grab().toImage().copy(left, top, widget.columnWidth(column), height)


def test_fields_read_as_a_row_at_a_time_and_as_a_column_at_a_time(shown_list):
    model = shown_list.model()
    rows = range(1, 6)
    for column in Column:
        by_field = [model.index(row, column).data() for row in rows]
        assert model.texts(rows, column) == by_field
    assert model.index(2, Column.STATE).data() == "PASS"
    assert model.index(4, Column.REASON).data() == "near_boundary"
    assert model.index(5, Column.PSE).data(Role.AccessibleTextRole) == "PSE: –"  # noqa: RUF001


def test_equal_fields_look_equal_and_others_do_not(shown_list):
    assert strip(shown_list, 0, Column.STATE) == strip(shown_list, 2, Column.STATE)  # PASS, PASS
    assert strip(shown_list, 0, Column.STATE) != strip(shown_list, 6, Column.STATE)
    assert strip(shown_list, 0, Column.PROMPT) != strip(shown_list, 4, Column.PROMPT)


def test_the_selected_row_has_a_ground_of_its_own(shown_list, context):
    before = strip(shown_list, 3, Column.PASSES)
    shown_list.selectRow(3)
    after = strip(shown_list, 3, Column.PASSES)
    assert after != before
    assert after.pixelColor(1, 1) == context.theme.colour("line")


def test_a_number_in_a_narrow_column_is_elided_not_cut(shown_list):
    whole = shown_list.sizeHintForColumn(Column.SECONDS)
    for width, ends in ((whole, "0"), (whole - 8, "…")):
        shown_list.setColumnWidth(Column.SECONDS, width)
        room = width - 2 * shown_list._indent(Column.SECONDS)
        assert shown_list._fit("2.00", room)[0].text().endswith(ends)


def test_new_results_are_drawn(shown_list):
    cells = shown_list.model().cells
    row = cells.tolist().index(STATES.index(CellState.WAITING))
    before = strip(shown_list, row, Column.STATE)
    shown_list.show_table(judged(grid(), [CellState.PASS] * len(STATES)), cells)
    assert shown_list.model().index(row, Column.STATE).data() == "PASS"
    assert strip(shown_list, row, Column.STATE) != before
