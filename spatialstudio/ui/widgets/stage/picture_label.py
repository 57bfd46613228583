"""Words that stand on the picture: the name of a box, the length of a line."""

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from spatialstudio.ui.theme.metrics import SMALL, em, font

ROUNDING_EM = 0.2


def draw_name(
    painter: QPainter, frame: QRectF, box: QRectF, text: str, colours: tuple[QColor, QColor]
) -> None:
    """Name a box: over its top left corner, within it where there is no room.

    Args:
        painter: Draws.
        frame: What the name must not leave.
        box: What is named.
        text: The name.
        colours: Of the ground and of the letters.
    """
    size = _measured(painter, text)
    over = box.top() - size.height() >= frame.top()
    size.moveTopLeft(QPointF(box.left() - 1, box.top() - (size.height() if over else 0)))
    size.moveLeft(max(min(size.left(), frame.right() - size.width()), frame.left()))
    ground, ink = colours
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ground)
    painter.drawRect(size)
    painter.setPen(ink)
    painter.drawText(size, Qt.AlignmentFlag.AlignCenter, text)


def draw_note(
    painter: QPainter, frame: QRectF, middle: QPointF, text: str, colours: tuple[QColor, QColor]
) -> None:
    """Write a note around a point, as near as the frame allows; arguments as for ``draw_name``."""
    size = _measured(painter, text)
    size.moveCenter(middle)
    size.moveLeft(max(min(size.left(), frame.right() - size.width()), frame.left()))
    size.moveTop(max(min(size.top(), frame.bottom() - size.height()), frame.top()))
    ground, ink = colours
    painter.setPen(QPen(ink, 1))
    painter.setBrush(ground)
    painter.drawRoundedRect(size, em(ROUNDING_EM), em(ROUNDING_EM))
    painter.drawText(size, Qt.AlignmentFlag.AlignCenter, text)


def _measured(painter: QPainter, text: str) -> QRectF:
    painter.setFont(font(SMALL, bold=True))
    measure = QFontMetricsF(painter.font())
    return QRectF(0, 0, measure.horizontalAdvance(text) + em(0.6), measure.height() + 2)
