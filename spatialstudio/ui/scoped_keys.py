"""Keys that go before those of the window while a widget has the focus."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QKeyCombination, QObject, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QWidget


class ScopedKeys(QObject):
    """Carries actions out by their keys, whatever else those keys do in the window.

    Args:
        actions: Whose keys are heard.
        widget: Where.
    """

    def __init__(self, actions: Sequence[QAction], widget: QWidget) -> None:
        super().__init__(widget)
        self._actions = tuple(actions)
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Claim a key before the window's shortcuts see it, then carry its action out."""
        if not isinstance(event, QKeyEvent) or event.type() not in HEARD:
            return super().eventFilter(watched, event)
        action = self._action_of(event)
        if action is None:
            return super().eventFilter(watched, event)
        event.accept()
        if event.type() is QEvent.Type.KeyPress:
            action.trigger()
        return True

    def _action_of(self, event: QKeyEvent) -> QAction | None:
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        pressed = QKeySequence(QKeyCombination(modifiers, Qt.Key(event.key())))
        return next((each for each in self._actions if each.shortcut() == pressed), None)


HEARD = (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress)
"""Qt asks before it looks for a shortcut, then presses the key."""
