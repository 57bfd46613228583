"""The marginals of maps along one axis of a picture, as a plot on the picture's own axis."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF, QWheelEvent
from PySide6.QtWidgets import (
    QGraphicsEllipseItem,
    QGraphicsLineItem,
    QGraphicsRectItem,
    QGraphicsSimpleTextItem,
    QStyleOptionGraphicsItem,
    QWidget,
)

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import Axis
from spatialstudio.ui.theme.theme import SMALL, Theme, em, plot_font
from spatialstudio.ui.widgets.picture_layers import Crossing, Profile
from spatialstudio.ui.widgets.picture_region import CLOSEST
from spatialstudio.ui.widgets.plot import NOTCH, ZOOM, Plot, PlotKey, PlotTable
from spatialstudio.ui.widgets.plot_range import PlotRange
from spatialstudio.ui.widgets.plot_row import pen_on
from spatialstudio.ui.widgets.texts import tr

FILL = 0.24
PALE_FILL = 0.14
LINE_WIDTH = 1.8
CURVE_WIDTH = 1.6
DOT_EM = 0.42
HEADROOM = 0.92
LABEL_GROUND = 0.85
LABEL_PAD_EM = 0.2
FEET = 2
"""Points at each end of an area: its height there, and its foot."""
BOUNDS = QRectF(-0.1, -0.1, 1.2, 1.2)
"""Of all curves, with room for their lines' width."""

Curve = npt.NDArray[np.float64 | np.float32]
"""(n,), one value a place along an axis."""


@frozen(eq=False)
class DrawnCurve:
    """A curve of a band, in the units of its row.

    Attributes:
        line: Its points.
        pen: Draws the line; None for the area alone.
        area: The outline of the area under it; None for the line alone.
        fill: Colour of the area.
        opacity: Of both, [0, 1].
    """

    line: QPolygonF
    pen: QPen | None = None
    area: QPolygonF | None = None
    fill: QColor | None = None
    opacity: float = 1.0


class BandCurves(pg.GraphicsObject):  # type: ignore[misc]
    """Paints all curves of a band.

    One ``PlotCurveItem`` per curve takes 1.5 times as long for the few bins of a map: paths, data
    items and their signals cost more than the pixels.
    """

    def __init__(self) -> None:
        super().__init__()
        self._curves: tuple[DrawnCurve, ...] = ()

    def show_curves(self, curves: Sequence[DrawnCurve]) -> None:
        """Paint these curves, the last one on top."""
        self._curves = tuple(curves)
        self.update()

    def boundingRect(self) -> QRectF:
        return BOUNDS

    def paint(
        self,
        painter: QPainter,
        _option: QStyleOptionGraphicsItem,
        _widget: QWidget | None = None,
    ) -> None:
        """Paint areas and lines in the units of the row."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        whole = painter.opacity()
        for curve in self._curves:
            painter.setOpacity(whole * curve.opacity)
            if curve.area is not None and curve.fill is not None:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(curve.fill)
                painter.drawPolygon(curve.area)
            if curve.pen is not None:
                painter.setPen(pen_on(painter, curve.pen))
                painter.drawPolyline(curve.line)
        painter.setOpacity(whole)


class MarginalPlot(Plot):
    """Shows the marginals along the x axis under a picture, or along the y axis next to it.

    All curves share one scale, so that their heights can be compared. Cumulative curves are drawn
    over them, from 0 at the picture to 1 at the far side. The picture owns the view: emits
    ``range_asked`` with the requested ``PlotRange`` when the user zooms or pans, and changes the
    view only through ``show_range``.

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
        self._curves = BandCurves()
        self._row.box.addItem(self._curves, ignoreBounds=True)
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
        """Ask for another view of the picture; it is returned through ``show_range``."""
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
        side = tr("from the top edge") if self._axis is Axis.Y else tr("from the left edge")
        lines = [f"{self.snapped(place):.0%} {side}"]
        number = self._bin_at(place)
        lines += [f"{each.name}: {self._weights(each)[number]:.2%}" for each in self._profiles]
        for crossing in self._crossings:
            first, second = (
                float(np.interp(place, np.linspace(0, 1, len(curve)), curve))
                for curve in (crossing.rising, crossing.falling)
            )
            one, other = (self._name_of(hue) for hue in crossing.hues)
            lines.append(
                tr("{name}: {share:.0%} before this position").format(name=one, share=first)
            )
            lines.append(
                tr("{name}: {share:.0%} after this position").format(name=other, share=second)
            )
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
        peak = max((float(each.max()) for each in weights), default=0.0)
        areas = [
            self._area(profile, _heights(own, peak))
            for profile, own in zip(self._profiles, weights, strict=True)
        ]
        lines = [
            self._line(hue, shares)
            for each in self._crossings
            for hue, shares in zip(each.hues, (each.rising, each.falling), strict=True)
        ]
        self._curves.show_curves([*areas, *lines])
        self._place_crossing()

    def _area(self, profile: Profile, heights: Curve) -> DrawnCurve:
        """Return a marginal: pale, without its line, under cumulative curves."""
        area = self._polygon(_places(len(heights) - 2 * FEET), heights)
        return DrawnCurve(
            line=QPolygonF(area.mid(1, area.size() - 2)),
            pen=None if self._crossings else self._pen(profile.hue, LINE_WIDTH),
            area=area,
            fill=self.theme.mention(profile.hue, PALE_FILL if self._crossings else FILL),
            opacity=profile.opacity,
        )

    def _line(self, hue: int, shares: Curve) -> DrawnCurve:
        places = np.linspace(0, 1, len(shares))
        return DrawnCurve(
            line=self._polygon(places, HEADROOM * shares), pen=self._pen(hue, CURVE_WIDTH)
        )

    def _pen(self, hue: int, width: float) -> QPen:
        pen = QPen(self.theme.mention(hue), width)
        pen.setCosmetic(True)  # its width does not scale with the axes
        return pen

    def _polygon(self, places: Curve, heights: Curve) -> QPolygonF:
        along, across = (heights, places) if self._axis is Axis.Y else (places, heights)
        polygon: QPolygonF = pg.functions.arrayToQPolygonF(along, across)
        return polygon

    def _place_crossing(self) -> None:
        """Mark where the cumulative curves cross, with their share there."""
        items = (self._drop, self._dot, self._label, self._share)
        crossing = next(iter(self._crossings), None)
        if self._dot.isVisible() != (crossing is not None):
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
        self._share.setFont(plot_font(SMALL, bold=True))
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


@lru_cache(maxsize=8)
def _places(bins: int) -> Curve:
    """Return where each bin's middle lies on the axis, between both ends and their feet."""
    middles = (np.arange(bins) + 0.5) / bins
    return np.concatenate([[0.0, 0.0], middles, [1.0, 1.0]])


def _heights(values: npt.NDArray[np.float32], peak: float) -> Curve:
    """Return each bin's height as a share of the band; the ends are held, their feet are 0."""
    scale = HEADROOM / peak if peak else 0.0
    held = np.concatenate([values[:1], values, values[-1:]]).astype(np.float64) * scale
    return np.concatenate([[0.0], held, [0.0]])
