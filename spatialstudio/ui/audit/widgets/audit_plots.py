"""Plots of an audit: risk over coverage, and accuracy over confidence."""

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import QMarginsF, QPointF, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPen
from PySide6.QtWidgets import QGraphicsSimpleTextItem, QSizePolicy

from spatialstudio.domain.audit_figures import ReliabilityBin
from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.theme.theme import SMALL, Theme, em, plot_font
from spatialstudio.ui.widgets.plot import Plot, PlotKey, PlotTable, place_text
from spatialstudio.ui.widgets.plot_row import CACHED, PlotLine
from spatialstudio.ui.widgets.texts import tr

LINE_WIDTH, FILL = 1.8, 0.3
LEFT_EM, BOTTOM_EM, TOP_EM, RIGHT_EM = 2.6, 2.5, 1.5, 0.8
GAP_EM = 0.2
LEAST_TOP = 0.1
"""Least range of the risk axis."""
HEADROOM = 1.1
DOT = 7
MOST_NAMED = 5
"""Pictures that a tip names."""
LEAST_SIZE = QSizeF(1, 1)


@frozen(eq=False)
class CurvePoint:
    """An operating point of the curve.

    Attributes:
        threshold: Least confidence, [0, 1].
        coverage: [0, 1].
        risk: [0, 1].
        samples: Names of the pictures that leave the decided ones above this threshold.
    """

    threshold: float
    coverage: float
    risk: float
    samples: tuple[str, ...]


class SharePlot(Plot):
    """A plot of shares with two labelled axes.

    Args:
        theme: Its colours.
        name: Of the plot.
        across: Label of the horizontal axis.
        down: Label of the vertical axis.
    """

    def __init__(self, theme: Theme, name: str, across: str, down: str) -> None:
        super().__init__(theme, name)
        self._row = self.add_row()
        self._axes = {side: pg.AxisItem(side) for side in ("bottom", "left")}
        for axis in self._axes.values():
            axis.setCacheMode(CACHED)
            axis.linkToView(self._row.box)
            axis.setStyle(
                tickFont=plot_font(SMALL), tickTextOffset=em(GAP_EM), tickLength=em(GAP_EM)
            )
            self.surface.scene().addItem(axis)
        self._labels = [QGraphicsSimpleTextItem(text) for text in (across, down)]
        for label in self._labels:
            label.setFont(plot_font(SMALL))
            self.surface.scene().addItem(label)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def sizeHint(self) -> QSize:
        return QSize(em(22), em(14))

    def minimumSizeHint(self) -> QSize:
        return QSize(em(12), em(12))

    def lay_out(self, room: QRectF) -> None:
        """Reserve room for the axes and their labels."""
        area = room.marginsRemoved(QMarginsF(em(LEFT_EM), em(TOP_EM), em(RIGHT_EM), em(BOTTOM_EM)))
        self._row.place(QRectF(area.topLeft(), area.size().expandedTo(LEAST_SIZE)))
        box = self._row.box.geometry()
        bottom, left = self._axes["bottom"], self._axes["left"]
        bottom.setHeight(em(BOTTOM_EM) / 2)
        bottom.setGeometry(QRectF(box.left(), box.bottom(), box.width(), em(BOTTOM_EM) / 2))
        left.setWidth(em(LEFT_EM))
        left.setGeometry(QRectF(room.left(), box.top(), em(LEFT_EM), box.height()))
        across, down = self._labels
        place_text(across, QPointF(box.right(), room.bottom() - em(GAP_EM)), (1, 1))
        place_text(down, QPointF(box.left(), room.top() + em(GAP_EM)), (0, 0))

    def dress(self) -> None:
        """Apply the theme's colours."""
        for axis in self._axes.values():
            axis.setPen(self.theme.colour("line"))
            axis.setTextPen(self.theme.colour("muted"))
        for label in self._labels:
            label.setBrush(self.theme.colour("muted"))

    def ground(self) -> QColor:
        """Return the background colour."""
        return self.theme.colour("sunken")

    def show_top(self, top: float) -> None:
        """Set the largest value of the vertical axis."""
        self._row.high = top
        self.refresh()


class RiskPlot(SharePlot):
    """Shows risk over coverage; the operating point is dragged along the curve.

    Emits ``threshold_picked`` while the user drags it.

    Args:
        theme: Its colours.
    """

    threshold_picked = Signal(float)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Risk and coverage"), tr("Coverage"), tr("Risk"))
        self._points: tuple[CurvePoint, ...] = ()
        self._chosen: CurvePoint | None = None
        self._is_held = False
        self._curve = PlotLine(antialias=True)
        self._row.add(self._curve)
        self._dot = pg.ScatterPlotItem(size=DOT + 5, symbol="o", useCache=False)
        self._dots = pg.ScatterPlotItem(size=DOT, symbol="o", useCache=False)
        self._row.add(self._dots, z=1)
        self._row.add(self._dot, z=2)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.refresh()

    def show_curve(self, points: Sequence[CurvePoint]) -> None:
        """Show the points that cover a picture, in ascending coverage."""
        self._points = tuple(sorted(points, key=lambda each: each.coverage))
        places, values = [0.0], [self._points[0].risk if self._points else 0.0]
        for before, point in zip((None, *self._points), self._points, strict=False):
            places += [before.coverage if before else 0.0, point.coverage]
            values += [point.risk] * 2
        self._curve.setData(np.array(places), np.array(values))
        self._dots.setData([p.coverage for p in self._points], [p.risk for p in self._points])
        self.show_top(max(LEAST_TOP, *(HEADROOM * p.risk for p in self._points), 0.0))

    def show_threshold(self, threshold: float) -> None:
        """Mark the operating point of a threshold."""
        above = [point for point in self._points if point.threshold >= threshold]
        self._chosen = min(above, key=lambda each: each.threshold, default=None)
        at = [] if self._chosen is None else [self._chosen]
        self._dot.setData([p.coverage for p in at], [p.risk for p in at])
        if self._chosen is not None:
            words = tr("Operating point: coverage {coverage}, risk {risk}.")
            shares = {"coverage": f"{at[0].coverage:.3f}", "risk": f"{at[0].risk:.3f}"}
            self.describe(words.format(**shares))
        self.paint_soon()

    def dress(self) -> None:
        """Apply the theme's colours."""
        super().dress()
        accent = self.theme.colour("accent")
        self._curve.setPen(pg.mkPen(accent, width=LINE_WIDTH))
        self._dots.setBrush(accent)
        self._dots.setPen(QPen(Qt.PenStyle.NoPen))
        self._dot.setBrush(self.theme.colour("sunken"))
        self._dot.setPen(pg.mkPen(self.theme.colour("text"), width=2))

    def snapped(self, place: float) -> float:
        """Return the coverage of the nearest point."""
        point = self._nearest(place)
        return place if point is None else point.coverage

    def text_at(self, place: float) -> str:
        """Return threshold, coverage and risk at a point, and the pictures that leave there."""
        point = self._nearest(place)
        if point is None:
            return ""
        lines = [
            tr("confidence from {threshold}").format(threshold=f"{point.threshold:.3f}"),
            tr("coverage {share}").format(share=f"{point.coverage:.3f}"),
            tr("risk {share}").format(share=f"{point.risk:.3f}"),
            *point.samples[:MOST_NAMED],
        ]
        if (more := len(point.samples) - MOST_NAMED) > 0:
            lines.append(tr("and {count} more").format(count=more))
        return "\n".join(lines)

    def keys(self) -> Sequence[PlotKey]:
        """Return the legend of a saved plot."""
        return (
            PlotKey(name=tr("Risk of the covered verdicts"), colour=self.theme.colour("accent")),
        )

    def table(self) -> PlotTable:
        """Return all points, for a spreadsheet."""
        rows = tuple((p.threshold, p.coverage, p.risk) for p in self._points)
        return PlotTable(("threshold", "coverage", "risk"), rows)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take hold of the operating point."""
        if event.button() is Qt.MouseButton.LeftButton and self._points:
            self._is_held = True
            self._pick(event)
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the operating point, or read what is under the pointer."""
        if self._is_held:
            self._pick(event)
        super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let the operating point go."""
        self._is_held = False
        super().mouseReleaseEvent(event)

    def _pick(self, event: QMouseEvent) -> None:
        point = self._nearest(self.place_at(event.position()))
        if point is not None:
            self.threshold_picked.emit(point.threshold)

    def _nearest(self, place: float) -> CurvePoint | None:
        return min(self._points, key=lambda each: abs(each.coverage - place), default=None)


class ReliabilityPlot(SharePlot):
    """Shows the share of confirmed verdicts in each bin of confidence, and the diagonal.

    Args:
        theme: Its colours.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(
            theme, tr("Reliability of the confidence"), tr("Confidence"), tr("Confirmed by people")
        )
        self._bins: tuple[ReliabilityBin, ...] = ()
        self._bars = pg.BarGraphItem(x0=[], x1=[], y0=0, height=[])
        self._diagonal = PlotLine(antialias=True)
        self._diagonal.setData(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
        self._row.add(self._bars)
        self._row.add(self._diagonal, z=1)
        self.refresh()

    def show_bins(self, bins: Sequence[ReliabilityBin]) -> None:
        """Show the bins that hold a verdict."""
        self._bins = tuple(bins)
        self._bars.setOpts(
            x0=[each.low for each in bins],
            x1=[each.high for each in bins],
            height=[each.accuracy for each in bins],
        )
        lines = [self._text_of(each) for each in bins]
        self.describe("\n".join(lines))
        self.refresh()

    def dress(self) -> None:
        """Apply the theme's colours."""
        super().dress()
        accent = self.theme.colour("accent")
        fill = QColor(accent)
        fill.setAlphaF(FILL)
        self._bars.setOpts(brush=fill, pen=pg.mkPen(accent))
        dashed = Qt.PenStyle.DashLine
        self._diagonal.setPen(pg.mkPen(self.theme.colour("muted"), width=1, style=dashed))

    def snapped(self, place: float) -> float:
        """Return the middle of the bin at a place."""
        found = [each for each in self._bins if each.low <= place <= each.high]
        return (found[0].low + found[0].high) / 2 if found else place

    def text_at(self, place: float) -> str:
        """Return the numbers of the bin at a place."""
        found = [each for each in self._bins if each.low <= place <= each.high]
        return self._text_of(found[0]) if found else ""

    def table(self) -> PlotTable:
        """Return all bins, for a spreadsheet."""
        rows = tuple((b.low, b.high, b.count, b.confidence, b.accuracy) for b in self._bins)
        return PlotTable(("from", "to", "verdicts", "confidence", "accuracy"), rows)

    def _text_of(self, each: ReliabilityBin) -> str:
        words = tr("confidence {low} to {high}: {share} of {count} confirmed")
        return words.format(
            low=f"{each.low:.1f}",
            high=f"{each.high:.1f}",
            share=f"{each.accuracy:.0%}",
            count=each.count,
        )
