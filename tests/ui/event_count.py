"""Counts the events of a widget."""

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget


class EventCount(QObject):
    """Counts the events of one type that a widget gets.

    Args:
        widget: The widget.
        kind: Type of the events.
    """

    def __init__(self, widget: QWidget, kind: QEvent.Type) -> None:
        super().__init__(widget)
        self.count = 0
        self._kind = kind
        widget.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Count an event, and let it pass."""
        self.count += event.type() is self._kind
        return False
