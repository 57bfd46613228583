import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from spatialstudio.ui.widgets.roving_focus import DOWN_THE_ROWS, RovingFocus


@pytest.fixture
def column(qtbot):
    """Three buttons that are one stop of Tab, and one after them."""
    column = QWidget()
    qtbot.addWidget(column)
    layout = QVBoxLayout(column)
    buttons = [QPushButton(name) for name in ("one", "two", "three", "after")]
    for button in buttons:
        layout.addWidget(button)
    RovingFocus(column, DOWN_THE_ROWS).lead(*([button] for button in buttons[:3]))
    column.show()
    buttons[0].setFocus()
    return column


def press(qtbot, column, key):
    qtbot.keyClick(column.focusWidget(), key)
    return column.focusWidget().text()


def test_keys_lead_from_one_to_the_next_and_stop_at_the_ends(qtbot, column):
    pressed = [Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Down]
    reached = [press(qtbot, column, key) for key in pressed]
    assert reached == ["one", "two", "three", "three"]


def test_tab_leaves_them_and_returns_to_the_last_one(qtbot, column):
    press(qtbot, column, Qt.Key.Key_Down)
    assert press(qtbot, column, Qt.Key.Key_Tab) == "after"
    assert press(qtbot, column, Qt.Key.Key_Backtab) == "two"


def test_other_keys_are_the_widgets_own(qtbot, column):
    button = column.focusWidget()
    with qtbot.waitSignal(button.clicked):
        qtbot.keyClick(button, Qt.Key.Key_Space)
