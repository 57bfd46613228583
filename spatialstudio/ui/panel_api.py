"""What a panel is, built-in or plugin: a dock with a title that follows the studio's events."""

from typing import ClassVar

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget


class Panel(QWidget):
    """A dock with a purpose: builds widgets, connects them, translates events.

    Emits ``problem_met`` with an ``ErrorReport`` when what the user asked for cannot be done.
    """

    title: ClassVar[str] = ""
    problem_met = Signal(object)

    def handle(self, event: object) -> None:
        """Follow an event of the studio, on the GUI thread; returns at once.

        Args:
            event: Any event of the bus; what is of no interest is let pass.
        """
