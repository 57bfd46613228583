"""The rows of the chart over the steps: lanes of PoS curves and the guidance track."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import QMarginsF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPen
from PySide6.QtWidgets import (
    QGraphicsEllipseItem,
    QGraphicsRectItem,
    QGraphicsScene,
    QGraphicsSimpleTextItem,
)

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.inspect.widgets.pos_curve import GuidanceMark, PosCurve, TimeLine
from spatialstudio.ui.theme.theme import SMALL, Theme, em, plot_font
from spatialstudio.ui.widgets.plot import Plot, Values, place_text
from spatialstudio.ui.widgets.plot_row import CACHED, PlotCurve, PlotLine
from spatialstudio.ui.widgets.texts import tr

DASHES, DOTS = Qt.PenStyle.DashLine, Qt.PenStyle.DotLine
SHADE = 0.08
TIES_SHADE = 0.22
DIFFERENCE_SHADE = 0.14
SPAN_SHADE = 0.12
CURVE_WIDTH, SECOND_WIDTH = 2.2, 1.6
DOT_EM = 0.55
VALUE_EM = 1.05
VALUE_GROUND = 0.9
PAD_EM = 0.15
VALUE_ROOM_EM = 2.6
"""Room for values to the right of the last step."""
EDGE_EM = 0.4
"""Around a row, for marks at its edge."""
LABEL_GAP_EM = 0.6
"""Between the labels and the first step, whose bar extends a little to the left."""
EDGE = 0.1
"""Margin for the width of the lines, as a fraction of a lane."""
ASIDE = 0.65
"""Offset of the open run's value above its dot, in label heights; below for the second run."""
BAR_SHARE, BAR_EM, THINNEST_BAR = 0.55, 0.7, 2.0
REST_EM, LOSS_DOT_EM, LOSS_WIDTH = 0.36, 0.2, 1.4
BEHIND, CURVES, PLAYHEAD_Z, DOTS_Z, VALUES_Z, TEXTS_Z = range(6)


@frozen(kw_only=False)
class Scale:
    """The lowest and highest value of a lane, and its grid levels."""

    low: float
    high: float
    levels: tuple[tuple[float, str], ...]

    @property
    def middle(self) -> float:
        """The neutral level: even PoS, or no difference."""
        return (self.low + self.high) / 2


POS = Scale(0.0, 1.0, ((0.0, "0"), (0.5, "0.5"), (1.0, "1")))
DIFFERENCE = Scale(-1.0, 1.0, ((-1.0, "−1"), (0.0, "0"), (1.0, "+1")))  # noqa: RUF001 - a minus


@frozen(kw_only=False)
class LaneCurve:
    """A curve of a lane, and whether it belongs to the second run."""

    curve: PosCurve
    is_second: bool = False


def legend_colour(line: TimeLine, theme: Theme) -> QColor:
    """Return the colour of a run's curves in the legend: their hue, or grey for several hues."""
    hues = {curve.hue for curve in line.curves}
    return theme.mention(hues.pop()) if len(hues) == 1 else theme.colour("muted")


class Bars(pg.BarGraphItem):  # type: ignore[misc]
    """A ``BarGraphItem`` without outlines that caches its bounds, which Qt reads at each paint."""

    def __init__(self) -> None:
        self._bounds: QRectF | None = None
        super().__init__(x0=[], x1=[], y0=[], y1=[], pen=None)

    def setOpts(self, **opts: object) -> None:
        self._bounds = None
        super().setOpts(**opts)

    def boundingRect(self) -> QRectF:
        """Return the bounds of all bars."""
        if self._bounds is None:
            self._bounds = super().boundingRect()
        return self._bounds


class StepRow:
    """A row of the chart, on which a range of steps can be marked.

    Args:
        plot: The chart that contains the row.
        scale: Range of its values.
    """

    def __init__(self, plot: Plot, scale: Scale) -> None:
        self._plot = plot
        self.scale = scale
        self.row = plot.add_row(scale.low, scale.high)
        self._span = pg.LinearRegionItem(movable=False)
        self._span.hide()
        self.row.add(self._span, BEHIND)

    @property
    def theme(self) -> Theme:
        """Colours of the chart."""
        return self._plot.theme

    @property
    def area(self) -> QRectF:
        """Rectangle of the steps, pixels."""
        return self.row.area

    def place(self, area: QRectF) -> None:
        """Lay out the row in a rectangle, pixels."""
        edge = em(EDGE_EM)
        self.row.place(area, QMarginsF(edge, edge, em(VALUE_ROOM_EM), edge))

    def show_span(self, span: tuple[int, int] | None) -> None:
        """Mark a range of steps, both ends inclusive."""
        self._span.setVisible(span is not None)
        if span is not None:
            self._span.setRegion((span[0] - 0.5, span[1] + 0.5))

    def dress(self) -> None:
        """Apply the theme's colours."""
        self._span.setBrush(self.theme.colour("good", SPAN_SHADE))
        for line in self._span.lines:
            line.setPen(pg.mkPen(self.theme.colour("good"), width=1))


class PosLane(StepRow):
    """A lane of PoS curves, with grid levels and values at the playhead."""

    def __init__(self, plot: Plot, scale: Scale) -> None:
        super().__init__(plot, scale)
        self._scene = plot.surface.scene()
        self._shown: tuple[LaneCurve, ...] = ()
        self._guided = Bars()
        self._guided_steps: tuple[int, ...] = ()
        self._last = 1.0
        self._ends: tuple[float, float | None] | None = None
        self._levels = [PlotLine() for _ in scale.levels]
        self._goal = PlotLine()
        self._fills: list[pg.PlotCurveItem] = []
        self._curves: list[pg.PlotCurveItem] = []
        self._values: list[ValueMark] = []
        self._axis = pg.AxisItem("left")
        self._axis.setCacheMode(CACHED)
        self._axis.linkToView(self.row.box)
        self._axis.setTicks([scale.levels])
        self._name = QGraphicsSimpleTextItem()
        for item in (self._axis, self._name):
            self._scene.addItem(item)
        for item in (self._guided, *self._levels, self._goal):
            self.row.add(item, BEHIND)

    def show(self, *, is_shown: bool, name: str = "") -> None:
        """Show the lane with a title, or hide it."""
        for item in (self.row.box, self._axis, self._name):
            item.setVisible(is_shown)
        self._name.setText(name)

    def place(self, area: QRectF) -> None:
        """Lay out the row and its labels in a rectangle, pixels."""
        super().place(area)
        box = self.row.box.geometry()
        width = box.left() - em(LABEL_GAP_EM - EDGE_EM)
        self._axis.setWidth(width)
        self._axis.setGeometry(QRectF(0, box.top(), width, box.height()))
        self._name.setFont(plot_font(SMALL))
        place_text(self._name, QPointF(area.right(), area.top()), (1, 1))

    def show_levels(self, last: float, goal: float | None) -> None:
        """Draw the grid levels up to the last step, and the PoS at which guidance pauses."""
        self._last = last
        if self._ends == (last, goal):
            return
        self._ends = last, goal
        for (value, _), line in zip(self.scale.levels, self._levels, strict=True):
            line.setData([0, last], [value, value])
        self._goal.setVisible(goal is not None)
        if goal is not None:
            self._goal.setData([0, last], [goal, goal])

    def show_guided(self, steps: tuple[int, ...]) -> None:
        """Shade the guided steps."""
        if self._guided_steps == steps:
            return
        self._guided_steps = steps
        ends = np.array(stretches(steps), float).reshape(-1, 2)
        low, high = (np.full(len(ends), end) for end in (self.scale.low, self.scale.high))
        self._guided.setOpts(x0=ends[:, 0] - 0.5, x1=ends[:, 1] + 0.5, y0=low, y1=high)

    def show_curves(self, curves: Sequence[LaneCurve]) -> None:
        """Draw curves, the second run's thinner and dashed, and shade the effect of ties."""
        before, self._shown = self._shown, tuple(curves)
        for pool, z in ((self._fills, BEHIND), (self._curves, CURVES)):
            while len(pool) < len(curves):
                pool.append(PlotCurve(QRectF()))
                self.row.add(pool[-1], z)
            for unused in pool[len(curves) :]:
                unused.hide()
        bounds = self._bounds_of_curves()
        for curve in (*self._fills, *self._curves):
            if curve.bounds != bounds:
                curve.prepareGeometryChange()
                curve.bounds = bounds
        for number, (shown, known) in enumerate(zip_longest(curves, before[: len(curves)])):
            if shown != known:
                self._draw(number, shown)

    def _bounds_of_curves(self) -> QRectF:
        """Return the bounds of the curves, including their line width."""
        last, height = self._last, self.scale.high - self.scale.low
        bounds = QRectF(0, self.scale.low, last, height)
        return bounds.adjusted(-EDGE * last, -EDGE * height, EDGE * last, EDGE * height)

    def show_values(self, step: int) -> None:
        """Put a dot on each curve and write as many values as fit, the open run's first."""
        here = [(each, value) for each in self._shown if (value := each.curve.at(step)) is not None]
        here.sort(key=lambda pair: pair[0].is_second)
        while len(self._values) < len(here):
            self._values.append(ValueMark(self._scene))
        for unused in self._values[len(here) :]:
            unused.hide()
        line = em(VALUE_EM) / max(self.area.height(), 1.0)
        marks = list(zip(self._values, here, strict=False))
        for mark, (shown, value) in marks:
            hue, at = self.theme.mention(shown.curve.hue), self.row.position_of(step, value)
            mark.show_dot(at, hue, self.theme.colour("raised") if shown.is_second else hue)
        with_text = sorted(
            marks[: int(1 / line) + 1],
            key=lambda pair: self._height_of(pair[1][0], pair[1][1], line),
        )
        wanted = np.array([self._height_of(each, value, line) for _, (each, value) in with_text])
        x = self.row.position_of(step, 0).x() + em(DOT_EM) / 2 + 2
        for (mark, (shown, value)), place in zip(
            with_text, spread(wanted, line, 0.0, 1.0), strict=True
        ):
            said = f"{value:+.2f}" if self.scale is DIFFERENCE else f"{value:.2f}"
            at = QPointF(x, self.area.top() + place * self.area.height())
            mark.show_text(said, at, self.theme, is_second=shown.is_second)

    def hide_values(self) -> None:
        """Hide all dots and values."""
        for mark in self._values:
            mark.hide()

    def dress(self) -> None:
        """Apply the theme's colours."""
        super().dress()
        self._axis.setStyle(tickFont=plot_font(SMALL), tickLength=0, tickTextOffset=0)
        self._axis.setPen(None)
        self._axis.setTickPen(None)
        self._axis.setTextPen(self.theme.colour("muted"))
        self._guided.setOpts(brush=self.theme.colour("text", SHADE))
        self._goal.setPen(pg.mkPen(self.theme.colour("good"), width=1.2, style=DASHES))
        for (value, _), line in zip(self.scale.levels, self._levels, strict=True):
            is_even = value == self.scale.middle
            role, style = ("faint", DOTS) if is_even else ("line", Qt.PenStyle.SolidLine)
            line.setPen(pg.mkPen(self.theme.colour(role), width=1, style=style))
        self._name.setBrush(self.theme.colour("muted"))
        for number, shown in enumerate(self._shown):
            self._draw(number, shown)

    def _draw(self, number: int, shown: LaneCurve) -> None:
        curve, item, fill = shown.curve, self._curves[number], self._fills[number]
        points = np.array(curve.points, float).reshape(-1, 2)
        colour = self.theme.mention(curve.hue)
        width, style = (SECOND_WIDTH, DASHES) if shown.is_second else (CURVE_WIDTH, None)
        pen = pg.mkPen(colour, width=width, style=style or Qt.PenStyle.SolidLine)
        item.setData(points[:, 0], points[:, 1], pen=pen)
        item.setVisible(len(points) > 0)
        corners, shade = self._corners(shown, points)
        fill.setVisible(len(corners) > 0)
        if len(corners):
            brush = self.theme.mention(curve.hue, shade)
            fill.setData(*corners.T, pen=None, brush=brush, fillLevel="enclosed")

    def _corners(self, shown: LaneCurve, points: Values) -> tuple[Values, float]:
        """Return the polygon shaded around a curve (ties, or down to zero) and its opacity."""
        if self.scale is DIFFERENCE and len(points):
            ends = [(points[-1, 0], 0.0), (points[0, 0], 0.0)]
            return np.vstack([points, ends]), DIFFERENCE_SHADE
        bounds = np.array(() if shown.is_second else shown.curve.bounds, float).reshape(-1, 3)
        return np.vstack([bounds[:, :2], bounds[::-1, ::2]]), TIES_SHADE

    def _height_of(self, shown: LaneCurve, value: float, line: float) -> float:
        """Return the label height of a value, as a fraction of the lane from its top."""
        share = (value - self.scale.low) / (self.scale.high - self.scale.low)
        return 1 - share + (line if shown.is_second else -line) * ASIDE


class ValueMark:
    """A dot on a curve and its value on an opaque background.

    Args:
        scene: Contains both, above all other items.
    """

    def __init__(self, scene: QGraphicsScene) -> None:
        self._dot, self._ground = QGraphicsEllipseItem(), QGraphicsRectItem()
        self._text = QGraphicsSimpleTextItem()
        for item, z in ((self._dot, DOTS_Z), (self._ground, VALUES_Z), (self._text, TEXTS_Z)):
            item.setZValue(z)
            scene.addItem(item)
        self._ground.setPen(QPen(Qt.PenStyle.NoPen))

    def hide(self) -> None:
        """Hide the dot and the value."""
        for item in (self._dot, self._ground, self._text):
            item.hide()

    def show_dot(self, at: QPointF, line: QColor, fill: QColor) -> None:
        """Show the dot; ``show_text`` shows the value."""
        radius = em(DOT_EM) / 2
        self._dot.setRect(at.x() - radius, at.y() - radius, 2 * radius, 2 * radius)
        self._dot.setPen(QPen(line, 2))
        self._dot.setBrush(fill)
        self._dot.show()
        self._ground.hide()
        self._text.hide()

    def show_text(self, said: str, at: QPointF, theme: Theme, *, is_second: bool) -> None:
        """Write the value to the right of a position."""
        chosen = plot_font(SMALL, bold=not is_second)
        if chosen != self._text.font():
            self._text.setFont(chosen)
        self._text.setBrush(theme.colour("muted" if is_second else "text"))
        self._text.setText(said)
        pad = em(PAD_EM)
        place_text(self._text, at + QPointF(pad, 0), (0, 0.5))
        height = QFontMetricsF(self._text.font()).capHeight() + 2 * pad
        width = self._text.boundingRect().width() + 2 * pad
        self._ground.setRect(at.x(), at.y() - height / 2, width, height)
        self._ground.setBrush(theme.colour("raised", VALUE_GROUND))
        self._ground.show()
        self._text.show()


class GuidanceTrack(StepRow):
    """Guidance on each step: bars as high as the step length, split by passes; the loss.

    A triangle above a bar marks updates that were clipped to the gradient limit.
    """

    def __init__(self, plot: Plot) -> None:
        super().__init__(plot, Scale(0.0, 1.0, ()))
        self._marks: tuple[GuidanceMark, ...] = ()
        self._bars = Bars()
        self._losses = PlotLine(antialias=True)
        self._spots = pg.ScatterPlotItem(pxMode=True, useCache=False)
        self._clips = pg.ScatterPlotItem(pxMode=True, symbol="t", useCache=False)
        self._names = [QGraphicsSimpleTextItem() for _ in range(2)]
        for name in self._names:
            plot.surface.scene().addItem(name)
        self.row.add(self._bars, BEHIND)
        for item in (self._losses, self._spots, self._clips):
            self.row.add(item, CURVES)

    def place(self, area: QRectF) -> None:
        """Lay out the row and its labels in a rectangle, pixels."""
        super().place(area)
        for name, text, share in zip(
            self._names, (tr("loss"), tr("step size")), (0.25, 0.75), strict=True
        ):
            name.setText(text)
            name.setFont(plot_font(SMALL))
            left = area.left() - em(LABEL_GAP_EM)
            place_text(name, QPointF(left, area.top() + share * area.height()), (1, 0.5))
        self.draw_bars()

    def show_marks(self, marks: tuple[GuidanceMark, ...]) -> None:
        """Show what guidance did; no marks hide the row."""
        if marks == self._marks and self.row.box.isVisible() is bool(marks):
            return
        self._marks = marks
        for item in (self.row.box, *self._names):
            item.setVisible(bool(marks))
        self._draw_losses()
        self.draw_bars()

    def _draw_losses(self) -> None:
        """Draw the loss as a line with dots, rings where guidance paused, and marks of clipping."""
        highest = max((mark.loss or 0 for mark in self._marks), default=0) or 1
        losses = [(mark.step, mark.loss / highest) for mark in self._marks if mark.loss is not None]
        rests = [(mark.step, 0.0) for mark in self._marks if mark.step_size is None]
        clips = [(mark.step, 1.0) for mark in self._marks if mark.clipped]
        points = np.array(losses, float).reshape(-1, 2)
        bad, muted = self.theme.colour("bad"), self.theme.colour("muted")
        self._losses.setData(*points.T, pen=pg.mkPen(bad, width=LOSS_WIDTH))
        self._spots.setData(
            pos=np.array([*losses, *rests], float).reshape(-1, 2),
            size=[em(LOSS_DOT_EM)] * len(losses) + [em(REST_EM)] * len(rests),
            pen=[pg.mkPen(None)] * len(losses) + [pg.mkPen(muted, width=1.2)] * len(rests),
            brush=[pg.mkBrush(bad)] * len(losses) + [pg.mkBrush(None)] * len(rests),
        )
        self._clips.setData(
            pos=np.array(clips, float).reshape(-1, 2),
            size=em(REST_EM),
            pen=pg.mkPen(None),
            brush=pg.mkBrush(muted),
        )

    def draw_bars(self) -> None:
        """Draw bars as wide as the visible steps allow, their segments one pixel apart."""
        (first, last), width = self.row.box.viewRange()[0], max(self.row.box.width(), 1.0)
        step_px = width / (last - first)
        half = min(max(step_px * BAR_SHARE, THINNEST_BAR), em(BAR_EM)) / step_px / 2
        longest = max((mark.step_size or 0 for mark in self._marks), default=0) or 1
        gap = 1 / max(self.area.height(), 1.0)
        pieces = [
            (mark.step, piece, max(mark.passes, 1), mark.step_size / longest)
            for mark in self._marks
            if mark.step_size is not None
            for piece in range(max(mark.passes, 1))
        ]
        steps, numbers, counts, heights = np.array(pieces, float).reshape(-1, 4).T
        feet, tops = numbers / counts * heights, (numbers + 1) / counts * heights
        tops = np.maximum(feet, tops - gap * (counts > 1))
        self._bars.setOpts(x0=steps - half, x1=steps + half, y0=feet, y1=tops)

    def dress(self) -> None:
        """Apply the theme's colours."""
        super().dress()
        bad, muted = self.theme.colour("bad"), self.theme.colour("muted")
        self._bars.setOpts(brush=self.theme.colour("faint"))
        self._draw_losses()
        for name, colour in zip(self._names, (bad, muted), strict=True):
            name.setBrush(colour)


def stretches(steps: Iterable[int]) -> list[tuple[int, int]]:
    """Return the first and last step of each gapless stretch; ``steps`` ascend."""
    found: list[tuple[int, int]] = []
    for step in steps:
        if found and found[-1][1] == step - 1:
            found[-1] = found[-1][0], step
        else:
            found.append((step, step))
    return found


def spread(
    wanted: npt.NDArray[np.float64], gap: float, lowest: float, highest: float
) -> npt.NDArray[np.float64]:
    """Move positions apart until neighbours keep a gap, within their bounds.

    Args:
        wanted: (n,) ascending.
        gap: Minimum distance between neighbours.
        lowest: Lower bound of the first.
        highest: Upper bound of the last; the range must have room for all.
    """
    stairs = gap * np.arange(len(wanted))
    raised = np.maximum.accumulate(np.maximum(wanted, lowest) - stairs) + stairs
    placed: npt.NDArray[np.float64] = np.minimum(raised, highest - stairs[::-1])
    return placed
