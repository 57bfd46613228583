"""Input fields without Qt's wheel and undo behaviour.

Qt lets the wheel change whatever field the pointer crosses while a page scrolls, and gives every
text field a separate undo stack that shadows the window's. These fields use the wheel only with
keyboard focus and outside scroll areas, and leave undo to the window where each change is an edit
on its stack.
"""

from typing import TYPE_CHECKING, Any, TypeAlias

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QComboBox,
    QDoubleSpinBox,
    QLineEdit,
    QScrollArea,
    QSlider,
    QSpinBox,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)

if TYPE_CHECKING:
    _Field: TypeAlias = QWidget
    _Box: TypeAlias = QAbstractSpinBox
else:
    _Field = _Box = object  # Qt classes cannot be combined as bases


SHORTEST = 6
"""Minimum number of visible letters before eliding."""


class _FocusedWheel(_Field):
    """Ignores the wheel without keyboard focus or in a scroll area, so that the page scrolls."""

    def __init__(self, *arguments: Any, **properties: Any) -> None:
        super().__init__(*arguments, **properties)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus() and not _is_scrolled(self):
            super().wheelEvent(event)
        else:
            event.ignore()


class _WindowUndo(_Box):
    """Leaves undo and redo to the window, which records typing as edits."""

    def event(self, event: QEvent) -> bool:
        if asks_undo(event):
            self.interpretText()
            return left_to_window(event)
        return super().event(event)


PLAIN_NUMBER = {
    "keyboardTracking": False,
    "buttonSymbols": QAbstractSpinBox.ButtonSymbols.NoButtons,
}
"""Qt properties of a number field without buttons that emits when it is left or stepped."""


class NumberBox(_FocusedWheel, _WindowUndo, QSpinBox):
    """A field for an integer."""


class DecimalBox(_FocusedWheel, _WindowUndo, QDoubleSpinBox):
    """A field for a decimal number."""


class ComboBox(_FocusedWheel, QComboBox):
    """A drop-down list."""


class ChoiceBox(ComboBox):
    """A combo box that elides a long choice; its list shows the full text.

    Args:
        name: Accessible name.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(SHORTEST)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        control, part = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
        painter.drawComplexControl(control, option)
        room = self.style().subControlRect(control, option, part, self).width()
        whole, dots = option.currentText, Qt.TextElideMode.ElideRight
        option.currentText = self.fontMetrics().elidedText(whole, dots, room)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)


class Slider(_FocusedWheel, QSlider):
    """A horizontal slider."""

    def __init__(self, parent: QWidget | None = None, **properties: Any) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent, **properties)


class EditLine(QLineEdit):
    """A line whose every change is an edit on the window's undo stack."""

    def __init__(self, *arguments: Any, **properties: Any) -> None:
        super().__init__(*arguments, **properties)

    def event(self, event: QEvent) -> bool:
        """Leave undo and redo to the window."""
        return left_to_window(event) if asks_undo(event) else super().event(event)


class TextLine(QLineEdit):
    """A line whose text is committed when left; undo reverts typing first."""

    def event(self, event: QEvent) -> bool:
        """Leave undo and redo to the window when there is no typing to revert."""
        is_own = self.isModified() and (self.isUndoAvailable() or self.isRedoAvailable())
        return left_to_window(event) if asks_undo(event) and not is_own else super().event(event)


def _is_scrolled(field: QWidget) -> bool:
    """Return True if a field lies in a scroll area of its window."""
    parent = field.parentWidget()
    while parent is not None:
        if isinstance(parent, QScrollArea):
            return True
        parent = None if parent.isWindow() else parent.parentWidget()
    return False


def asks_undo(event: QEvent) -> bool:
    """Return True if an event is the shortcut of undo or redo."""
    if not isinstance(event, QKeyEvent):
        return False
    keys = QKeySequence.StandardKey
    return event.matches(keys.Undo) or event.matches(keys.Redo)


def left_to_window(event: QEvent) -> bool:
    """Ignore a key so that the window's shortcut handles it; always return True."""
    event.ignore()
    return True
