"""Waits for a window to be seen: what can come later does not keep the user from it."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget


class FirstFrame(QObject):
    """Calls once, when a window has been painted for the first time.

    Args:
        window: What is waited for; the waiting ends with it.
        act: Called soon after its first picture.
    """

    def __init__(self, window: QWidget, act: Callable[[], None]) -> None:
        super().__init__(window)
        self._window = window
        self._act = act
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """See the first painting begin; act when it has ended."""
        if event.type() is QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self._window, self._act)
            self.deleteLater()
        return False
