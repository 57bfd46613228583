"""The marginals of maps along one axis of a picture, as a plot on the picture's own axis."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPen, QTransform, QWheelEvent
from PySide6.QtWidgets import (
    QGraphicsEllipseItem,
    QGraphicsLineItem,
    QGraphicsRectItem,
    QGraphicsSimpleTextItem,
)

from spatialstudio.domain.scene import Axis
from spatialstudio.ui.theme.metrics import SMALL, em, font
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.picture_layers import Crossing, Profile
from spatialstudio.ui.widgets.picture_region import CLOSEST
from spatialstudio.ui.widgets.plot import NOTCH, ZOOM, Plot, PlotKey, PlotTable
from spatialstudio.ui.widgets.plot_range import PlotRange
from spatialstudio.ui.widgets.plot_row import PlotCurve
from spatialstudio.ui.widgets.texts import tr

FILL = 0.24
PALE_FILL = 0.14
LINE_WIDTH = 1.8
CURVE_WIDTH = 1.6
DOT_EM = 0.42
HEADROOM = 0.92
LABEL_GROUND = 0.85
LABEL_PAD_EM = 0.2
ACROSS = QTransform(0, 1, 1, 0, 0, 0)
"""Turns a curve over x into one along y."""

BOUNDS = QRectF(-0.1, -0.1, 1.2, 1.2)
"""Of all curves, with room for their lines' width."""

Curve = npt.NDArray[np.float64]
"""(n,), one value a place along an axis."""


class MarginalPlot(Plot):
    """Shows the marginals along the x axis under a picture, or along the y axis beside it.

    All curves share one scale, so that their heights can be compared. Cumulative curves stand over
    them, from nothing at the picture to all at the far side. The view is the picture's: emits
    ``range_asked`` with the ``PlotRange`` to show when the user zooms or pans, and shows it only
    when it is told.

    Args:
        theme: Its colours.
        axis: X or Y.
    """

    range_asked = Signal(object)

    def __init__(self, theme: Theme, axis: Axis) -> None:
        is_upright = axis is Axis.Y
        name = (
            tr("Marginals from top to bottom") if is_upright else tr("Marginals from left to right")
        )
        super().__init__(theme, name, is_upright=is_upright)
        self._axis = axis
        self._profiles: tuple[Profile, ...] = ()
        self._crossings: tuple[Crossing, ...] = ()
        self._row = self.add_row() if is_upright else self.add_row(1.0, 0.0)
        self._areas: list[pg.PlotCurveItem] = []
        self._curves: list[pg.PlotCurveItem] = []
        self._drop, self._dot = QGraphicsLineItem(), QGraphicsEllipseItem()
        self._label, self._share = QGraphicsRectItem(), QGraphicsSimpleTextItem()
        for z, item in enumerate((self._drop, self._dot, self._label, self._share), start=1):
            item.setZValue(z)
            self.surface.scene().addItem(item)
        self._label.setPen(QPen(Qt.PenStyle.NoPen))
        self.range = PlotRange(least=CLOSEST)
        self.refresh()

    def show_profiles(
        self, profiles: Sequence[Profile], crossings: Sequence[Crossing] = ()
    ) -> None:
        """Draw the marginals of this axis, and the cumulative curves that are of it."""
        self._profiles = tuple(profiles)
        self._crossings = tuple(each for each in crossings if each.axis is self._axis)
        self._draw_curves()
        self.describe("")
        self.paint_soon()

    def zoom(self, factor: float, around: float | None = None) -> None:
        """Ask for another view of the picture; it comes back by ``show_range``."""
        place = self.place if around is None else around
        middle = self.range.first + self.range.length / 2
        self.range_asked.emit(self.range.zoomed(factor, middle if place is None else place))

    def pan(self, by: float) -> None:
        """Ask for another view of the picture."""
        self.range_asked.emit(self.range.panned(by))

    def show_all(self) -> None:
        """Ask for the whole picture."""
        self.range_asked.emit(PlotRange(least=CLOSEST))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom around the pointer, as the wheel does over the picture."""
        if turned := event.angleDelta().y():
            self.zoom(ZOOM ** (-turned / NOTCH), self.place_at(event.position()))
        else:
            super().wheelEvent(event)

    def show_range(self, view: PlotRange) -> None:
        """Show the part of the axis that the picture shows."""
        super().show_range(view)
        self._place_crossing()

    def lay_out(self, room: QRectF) -> None:
        """Fill the band."""
        self._row.place(room)

    def dress(self) -> None:
        """Take the theme's colours."""
        self._draw_curves()

    def ground(self) -> QColor:
        """Return the colour under the marginals."""
        return self.theme.colour("sunken")

    def snapped(self, place: float) -> float:
        """Return the middle of the nearest bin."""
        return (self._bin_at(place) + 0.5) / self._bins

    def stride(self) -> float:
        """Return the width of a bin."""
        return 1 / self._bins

    def text_at(self, place: float) -> str:
        """Return each word's share of its attention in a bin, and its cumulative shares there."""
        if not self._profiles:
            return ""
        side = tr("from the top") if self._axis is Axis.Y else tr("from the left")
        lines = [f"{self.snapped(place):.0%} {side}"]
        number = self._bin_at(place)
        lines += [f"{each.name}: {self._weights(each)[number]:.2%}" for each in self._profiles]
        for crossing in self._crossings:
            first, second = (
                float(np.interp(place, np.linspace(0, 1, len(curve)), curve))
                for curve in (crossing.rising, crossing.falling)
            )
            one, other = (self._name_of(hue) for hue in crossing.hues)
            lines.append(tr("{name} up to here: {share:.0%}").format(name=one, share=first))
            lines.append(tr("{name} from here on: {share:.0%}").format(name=other, share=second))
        return "\n".join(lines)

    def keys(self) -> Sequence[PlotKey]:
        """Return the words."""
        return [
            PlotKey(name=each.name, colour=self.theme.mention(each.hue)) for each in self._profiles
        ]

    def table(self) -> PlotTable:
        """Return a row a bin: its middle as a share of the side, and each word's share there."""
        names = tuple(each.name for each in self._profiles)
        places = [(number + 0.5) / self._bins for number in range(self._bins)]
        weights = [self._weights(each).tolist() for each in self._profiles]
        return PlotTable(("place", *names), tuple(zip(places, *weights, strict=True)))

    @property
    def _bins(self) -> int:
        return len(self._weights(self._profiles[0])) if self._profiles else 1

    def _bin_at(self, place: float) -> int:
        return min(max(int(place * self._bins), 0), self._bins - 1)

    def _weights(self, profile: Profile) -> npt.NDArray[np.float32]:
        return profile.along_y if self._axis is Axis.Y else profile.along_x

    def _name_of(self, hue: int) -> str:
        return next((each.name for each in self._profiles if each.hue == hue), "")

    def _draw_curves(self) -> None:
        weights = [self._weights(each) for each in self._profiles]
        peak, is_pale = max((float(each.max()) for each in weights), default=0.0), self._crossings
        for item, profile, own in zip(
            _pool(self._areas, len(weights), self._new_curve), self._profiles, weights, strict=True
        ):
            fill = self.theme.mention(profile.hue, PALE_FILL if is_pale else FILL)
            line = pg.mkPen(self.theme.mention(profile.hue), width=LINE_WIDTH)
            item.setOpacity(profile.opacity)
            pen = None if is_pale else line
            places, heights = _places(own), _heights(own, peak)
            item.setData(places, heights, pen=pen, brush=fill, fillLevel="enclosed")
        lines = [
            (hue, shares)
            for each in self._crossings
            for hue, shares in zip(each.hues, (each.rising, each.falling), strict=True)
        ]
        for item, (hue, shares) in zip(
            _pool(self._curves, len(lines), self._new_curve), lines, strict=True
        ):
            pen = pg.mkPen(self.theme.mention(hue), width=CURVE_WIDTH)
            item.setData(np.linspace(0, 1, len(shares)), HEADROOM * shares, pen=pen)
        self._place_crossing()

    def _new_curve(self) -> pg.PlotCurveItem:
        curve = PlotCurve(BOUNDS)
        if self._axis is Axis.Y:
            curve.setTransform(ACROSS)
        self._row.box.addItem(curve, ignoreBounds=True)
        return curve

    def _place_crossing(self) -> None:
        """Mark where the cumulative curves cross, with their share there."""
        items = (self._drop, self._dot, self._label, self._share)
        crossing = next(iter(self._crossings), None)
        for item in items:
            item.setVisible(crossing is not None)
        if crossing is None:
            return
        foot = self._row.position_of(crossing.place, 0)
        dot = self._row.position_of(crossing.place, HEADROOM * crossing.share)
        self._drop.setLine(foot.x(), foot.y(), dot.x(), dot.y())
        self._drop.setPen(QPen(self.theme.colour("muted"), 1, Qt.PenStyle.DashLine))
        side = em(DOT_EM)
        self._dot.setRect(dot.x() - side / 2, dot.y() - side / 2, side, side)
        self._dot.setPen(QPen(self.theme.colour("raised"), 1.5))
        self._dot.setBrush(self.theme.colour("text"))
        self._write_share(f"{crossing.share:.0%}", dot)

    def _write_share(self, said: str, dot: QPointF) -> None:
        """Write the share on the picture's side of the crossing, upright where there is no room."""
        self._share.setFont(font(SMALL, bold=True))
        self._share.setBrush(self.theme.colour("text"))
        self._share.setText(said)
        area, size = self._row.area, self._share.boundingRect().size()
        pad = em(LABEL_PAD_EM)
        is_turned = size.width() + 2 * pad > area.width()
        self._share.setRotation(90 if is_turned else 0)
        room = QRectF(0, 0, size.width() + 2 * pad, size.height())
        if is_turned:
            room.setSize(room.size().transposed())
        if self._axis is Axis.X:
            room.moveCenter(dot - QPointF(0, room.height() / 2 + em(DOT_EM)))
        else:
            room.moveCenter(dot - QPointF(room.width() / 2 + em(DOT_EM), 0))
        room.moveLeft(min(max(room.left(), area.left()), area.right() - room.width()))
        room.moveTop(min(max(room.top(), area.top()), area.bottom() - room.height()))
        self._label.setRect(room)
        self._label.setBrush(self.theme.colour("sunken", LABEL_GROUND))
        corner = (
            room.topRight() + QPointF(0, pad) if is_turned else room.topLeft() + QPointF(pad, 0)
        )
        self._share.setPos(corner)


def _pool(
    items: list[pg.PlotCurveItem], count: int, make: Callable[[], pg.PlotCurveItem]
) -> list[pg.PlotCurveItem]:
    """Return so many items to draw with; those that are not needed are hidden."""
    items += [make() for _ in range(count - len(items))]
    for number, item in enumerate(items):
        item.setVisible(number < count)
    return items[:count]


def _places(values: npt.NDArray[np.float32]) -> Curve:
    """Return where each bin's middle lies on the axis, between both ends and their feet."""
    middles = (np.arange(len(values)) + 0.5) / len(values)
    return np.concatenate([[0.0, 0.0], middles, [1.0, 1.0]])


def _heights(values: npt.NDArray[np.float32], peak: float) -> Curve:
    """Return each bin's height as a share of the band; the ends are held, their feet are 0."""
    scale = HEADROOM / peak if peak else 0.0
    held = np.concatenate([values[:1], values, values[-1:]]).astype(np.float64) * scale
    return np.concatenate([[0.0], held, [0.0]])
