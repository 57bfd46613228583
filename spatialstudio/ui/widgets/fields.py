"""Fields that values are set in: Qt's own, but for the mouse wheel and the keys of undo.

Qt lets the wheel change whatever field the pointer crosses while a page scrolls, and gives every
text field an undo of its own, which shadows that of the window. Here only a field that has the
focus takes the wheel, and a field whose every change is an edit of the window has no other undo.
"""

from typing import TYPE_CHECKING, Any, TypeAlias

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QComboBox,
    QDoubleSpinBox,
    QLineEdit,
    QSlider,
    QSpinBox,
    QWidget,
)

if TYPE_CHECKING:
    _Field: TypeAlias = QWidget
    _Box: TypeAlias = QAbstractSpinBox
else:
    _Field = _Box = object  # a class of Qt cannot have two bases that are Qt's


class _FocusedWheel(_Field):
    """Takes the wheel with the focus only, so that the page scrolls without."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class _WindowUndo(_Box):
    """Leaves undo and redo to the window, which takes what is typed as an edit."""

    def event(self, event: QEvent) -> bool:
        if asks_undo(event):
            self.interpretText()
            return left_to_window(event)
        return super().event(event)


class NumberBox(_FocusedWheel, _WindowUndo, QSpinBox):
    """A field for a whole number."""


class DecimalBox(_FocusedWheel, _WindowUndo, QDoubleSpinBox):
    """A field for a number with decimal places."""


class ComboBox(_FocusedWheel, QComboBox):
    """A list to choose from."""


class Slider(_FocusedWheel, QSlider):
    """A slider from left to right."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)


class EditLine(QLineEdit):
    """A line whose every change is an edit of the window."""

    def event(self, event: QEvent) -> bool:
        """Leave undo and redo to the window."""
        return left_to_window(event) if asks_undo(event) else super().event(event)


class TextLine(QLineEdit):
    """A line that is no edit of the window before it is left: undo takes back its letters first."""

    def event(self, event: QEvent) -> bool:
        """Leave undo and redo to the window where no letter can be taken back."""
        is_own = self.isModified() and (self.isUndoAvailable() or self.isRedoAvailable())
        return left_to_window(event) if asks_undo(event) and not is_own else super().event(event)


def asks_undo(event: QEvent) -> bool:
    """Say whether an event is the keys of undo or redo."""
    if not isinstance(event, QKeyEvent):
        return False
    keys = QKeySequence.StandardKey
    return event.matches(keys.Undo) or event.matches(keys.Redo)


def left_to_window(event: QEvent) -> bool:
    """Keep a key from the field, so that the shortcut of the window is found; always True."""
    event.ignore()
    return True
