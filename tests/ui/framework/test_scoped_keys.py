"""Scoped keys go before the window's while their widget has the focus, and only then."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from spatialstudio.ui.framework.actions import ScopedKeys


@pytest.fixture
def done():
    return []


@pytest.fixture
def ground(qtbot, done):
    """A window with a shortcut, and two widgets within it."""
    ground = QWidget()
    qtbot.addWidget(ground)
    column = QVBoxLayout(ground)
    for part in (QWidget(), QLineEdit()):
        part.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        column.addWidget(part)
    wide = QAction("wide", ground)
    wide.setShortcut(QKeySequence("3"))
    wide.triggered.connect(lambda: done.append("wide"))
    ground.addAction(wide)
    ground.show()
    ground.activateWindow()
    return ground


@pytest.fixture
def widget(ground, done):
    widget = ground.layout().itemAt(0).widget()
    own = QAction("own", ground)
    own.setShortcut(QKeySequence("3"))
    own.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
    own.triggered.connect(lambda: done.append("own"))
    ScopedKeys([own], widget)
    widget.setFocus()
    return widget


def test_its_keys_go_before_those_of_the_window(qtbot, widget, done):
    qtbot.keyClick(widget, Qt.Key.Key_3)
    assert done == ["own"]


def test_the_number_pad_is_heard_as_well(qtbot, widget, done):
    qtbot.keyClick(widget, Qt.Key.Key_3, Qt.KeyboardModifier.KeypadModifier)
    assert done == ["own"]


def test_elsewhere_the_window_hears_them(qtbot, ground, widget, done):
    ground.setFocus()
    qtbot.keyClick(ground, Qt.Key.Key_3)
    assert done == ["wide"]


def test_other_keys_are_let_pass(qtbot, widget, done):
    qtbot.keyClick(widget, Qt.Key.Key_4)
    assert done == []
