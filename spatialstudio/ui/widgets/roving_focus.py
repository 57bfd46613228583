"""Roving focus: several widgets share one tab stop, and keys move between them."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

Step = tuple[int, int]
"""Rows down, and widgets along."""

ALONG: Mapping[Qt.Key, Step] = {Qt.Key.Key_Left: (0, -1), Qt.Key.Key_Right: (0, 1)}
DOWN_THE_ROWS: Mapping[Qt.Key, Step] = {Qt.Key.Key_Up: (-1, 0), Qt.Key.Key_Down: (1, 0)}
ALONG_THE_LINE: Mapping[Qt.Key, Step] = {
    **ALONG,
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}
ROWS_AND_PLACES: Mapping[Qt.Key, Step] = {**ALONG, **DOWN_THE_ROWS}
KEY_EVENTS = (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress)


class RovingFocus(QObject):
    """Keeps one of several widgets in the tab order, the last focused one.

    Args:
        parent: Parent of the widgets.
        steps: Step of each key; along, the end of a row continues in the next.
    """

    def __init__(self, parent: QWidget, steps: Mapping[Qt.Key, Step]) -> None:
        super().__init__(parent)
        self._steps = steps
        self._rows: tuple[tuple[QWidget, ...], ...] = ()

    def lead(self, *rows: Sequence[QWidget], start: QWidget | None = None) -> None:
        """Set the widgets, row by row; the tab stop is ``start``, or the first widget."""
        self._rows = tuple(tuple(row) for row in rows if row)
        for widget in self._widgets:
            widget.installEventFilter(self)
        if self._widgets:
            self._stop_at(start or self._widgets[0])

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.FocusIn:
            self._stop_at(watched)
        if not isinstance(event, QKeyEvent) or event.type() not in KEY_EVENTS or event.modifiers():
            return super().eventFilter(watched, event)
        step = self._steps.get(Qt.Key(event.key()))
        if step is None:
            return super().eventFilter(watched, event)
        event.accept()
        if event.type() is QEvent.Type.KeyPress:
            self._go_on(watched, *step)
        return True

    @property
    def _widgets(self) -> tuple[QWidget, ...]:
        return tuple(widget for row in self._rows for widget in row)

    def _stop_at(self, stop: QObject) -> None:
        for widget in self._widgets:
            is_stop = widget is stop
            policy = Qt.FocusPolicy.StrongFocus if is_stop else Qt.FocusPolicy.ClickFocus
            widget.setFocusPolicy(policy)

    def _go_on(self, start: QObject, down: int, along: int) -> None:
        target = self._below(start, down) if down else self._neighbour(start, along)
        if target is not None:
            self._stop_at(target)
            target.setFocus(Qt.FocusReason.TabFocusReason)

    def _neighbour(self, start: QObject, along: int) -> QWidget | None:
        widgets = self._widgets
        place = next(place for place, each in enumerate(widgets) if each is start) + along
        return widgets[place] if 0 <= place < len(widgets) else None

    def _below(self, start: QObject, down: int) -> QWidget | None:
        """Return the widget in the same column of another row, or that row's last."""
        number, place = next(
            (number, place)
            for number, row in enumerate(self._rows)
            for place, each in enumerate(row)
            if each is start
        )
        if not 0 <= number + down < len(self._rows):
            return None
        row = self._rows[number + down]
        return row[min(place, len(row) - 1)]
