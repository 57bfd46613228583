"""A button whose words change while all around it stays in place."""

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QPushButton


class SteadyButton(QPushButton):
    """Shows one of several texts and is as wide as the widest of them.

    Args:
        texts: All that it can show; it begins with the first.
    """

    def __init__(self, *texts: str) -> None:
        super().__init__(texts[0])
        self._texts = texts

    def sizeHint(self) -> QSize:
        """Ask for the room that the widest text takes."""
        advance = self.fontMetrics().horizontalAdvance
        room = max(map(advance, self._texts)) - advance(self.text())
        return super().sizeHint() + QSize(max(room, 0), 0)

    def minimumSizeHint(self) -> QSize:
        """Ask for no less."""
        return self.sizeHint()
