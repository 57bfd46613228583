"""A switch that holds only while its key is held down."""

from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence


class HeldKey(QObject):
    """Switches an action off when the key that switched it on is let go.

    Switched on from a menu or the palette it stays on until it is switched off there.
    """

    def __init__(self, action: QAction) -> None:
        super().__init__(action)
        self._action = action
        action.setAutoRepeat(False)
        action.toggled.connect(self._watch)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Look out for the key; it goes on to whom it was meant for."""
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.KeyRelease:
            is_own = self._action.shortcut() == QKeySequence(event.key())
            if is_own and not event.isAutoRepeat() and self._action.isChecked():
                self._action.trigger()
        return super().eventFilter(watched, event)

    def _watch(self, is_on: bool) -> None:
        application = QCoreApplication.instance()
        if application is not None and is_on:
            application.installEventFilter(self)
        elif application is not None:
            application.removeEventFilter(self)
