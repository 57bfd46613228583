"""Base classes of painted widgets, and what several of them draw."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
    QPaintDevice,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from spatialstudio.ui.theme.theme import Theme, em

LINE = 1.5
CENTRED = Qt.AlignmentFlag.AlignCenter
FIXED = QSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
EXPANDING = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)


@contextmanager
def painting(device: QPaintDevice) -> Iterator[QPainter]:
    """Yield an antialiasing painter that is ended on exit."""
    with QPainter(device) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        yield painter


class PaintedWidget(QWidget):
    """A widget that draws itself in the theme's colours; subclasses implement ``draw``.

    Args:
        theme: Colours and icons.
        properties: Qt properties.
    """

    def __init__(self, theme: Theme, **properties: Any) -> None:
        super().__init__(**properties)
        self._theme = theme
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        with painting(self) as painter:
            self.draw(painter)

    def draw(self, painter: QPainter) -> None:
        """Draw the widget."""
        raise NotImplementedError


class SmallDrawing(PaintedWidget):
    """An illustration of a fixed size for an empty view; subclasses implement ``draw``.

    Args:
        theme: Colours and icons.
        size_em: Width and height.
    """

    def __init__(self, theme: Theme, size_em: tuple[float, float]) -> None:
        super().__init__(theme, sizePolicy=FIXED)
        self._size_em = size_em

    def sizeHint(self) -> QSize:
        width, height = self._size_em
        return QSize(em(width), em(height))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        with painting(self) as painter:
            painter.setPen(QPen(self._theme.colour("line"), LINE))
            painter.setBrush(self._theme.colour("raised"))
            self.draw(painter)


def draw_rounded(
    painter: QPainter,
    box: QRectF,
    fill: QColor | QBrush,
    line: QPen | QColor | Qt.PenStyle = Qt.PenStyle.NoPen,
    radius: float | None = None,
) -> None:
    """Draw a filled rectangle with round corners; without a radius, its ends are half circles."""
    reach = box.height() / 2 if radius is None else radius
    painter.setPen(line)
    painter.setBrush(fill)
    painter.drawRoundedRect(box, reach, reach)


def draw_text(
    painter: QPainter,
    box: QRectF,
    text: str,
    look: tuple[QFont, QColor],
    align: Qt.AlignmentFlag = CENTRED,
) -> None:
    """Write a text in a font and a colour into a box."""
    painter.setFont(look[0])
    painter.setPen(look[1])
    painter.drawText(box, align, text)


def elided(text: str, letters: QFont, width: float) -> str:
    """Return a text that ends with dots where it is wider than ``width`` pixels."""
    return QFontMetricsF(letters).elidedText(text, Qt.TextElideMode.ElideRight, width)
