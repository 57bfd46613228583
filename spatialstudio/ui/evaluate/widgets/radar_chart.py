"""A radar chart of accuracies, one axis per sub-domain."""

from collections.abc import Mapping, Sequence
from math import cos, pi, sin

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.theme.theme import SMALL, Theme, em, font
from spatialstudio.ui.widgets.painting import EXPANDING, PaintedWidget, draw_text
from spatialstudio.ui.widgets.texts import tr

SIDE_EM = 16
LABEL_EM = 5.0
LEGEND_EM = 1.1
RINGS = (0.25, 0.5, 0.75, 1.0)
FEWEST_AXES = 3
FILL = 0.12
DASHES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine)


@frozen(kw_only=False)
class RadarLine:
    """The values of one method.

    Attributes:
        name: Its name.
        values: Value by axis, [0, 1]; None is not drawn.
    """

    name: str
    values: Mapping[str, float | None]


class RadarChart(PaintedWidget):
    """Shows a closed line per method; lines differ in colour and dashes.

    Args:
        theme: Colours and icons.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, accessibleName=tr("Accuracy by sub-domain"), sizePolicy=EXPANDING)
        self._axes: tuple[str, ...] = ()
        self._lines: tuple[RadarLine, ...] = ()

    def sizeHint(self) -> QSize:
        return QSize(em(SIDE_EM), em(SIDE_EM))

    def minimumSizeHint(self) -> QSize:
        return QSize(em(SIDE_EM), em(SIDE_EM * 0.8))

    def show_lines(self, axes: Sequence[str], lines: Sequence[RadarLine]) -> None:
        """Show lines over axes."""
        self._axes, self._lines = tuple(axes), tuple(lines)
        self.setAccessibleDescription(
            " ".join(
                f"{line.name}: "
                + ", ".join(f"{axis} {_in_words(line.values.get(axis))}" for axis in axes)
                + "."
                for line in lines
            )
        )
        self.update()

    def draw(self, painter: QPainter) -> None:
        """Draw rings and axes, then the lines."""
        if len(self._axes) < FEWEST_AXES:
            return
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self._theme.colour("line"), 1))
        for ring in RINGS:
            painter.drawPolygon(QPolygonF([self._place(n, ring) for n in range(len(self._axes))]))
        for number, axis in enumerate(self._axes):
            painter.setPen(QPen(self._theme.colour("line"), 1))
            painter.drawLine(self._place(number, 0), self._place(number, 1))
            self._draw_name(painter, number, axis)
        for place, line in enumerate(self._lines):
            self._draw_line(painter, place, line)
            self._draw_legend(painter, place, line.name)

    def _draw_legend(self, painter: QPainter, place: int, name: str) -> None:
        top = self.height() - em(LEGEND_EM) * (len(self._lines) - place)
        middle = top + em(LEGEND_EM) / 2
        painter.setPen(self._pen(place))
        painter.drawLine(QPointF(0, middle), QPointF(em(1.8), middle))
        box = QRectF(em(2.2), top, self.width() - em(2.2), em(LEGEND_EM))
        side = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        draw_text(painter, box, name, (font(SMALL), self._theme.colour("text")), side)

    def _pen(self, place: int) -> QPen:
        return QPen(self._theme.mention(place), 2, DASHES[place % len(DASHES)])

    def _draw_line(self, painter: QPainter, place: int, line: RadarLine) -> None:
        known = [
            self._place(number, value)
            for number, axis in enumerate(self._axes)
            if (value := line.values.get(axis)) is not None
        ]
        painter.setPen(self._pen(place))
        painter.setBrush(self._theme.mention(place, FILL))
        painter.drawPolygon(QPolygonF(known))
        painter.setBrush(self._theme.mention(place))
        for point in known:
            painter.drawEllipse(point, 2.5, 2.5)

    def _draw_name(self, painter: QPainter, number: int, name: str) -> None:
        box = QRectF(0, 0, em(LABEL_EM), em(1.2))
        centre = self._place(number, 1)
        box.moveCenter(centre + self._direction(number) * em(0.9))
        across = self._direction(number).x()
        if across > 0.1:  # noqa: PLR2004 - right of the middle
            box.moveLeft(centre.x() + em(0.3))
        elif across < -0.1:  # noqa: PLR2004 - left of the middle
            box.moveRight(centre.x() - em(0.3))
        side = Qt.AlignmentFlag.AlignHCenter
        if abs(across) > 0.1:  # noqa: PLR2004 - as above
            side = Qt.AlignmentFlag.AlignLeft if across > 0 else Qt.AlignmentFlag.AlignRight
        look = font(SMALL), self._theme.colour("muted")
        draw_text(painter, box, name, look, side | Qt.AlignmentFlag.AlignVCenter)

    def _direction(self, number: int) -> QPointF:
        angle = 2 * pi * number / len(self._axes) - pi / 2
        return QPointF(cos(angle), sin(angle))

    def _place(self, number: int, value: float) -> QPointF:
        height = self.height() - em(LEGEND_EM) * len(self._lines)
        radius = min(self.width() / 2 - em(LABEL_EM), height / 2 - em(1.5))
        centre = QPointF(self.width() / 2, height / 2)
        return centre + self._direction(number) * max(radius, em(1)) * value


def _in_words(value: float | None) -> str:
    return tr("none") if value is None else f"{value:.2f}"
