import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDockWidget, QPushButton, QToolButton

from spatialstudio.ui.inspect.numbers_panel import NumbersPanel
from spatialstudio.ui.inspect.widgets.number_table import MARGIN_EM, NumberTable
from spatialstudio.ui.theme.theme import em
from tests.ui.scripted_engine import STEPS


@pytest.fixture
def numbers(qtbot, drawn):
    """The numbers of a finished run, in sight."""
    drawn.context.window_signals.workspace_asked.emit("inspect")
    dock = drawn.findChild(QDockWidget, "numbers")
    dock.show()
    dock.raise_()
    panel = drawn.panel(NumbersPanel)
    qtbot.waitUntil(lambda: panel.findChild(NumberTable).model().rowCount() == STEPS)
    return panel


@pytest.fixture
def clipboard(qapp):
    """An empty clipboard; emptied again."""
    clipboard = QGuiApplication.clipboard()
    clipboard.clear()
    yield clipboard
    clipboard.clear()


def test_the_marked_row_is_that_of_the_step(qtbot, numbers, studio):
    studio.session.pick_step(2)
    table = numbers.findChild(NumberTable)
    qtbot.waitUntil(lambda: table.currentIndex().row() == 2)
    table.setFocus()
    qtbot.keyClick(table, Qt.Key.Key_Up)
    assert studio.session.step == 1


def test_all_numbers_or_chosen_rows_can_be_copied(qtbot, numbers, clipboard):
    qtbot.mouseClick(numbers.findChild(QPushButton), Qt.MouseButton.LeftButton)
    lines = clipboard.text().splitlines()
    assert len(lines) == 1 + STEPS
    assert lines[0].startswith("step\tdog: entropy after the step's updates\t")
    table = numbers.findChild(NumberTable)
    table.selectRow(1)
    qtbot.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert [line.split("\t")[0] for line in clipboard.text().splitlines()] == ["step", "2"]


def test_no_header_is_cut(qtbot, numbers):
    qtbot.waitUntil(numbers.isVisible)
    header = numbers.findChild(NumberTable).horizontalHeader()
    hints = [header.sectionSizeHint(n) for n in range(header.count())]
    assert max(hints) > header.defaultSectionSize()
    assert all(header.sectionSize(n) >= hint + em(MARGIN_EM) for n, hint in enumerate(hints))
    assert header.textElideMode() is Qt.TextElideMode.ElideNone  # Qt elides both lines as one


def pick(qtbot, numbers, text):
    button = next(each for each in numbers.findChildren(QToolButton) if each.text() == text)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def pos_column(numbers):
    model = numbers.findChild(NumberTable).model()
    column = next(place for place, each in enumerate(model.columns) if each.name == "PoS")
    return [row[column] for row in model.rows]


def test_the_second_run_and_the_difference_are_shown(qtbot, numbers, studio):
    first = [step.pos["r1"] for step in studio.session.run.steps]
    second = [step.pos["r1"] for step in studio.session.baseline.steps]
    assert pos_column(numbers) == first
    pick(qtbot, numbers, "Second run")
    assert pos_column(numbers) == second
    pick(qtbot, numbers, "Difference")
    assert pos_column(numbers) == [a - b for a, b in zip(first, second, strict=True)]
    studio.session.set_second_run(None)
    qtbot.waitUntil(lambda: not any(b.isVisible() for b in numbers.findChildren(QToolButton)))
