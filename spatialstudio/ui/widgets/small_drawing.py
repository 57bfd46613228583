"""The base class of illustrations for empty views."""

from PySide6.QtCore import QSize
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme

LINE = 1.5


class SmallDrawing(QWidget):
    """Draws in the theme's colours at a fixed size; subclasses implement ``draw``.

    Args:
        theme: Colours and icons.
        size_em: Width and height.
    """

    def __init__(self, theme: Theme, size_em: tuple[float, float]) -> None:
        super().__init__()
        self.theme = theme
        self._size_em = size_em
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        width, height = self._size_em
        return QSize(em(width), em(height))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.theme.colour("line"), LINE))
        painter.setBrush(self.theme.colour("raised"))
        self.draw(painter)
        painter.end()

    def draw(self, painter: QPainter) -> None:
        """Draw the illustration."""
        raise NotImplementedError
