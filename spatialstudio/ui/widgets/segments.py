"""A segmented control for a single choice."""

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QButtonGroup, QToolButton, QWidget

from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.builders import FlowLayout, tool_button

STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1}


class Segments(QWidget):
    """Shows choices as buttons in wrapped lines; arrows change the choice.

    Emits ``choice_picked`` with the key of a choice, on user action only.

    Args:
        name: Accessible name.
        choices: Key to text and tooltip, in order.
    """

    choice_picked = Signal(object)

    def __init__(self, name: str, choices: Mapping[object, tuple[str, str]]) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self._group = QButtonGroup(self)
        self._buttons: dict[object, QToolButton] = {}
        row = FlowLayout(em(0.15))
        self.setLayout(row)
        for key, (text, tip) in choices.items():
            button = tool_button(text, kind="segment", name=f"{name}: {text}", tip=tip)
            button.setCheckable(True)
            self._group.addButton(button)
            self._buttons[key] = button
            row.addWidget(button)
        self._group.buttonClicked.connect(self._tell)

    def show_choice(self, key: object) -> None:
        """Mark the current choice."""
        self._buttons[key].setChecked(True)
        for other, button in self._buttons.items():
            focus = Qt.FocusPolicy.StrongFocus if other == key else Qt.FocusPolicy.ClickFocus
            button.setFocusPolicy(focus)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        keys = list(self._buttons)
        step = STEPS.get(Qt.Key(event.key()))
        marked = [place for place, key in enumerate(keys) if self._buttons[key].isChecked()]
        if step is None or not marked:
            super().keyPressEvent(event)
            return
        key = keys[min(max(marked[0] + step, 0), len(keys) - 1)]
        self.show_choice(key)
        self._buttons[key].setFocus()
        self.choice_picked.emit(key)

    def _tell(self, button: QToolButton) -> None:
        key = next(key for key, each in self._buttons.items() if each is button)
        self.show_choice(key)
        self.choice_picked.emit(key)
