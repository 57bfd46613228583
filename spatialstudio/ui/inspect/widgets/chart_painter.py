"""Paints the parts of a chart over the steps: levels, curves, what guidance did, the clock."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.inspect.widgets.pos_curve import GuidanceMark, PosCurve
from spatialstudio.ui.inspect.widgets.step_axis import StepAxis
from spatialstudio.ui.theme.metrics import (
    SMALL,
    em,
    font,
)
from spatialstudio.ui.theme.theme import Theme

RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
CENTRE = Qt.AlignmentFlag.AlignCenter
DASHES = Qt.PenStyle.DashLine
SHADE = 0.08
TIES_SHADE = 0.22
DIFFERENCE_SHADE = 0.14
CURVE_WIDTH, SECOND_WIDTH = 2.2, 1.6
DOT_EM = 0.55
VALUE_EM = 1.05
VALUE_GROUND = 0.9
PAD_EM = 0.15
LABEL_GAP_EM = 0.6
"""Between what is written at the left and the first step, whose bar reaches out a little."""
ASIDE = 0.65
"""How far above its dot the open run's value stands, in its heights; the second's as far below."""


@frozen(kw_only=False)
class Scale:
    """The values of a lane, lowest and highest, and those that have a line."""

    low: float
    high: float
    levels: tuple[tuple[float, str], ...]

    @property
    def middle(self) -> float:
        """The level that tells nothing: even PoS, no difference."""
        return (self.low + self.high) / 2


POS = Scale(0.0, 1.0, ((0.0, "0"), (0.5, "0.5"), (1.0, "1")))
DIFFERENCE = Scale(-1.0, 1.0, ((-1.0, "−1"), (0.0, "0"), (1.0, "+1")))  # noqa: RUF001 - a minus


class ChartPainter:
    """Paints with one painter on one axis.

    Args:
        painter: Begun; ended by its owner.
        theme: Its colours.
        axis: Where the steps lie.
    """

    def __init__(self, painter: QPainter, theme: Theme, axis: StepAxis) -> None:
        self._painter = painter
        self._theme = theme
        self._axis = axis
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def text(
        self, area: QRectF, said: str, role: str, side: Qt.AlignmentFlag, *, bold: bool = False
    ) -> None:
        """Write one small line, cut off with dots where it is too long."""
        self._painter.setFont(font(SMALL, bold=bold))
        self._painter.setPen(self._theme.colour(role))
        fitting = self._painter.fontMetrics().elidedText(
            said, Qt.TextElideMode.ElideRight, max(round(area.width()), 0)
        )
        self._painter.drawText(area, side, fitting)

    def guided(self, steps: tuple[int, ...], area: QRectF) -> None:
        """Shade the steps on which guidance acted."""
        self._painter.save()
        self._painter.setClipRect(area)
        for first, last in stretches(steps):
            left, right = self._axis.x_of(first - 0.5), self._axis.x_of(last + 0.5)
            shade = QRectF(left, area.top(), right - left, area.height()).toRect()
            self._painter.fillRect(shade, self._theme.colour("text", SHADE))
        self._painter.restore()

    def levels(self, area: QRectF, scale: Scale, goal: float | None = None) -> None:
        """Draw the lines of a lane, their names at the left, and the goal where there is one."""
        for value, name in scale.levels:
            y = height_of(value, area, scale)
            is_even = value == scale.middle
            role, style = ("faint", Qt.PenStyle.DotLine) if is_even else ("line", None)
            self._line(area, y, QPen(self._theme.colour(role), 1, style or Qt.PenStyle.SolidLine))
            beside = QRectF(0, y - em(0.6), area.left() - em(LABEL_GAP_EM), em(1.2))
            self.text(beside, name, "muted", RIGHT)
        if goal is not None:
            y = height_of(goal, area, scale)
            self._line(area, y, QPen(self._theme.colour("good"), 1.2, DASHES))

    def curve(self, curve: PosCurve, area: QRectF, scale: Scale, *, is_second: bool) -> None:
        """Draw a curve: the second run's thinner and dashed; around it what ties may change."""
        self._painter.save()
        self._painter.setClipRect(area.adjusted(-1, -em(0.2), 1, em(0.2)))
        colour = self._theme.mention(curve.hue)
        if curve.bounds and not is_second:
            lower = [(step, low) for step, low, _ in curve.bounds]
            upper = [(step, high) for step, _, high in reversed(curve.bounds)]
            corners = self._points([*lower, *upper], area, scale)
            self._fill(corners, self._theme.mention(curve.hue, TIES_SHADE))
        points = self._points(curve.points, area, scale)
        if is_second:
            self._painter.setPen(QPen(colour, SECOND_WIDTH, DASHES))
        else:
            self._painter.setPen(QPen(colour, CURVE_WIDTH))
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        self._painter.drawPolyline(QPolygonF(points))
        self._painter.restore()

    def difference(self, curve: PosCurve, area: QRectF) -> None:
        """Draw a difference, and shade what lies between it and none."""
        if curve.points:
            ends = [(curve.points[-1][0], 0.0), (curve.points[0][0], 0.0)]
            corners = self._points([*curve.points, *ends], area, DIFFERENCE)
            self._painter.save()
            self._painter.setClipRect(area)
            self._fill(corners, self._theme.mention(curve.hue, DIFFERENCE_SHADE))
            self._painter.restore()
        self.curve(curve, area, DIFFERENCE, is_second=False)

    def marks(self, marks: tuple[GuidanceMark, ...], area: QRectF) -> None:
        """Draw what guidance did: a bar as high as the step length, a piece a pass; the loss."""
        longest = max((mark.length or 0 for mark in marks), default=0) or 1
        highest = max((mark.loss or 0 for mark in marks), default=0) or 1
        self._painter.save()
        self._painter.setClipRect(area.adjusted(-em(0.3), -1, em(0.3), 1))
        for mark in marks:
            if mark.length is None:
                self._rest(mark.step, area)
            else:
                self._bar(mark.step, mark.length / longest, mark.passes, area)
        unit = Scale(0.0, highest, ())
        told = [(mark.step, mark.loss) for mark in marks if mark.loss is not None]
        losses = self._points(told, area, unit)
        self._painter.setPen(QPen(self._theme.colour("bad"), 1.4))
        self._painter.drawPolyline(QPolygonF(losses))
        self._painter.setBrush(self._theme.colour("bad"))
        radius = em(0.1)
        for point in losses:
            self._painter.drawEllipse(point, radius, radius)
        self._painter.restore()

    def clock(self, area: QRectF) -> None:
        """Name the steps, counted from 1."""
        for step in self._axis.ticks():
            place = QRectF(self._axis.x_of(step) - em(1), area.top(), em(2), area.height())
            self.text(place, str(step + 1), "muted", CENTRE)

    def span(self, steps: tuple[int, int], area: QRectF) -> None:
        """Mark a range of steps, both ends inclusive."""
        first, last = steps
        left, right = self._axis.x_of(first - 0.5), self._axis.x_of(last + 0.5)
        shade = QRectF(left, area.top(), right - left, area.height()).intersected(area)
        self._painter.fillRect(shade, self._theme.colour("good", 0.12))
        self._painter.setPen(QPen(self._theme.colour("good"), 1))
        for x in (shade.left(), shade.right()):
            self._painter.drawLine(QPointF(x, shade.top()), QPointF(x, shade.bottom()))

    def playhead(self, step: int, area: QRectF) -> None:
        """Draw the line at the step looked at."""
        x = self._axis.x_of(step)
        self._painter.setPen(QPen(self._theme.colour("accent"), 2))
        self._painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))

    def values(
        self, step: int, here: list[tuple[PosCurve, float, bool]], area: QRectF, scale: Scale
    ) -> None:
        """Draw a dot on each curve, and write as many values as have room, the open run's first.

        Args:
            step: The step looked at.
            here: Curves, their values, and whether they are the second run's.
            area: Of the lane.
            scale: Of the lane.
        """
        surface, radius = self._theme.colour("raised"), em(DOT_EM) / 2
        for curve, value, is_second in here:
            hue = self._theme.mention(curve.hue)
            self._painter.setPen(QPen(hue, 2))
            self._painter.setBrush(surface if is_second else hue)
            (point,) = self._points([(step, value)], area, scale)
            self._painter.drawEllipse(point, radius, radius)
        line = em(VALUE_EM) / max(area.height(), 1)
        room = int(1 / line) + 1
        wanted = sorted(
            (1 - share_of(value, scale) + (line if is_second else -line) * ASIDE, is_second, value)
            for _, value, is_second in sorted(here, key=lambda each: each[2])[:room]
        )
        places = spread(np.array([place for place, *_ in wanted]), line, 0.0, 1.0)
        for place, (_, is_second, value) in zip(places, wanted, strict=True):
            y = area.top() + place * area.height()
            box = QRectF(self._axis.x_of(step) + radius + 2, y - em(0.6), em(3), em(1.2))
            signed = f"{value:+.2f}" if scale is DIFFERENCE else f"{value:.2f}"
            self._figure(box, signed, is_second=is_second)

    def _figure(self, box: QRectF, said: str, *, is_second: bool) -> None:
        """Write a value at the left of a box, on a ground of its own: no line strikes it out."""
        measure = QFontMetricsF(font(SMALL, bold=not is_second))
        ground = QRectF(0, 0, measure.horizontalAdvance(said), measure.capHeight()).adjusted(
            -em(PAD_EM), -em(PAD_EM), em(PAD_EM), em(PAD_EM)
        )
        ground.moveCenter(box.center())
        ground.moveLeft(box.left())
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(self._theme.colour("raised", VALUE_GROUND))
        self._painter.drawRoundedRect(ground, em(PAD_EM), em(PAD_EM))
        written = box.adjusted(em(PAD_EM), 0, 0, 0)
        self.text(written, said, "muted" if is_second else "text", LEFT, bold=not is_second)

    def _line(self, area: QRectF, y: float, pen: QPen) -> None:
        self._painter.setPen(pen)
        self._painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))

    def _points(
        self, values: Iterable[tuple[int, float]], area: QRectF, scale: Scale
    ) -> list[QPointF]:
        """Return where values at steps lie; both scales are measured once."""
        left, stride = self._axis.x_of(0), self._axis.pixels_a_step
        foot = height_of(0.0, area, scale)
        rise = height_of(1.0, area, scale) - foot
        return [QPointF(left + step * stride, foot + value * rise) for step, value in values]

    def _fill(self, corners: list[QPointF], colour: QColor) -> None:
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(colour)
        self._painter.drawPolygon(QPolygonF(corners))

    def _bar(self, step: int, share: float, passes: int, area: QRectF) -> None:
        width = min(max(self._axis.pixels_a_step * 0.55, 2.0), em(0.7))
        left = self._axis.x_of(step) - width / 2
        pieces = max(passes, 1)
        height = share * area.height() / pieces
        gap = 1.0 if pieces > 1 else 0.0
        for piece in range(pieces):
            bottom = area.bottom() - piece * height
            block = QRectF(left, bottom - height, width, height - gap)
            self._painter.fillRect(block, self._theme.colour("faint"))

    def _rest(self, step: int, area: QRectF) -> None:
        self._painter.setPen(QPen(self._theme.colour("muted"), 1.2))
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        place = QPointF(self._axis.x_of(step), area.bottom() - em(0.25))
        self._painter.drawEllipse(place, em(0.18), em(0.18))


def stretches(steps: Iterable[int]) -> list[tuple[int, int]]:
    """Return the first and the last step of each stretch without a gap; steps in rising order."""
    found: list[tuple[int, int]] = []
    for step in steps:
        if found and found[-1][1] == step - 1:
            found[-1] = found[-1][0], step
        else:
            found.append((step, step))
    return found


def share_of(value: float, scale: Scale) -> float:
    """Return how far up its lane a value lies, 0 at the bottom, 1 at the top."""
    return (value - scale.low) / (scale.high - scale.low)


def height_of(value: float, area: QRectF, scale: Scale) -> float:
    """Return where a value lies in a lane, pixels from the top of the chart."""
    return area.bottom() - share_of(value, scale) * area.height()


def spread(
    wanted: npt.NDArray[np.float64], gap: float, lowest: float, highest: float
) -> npt.NDArray[np.float64]:
    """Move places apart until neighbours keep a gap, within their bounds.

    Args:
        wanted: (n,) in rising order.
        gap: From one place to the next, at least.
        lowest: Bound of the first.
        highest: Bound of the last; there is room for all.
    """
    stairs = gap * np.arange(len(wanted))
    raised = np.maximum.accumulate(np.maximum(wanted, lowest) - stairs) + stairs
    placed: npt.NDArray[np.float64] = np.minimum(raised, highest - stairs[::-1])
    return placed
