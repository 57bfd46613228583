import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.box_layouts import (
    SPACE,
    at_top,
    clear,
    column,
    discard,
    grid,
    grow,
    row,
    space,
)


@pytest.fixture
def room(qtbot):
    room = QWidget()
    qtbot.addWidget(room)
    return room


@pytest.fixture
def labels(qtbot):
    return [QLabel(text) for text in ("one", "two", "three")]


def test_a_column_has_its_gap_and_margins(room, labels):
    made = column(*labels, within=room, gap=0.5, edges=(1, 2, 3, 4))
    margins = made.contentsMargins()
    assert [made.itemAt(place).widget() for place in range(3)] == labels
    assert made.spacing() == em(0.5)
    assert (margins.left(), margins.bottom()) == (em(1), em(4))


def test_without_a_gap_and_margins_the_style_decides(room, labels):
    made = row(*labels, within=room, edges=None)
    other = QWidget()
    usual = QHBoxLayout(other)
    assert made.spacing() == usual.spacing()
    assert made.contentsMargins() == usual.contentsMargins()


def test_a_part_that_grows_takes_the_free_room(room, labels):
    row(labels[0], grow(labels[1]), within=room, gap=0)
    room.resize(400, 50)
    room.show()
    assert labels[0].width() == labels[0].sizeHint().width()
    assert labels[1].geometry().right() == 399


def test_spaces_separate_parts(room, labels):
    made = row(labels[0], space(2), labels[1], SPACE, within=room, gap=0)
    room.resize(400, 50)
    room.show()
    assert labels[1].x() - labels[0].geometry().right() - 1 == em(2)
    assert made.count() == 4


def test_a_part_at_the_top_keeps_its_height(room, labels):
    made = row(at_top(labels[0]), within=room)
    assert made.itemAt(0).alignment() == Qt.AlignmentFlag.AlignTop


def test_a_grid_has_one_wide_column(room):
    cells = grid(room, (0.5, 0.25), wide=2)
    assert (cells.horizontalSpacing(), cells.verticalSpacing()) == (em(0.5), em(0.25))
    assert [cells.columnStretch(place) for place in (1, 2)] == [0, 1]


def test_discarded_widgets_leave_their_layout(room, labels):
    made = column(*labels, within=room)
    discard(made, *labels[:2])
    assert made.count() == 1
    assert labels[0].isHidden()


def test_a_cleared_layout_is_empty(room, labels):
    made = column(*labels, within=room)
    clear(made)
    assert made.count() == 0
