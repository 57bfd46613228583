import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from spatialstudio.ui.framework.appearance import palette_of
from spatialstudio.ui.framework.window_settings import ThemeChoice
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.builders import (
    SPACE,
    ThemedIcon,
    action_button,
    at_top,
    clear,
    column,
    discard,
    grid,
    grow,
    push_button,
    row,
    space,
    tool_button,
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


def test_a_button_calls_its_slot(qtbot):
    calls = []
    button = push_button("Save", lambda: calls.append("saved"), kind="quiet", tip="Save <b>it</b>")
    qtbot.addWidget(button)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert calls == ["saved"]
    assert button.property("kind") == "quiet"
    assert "&lt;b&gt;" in button.toolTip()


def test_a_tool_button_has_its_text_next_to_its_icon(qtbot):
    button = tool_button("Back", name="Back to all runs", icon_em=1)
    qtbot.addWidget(button)
    assert button.toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonTextBesideIcon
    assert button.accessibleName() == "Back to all runs"


def test_a_button_is_enabled_as_its_action(qtbot):
    action = QAction("Add an object…")
    button = action_button(action, "Add")
    qtbot.addWidget(button)
    action.setEnabled(False)
    assert not button.isEnabled()
    assert (button.text(), button.accessibleName()) == ("Add", "Add an object")


def test_an_icon_follows_the_theme(qtbot, theme):
    button = QPushButton()
    qtbot.addWidget(button)
    ThemedIcon(button, theme, "plus")
    before = button.icon().cacheKey()
    theme.use(palette_of(ThemeChoice.DARK))
    assert button.icon().cacheKey() != before
