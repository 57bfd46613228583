"""The mark of a verdict's outcome: disc, triangle or diamond, with sign and colour."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.verdict import Outcome
from spatialstudio.ui.theme.theme import Theme, em
from spatialstudio.ui.widgets.painting import PaintedWidget

SIDE_EM = 2.2


@frozen(kw_only=False)
class OutcomeLook:
    """Look of an outcome.

    Attributes:
        role: Its colour.
        corners: Corners of the shape in the unit square; empty for a disc.
        sign: The strokes inside the shape, in the unit square.
    """

    role: str
    corners: tuple[tuple[float, float], ...]
    sign: tuple[tuple[tuple[float, float], ...], ...]


LOOKS = {
    Outcome.PASS: OutcomeLook("good", (), (((0.3, 0.52), (0.44, 0.66), (0.7, 0.36)),)),
    Outcome.FAIL: OutcomeLook(
        "bad",
        ((0.5, 0.06), (0.98, 0.92), (0.02, 0.92)),
        (((0.4, 0.54), (0.6, 0.76)), ((0.6, 0.54), (0.4, 0.76))),
    ),
    Outcome.UNDECIDABLE: OutcomeLook(
        "unsure",
        ((0.5, 0.0), (1.0, 0.5), (0.5, 1.0), (0.0, 0.5)),
        (((0.32, 0.5), (0.34, 0.5)), ((0.49, 0.5), (0.51, 0.5)), ((0.66, 0.5), (0.68, 0.5))),
    ),
}


class OutcomeMark(PaintedWidget):
    """Shows one outcome as a shape with a sign inside."""

    def __init__(self, theme: Theme, outcome: Outcome) -> None:
        super().__init__(theme, accessibleName=outcome.value)
        self._outcome = outcome
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(em(SIDE_EM), em(SIDE_EM))

    def draw(self, painter: QPainter) -> None:
        """Draw the mark over the whole widget."""
        draw_outcome(painter, self._theme, self._outcome, QRectF(self.rect()))


def draw_outcome(painter: QPainter, theme: Theme, outcome: Outcome, place: QRectF) -> None:
    """Draw the mark of an outcome into a square."""
    look = LOOKS[outcome]
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    area = place.adjusted(2, 2, -2, -2)
    painter.setBrush(theme.colour(look.role))
    rounding = QPen(theme.colour(look.role), area.width() / 14)
    rounding.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(rounding)
    inner = area.adjusted(1, 1, -1, -1)
    if look.corners:
        painter.drawPolygon(_placed(look.corners, inner))
    else:
        painter.drawEllipse(inner)
    pen = QPen(theme.colour("raised"), area.width() / 11)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    for stroke in look.sign:
        painter.drawPolyline(_placed(stroke, inner))


def _placed(points: tuple[tuple[float, float], ...], area: QRectF) -> QPolygonF:
    return QPolygonF(
        [QPointF(area.left() + x * area.width(), area.top() + y * area.height()) for x, y in points]
    )
