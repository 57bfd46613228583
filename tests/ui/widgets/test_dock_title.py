import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QLabel, QMainWindow, QToolButton

from spatialstudio.ui.widgets.dock_column import DockTitle


@pytest.fixture
def dock(qtbot, theme):
    window = QMainWindow()
    qtbot.addWidget(window)
    dock = QDockWidget("Prompt", window)
    dock.setTitleBarWidget(DockTitle(theme, dock))
    window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, dock)
    window.show()
    yield dock
    window.close()


def button(dock, name):
    buttons = dock.titleBarWidget().findChildren(QToolButton)
    return next(each for each in buttons if each.accessibleName().startswith(name))


def test_a_dock_can_float_and_come_back(qtbot, dock):
    qtbot.mouseClick(button(dock, "Float"), Qt.MouseButton.LeftButton)
    assert dock.isFloating()
    qtbot.mouseClick(button(dock, "Float"), Qt.MouseButton.LeftButton)
    assert not dock.isFloating()


def test_a_dock_can_be_hidden(qtbot, dock):
    qtbot.mouseClick(button(dock, "Hide"), Qt.MouseButton.LeftButton)
    assert not dock.isVisible()


def test_a_long_title_is_shortened_where_the_dock_is_narrow(qtbot, theme):
    dock = QDockWidget("Stability under all small changes")
    qtbot.addWidget(dock)
    title = DockTitle(theme, dock)
    dock.setTitleBarWidget(title)
    dock.resize(160, 100)
    dock.show()
    words = title.findChild(QLabel)
    assert words.text().endswith("…")
    assert words.toolTip() == "Stability under all small changes"
    dock.resize(700, 100)
    assert words.text() == "Stability under all small changes"
