"""A field of a plot, and the curves in it."""

import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import QMarginsF, QPointF, QRectF
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from spatialstudio.ui.widgets.plot_range import PlotRange

CACHED = QGraphicsItem.CacheMode.DeviceCoordinateCache
NO_MARGINS = QMarginsF()


def pen_on(painter: QPainter, pen: QPen) -> QPen:
    """Return a cosmetic pen for a painter: Qt counts its width in physical pixels."""
    if (ratio := painter.device().devicePixelRatioF()) == 1:
        return pen
    scaled = QPen(pen)
    scaled.setWidthF(pen.widthF() * ratio)
    return scaled


class PlotLine(pg.PlotCurveItem):  # type: ignore[misc]
    """A line whose pen has a width in logical pixels."""

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Paint with the pen scaled for the screen."""
        if (pen := self.opts["pen"]) is None:
            super().paint(painter, option, widget)
            return
        self.opts["pen"] = pen_on(painter, pen)
        super().paint(painter, option, widget)
        self.opts["pen"] = pen


class PlotCurve(PlotLine):
    """A smooth curve whose bounds are stated: searching the data for them takes as long as drawing.

    Args:
        bounds: That no data leaves, in the units of the data.
    """

    def __init__(self, bounds: QRectF) -> None:
        self.bounds = bounds
        super().__init__(antialias=True, skipFiniteCheck=True, pen=None)

    def boundingRect(self) -> QRectF:
        return self.bounds


class PlotRow:
    """A field of a plot: its y range is fixed, its x range is the plot's.

    Args:
        low: Value at its foot.
        high: Value at its top; may be below ``low``.
        is_upright: Whether the plot's axis runs down and values run to the right.
    """

    def __init__(self, low: float, high: float, *, is_upright: bool = False) -> None:
        self.box = pg.ViewBox(
            enableMouse=False,
            enableMenu=False,
            defaultPadding=0,
            invertY=is_upright or high < low,
        )
        self.box.disableAutoRange()
        self.low, self.high = low, high
        self.area = QRectF(0, 0, 1, 1)
        self._margins = NO_MARGINS
        self._is_upright = is_upright
        self._view = PlotRange()

    def add(self, item: pg.GraphicsObject, z: int = 0) -> None:
        """Show an item; it is painted again only when its data or the scale change."""
        item.setZValue(z)
        item.setCacheMode(CACHED)
        self.box.addItem(item, ignoreBounds=True)

    def position_of(self, place: float, value: float) -> QPointF:
        """Return where a value at a place of the axis lies on the plot's surface, pixels."""
        along = (place - self._view.first) / self._view.length
        across, area = (value - self.low) / (self.high - self.low), self.area
        if self._is_upright:
            return QPointF(area.left() + across * area.width(), area.top() + along * area.height())
        return QPointF(area.left() + along * area.width(), area.bottom() - across * area.height())

    def place(self, area: QRectF, margins: QMarginsF = NO_MARGINS) -> None:
        """Lay the field into an area, pixels; marks may reach into the margins around it."""
        self.area, self._margins = area, margins
        self.box.setGeometry(area.marginsAdded(margins))

    def show_range(self, view: PlotRange) -> None:
        """Show a stretch of the axis over the width of the area."""
        self._view = view
        area, margins = self.area, self._margins
        width, height = max(area.width(), 1.0), max(area.height(), 1.0)
        along, across = view.length, self.high - self.low
        if self._is_upright:
            along, across = along / height, across / width
            y = view.first - margins.top() * along, view.last + margins.bottom() * along
            x = self.low - margins.left() * across, self.high + margins.right() * across
        else:
            along, across = along / width, across / height
            x = view.first - margins.left() * along, view.last + margins.right() * along
            y = self.low - margins.bottom() * across, self.high + margins.top() * across
        self.box.setRange(xRange=sorted(x), yRange=sorted(y), padding=0)
