"""Several widgets as one stop of Tab: keys lead from one to the next."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

DOWN_THE_ROWS: Mapping[Qt.Key, int] = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
ALONG_THE_LINE: Mapping[Qt.Key, int] = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, **DOWN_THE_ROWS}
HEARD = (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress)


class Roving(QObject):
    """Lets Tab stop at one of several widgets, the one that had the keyboard last.

    Args:
        parent: Whose widgets they are.
        steps: How far each key leads.
    """

    def __init__(self, parent: QWidget, steps: Mapping[Qt.Key, int]) -> None:
        super().__init__(parent)
        self._steps = steps
        self._widgets: tuple[QWidget, ...] = ()

    def lead(self, widgets: Sequence[QWidget]) -> None:
        """Take these widgets, in order; the first is where Tab stops now."""
        self._widgets = tuple(widgets)
        for widget in self._widgets:
            widget.installEventFilter(self)
        if self._widgets:
            self._stop_at(self._widgets[0])

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the keyboard, and hear the keys before the window does."""
        if event.type() is QEvent.Type.FocusIn:
            self._stop_at(watched)
        if not isinstance(event, QKeyEvent) or event.type() not in HEARD or event.modifiers():
            return super().eventFilter(watched, event)
        step = self._steps.get(Qt.Key(event.key()))
        if step is None:
            return super().eventFilter(watched, event)
        event.accept()
        if event.type() is QEvent.Type.KeyPress:
            self._go_on(watched, step)
        return True

    def _stop_at(self, stop: QObject) -> None:
        for widget in self._widgets:
            is_stop = widget is stop
            policy = Qt.FocusPolicy.StrongFocus if is_stop else Qt.FocusPolicy.ClickFocus
            widget.setFocusPolicy(policy)

    def _go_on(self, start: QObject, step: int) -> None:
        place = next(place for place, each in enumerate(self._widgets) if each is start) + step
        if 0 <= place < len(self._widgets):
            self._widgets[place].setFocus(Qt.FocusReason.TabFocusReason)
