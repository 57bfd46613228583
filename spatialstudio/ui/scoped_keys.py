"""Keys that mean something else while a widget has the focus."""

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
        action = action_of(event, self._actions)
        if action is None:
            return super().eventFilter(watched, event)
        event.accept()
        if event.type() is QEvent.Type.KeyPress:
            action.trigger()
        return True


class KeysOfOthers(QObject):
    """Keeps the keys of other places out of a widget in the menu bar.

    Qt holds what stands in a menu to be meant wherever the menu bar reaches: Space on a button
    would play, and a digit that means two things would do nothing.

    Args:
        others: Actions of other places.
        own: Actions of the whole window, some with the same keys.
        widget: Where the others' keys are not heard.
    """

    def __init__(self, others: Sequence[QAction], own: Sequence[QAction], widget: QWidget) -> None:
        super().__init__(widget)
        self._others, self._own = tuple(others), tuple(own)
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Claim the others' keys; the window's action goes first, then the widget."""
        if not isinstance(event, QKeyEvent) or action_of(event, self._others) is None:
            return super().eventFilter(watched, event)
        if event.type() is QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        own = action_of(event, self._own)
        if event.type() is not QEvent.Type.KeyPress or own is None:
            return super().eventFilter(watched, event)
        own.trigger()
        return True


def action_of(event: QKeyEvent, actions: Sequence[QAction]) -> QAction | None:
    """Return the action whose shortcut was pressed; None for none."""
    modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    pressed = QKeySequence(QKeyCombination(modifiers, Qt.Key(event.key())))
    return next((each for each in actions if each.shortcut() == pressed), None)


HEARD = (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress)
"""Qt asks before it looks for a shortcut, then presses the key."""
