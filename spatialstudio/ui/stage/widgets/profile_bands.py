"""Marginals drawn under and beside a picture, on the picture's own axes."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPainterPath, QPen, QPolygonF

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.relation import Axis
from spatialstudio.ui.theme.metrics import (
    SMALL,
    em,
    font,
)
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.picture_layers import Crossing, Profile

BAND_EM = 2.8
DEEP_BAND_EM = 4.6
"""Of a band that also holds cumulative curves."""
DEEPEST_SHARE = 0.2
"""Of the room that picture and bands share, with the gap: the picture stays the largest."""
GAP_EM = 0.4
FILL = 0.24
PALE_FILL = 0.14
LINE_WIDTH = 1.8
CURVE_WIDTH = 1.6
DASHES = [4.0, 2.5]
DOT_EM = 0.42
HEADROOM = 0.92
LABEL_GROUND = 0.85

Curve: TypeAlias = npt.NDArray[np.floating[Any]]
"""(n,), one value a place along an axis."""


@frozen(kw_only=False)
class _Band:
    """One band: where it is, which axis it shares, and which part of that is in view."""

    area: QRectF
    axis: Axis
    start: float
    length: float

    def point(self, place: float, height: float) -> QPointF:
        """Return a point by its place on the axis and its height in the band, shares of both."""
        return self.points(np.array([place]), np.array([height]))[0]

    def points(self, places: Curve, heights: Curve) -> list[QPointF]:
        """Return points by their places on the axis and their heights in the band."""
        along = (places - self.start) / self.length
        across, down = (along, heights) if self.axis is Axis.X else (heights, along)
        xs = (self.area.left() + across * self.area.width()).tolist()
        ys = (self.area.top() + down * self.area.height()).tolist()
        return [QPointF(x, y) for x, y in zip(xs, ys, strict=True)]


class ProfileBands:
    """Draws the x marginals under a picture and the y marginals at its right.

    All curves of a band share one scale, so that their heights can be compared. Cumulative curves
    stand over them, from nothing at the picture to all at the far side.
    """

    def __init__(self, theme: Theme) -> None:
        self._theme = theme

    def margins(self, room: QSizeF, crossings: Sequence[Crossing]) -> QSizeF:
        """Return what the bands take of a picture's room, each with the gap before it.

        Args:
            room: Of the picture with its bands, pixels.
            crossings: Cumulative curves; they ask for a deeper band.

        Returns:
            Width of the band beside the picture and height of that under it, pixels.
        """
        deep = {crossing.axis for crossing in crossings}
        beside, under = (
            em(GAP_EM) + em(DEEP_BAND_EM if axis in deep else BAND_EM) for axis in (Axis.Y, Axis.X)
        )
        return QSizeF(beside, under).boundedTo(room * DEEPEST_SHARE)

    def draw(
        self,
        painter: QPainter,
        frame: QRectF,
        margins: QSizeF,
        view: QRectF,
        profiles: tuple[Profile, ...],
        crossings: tuple[Crossing, ...] = (),
    ) -> None:
        """Draw both bands.

        Args:
            painter: On the widget that shows the picture.
            frame: Where the picture is, widget coordinates.
            margins: Of the bands at its right and under it, with their gaps.
            view: The part of the picture in the frame, shares of its sides.
            profiles: What to draw.
            crossings: Cumulative curves over them.
        """
        for band in _bands(frame, margins, view):
            painter.save()
            painter.setClipRect(band.area)
            painter.fillRect(band.area, self._theme.colour("sunken"))
            own = tuple(crossing for crossing in crossings if crossing.axis is band.axis)
            curves = [(p, p.along_x if band.axis is Axis.X else p.along_y) for p in profiles]
            self._draw_profiles(painter, band, curves, is_pale=bool(own))
            for crossing in own:
                self._draw_crossing(painter, band, crossing)
            painter.restore()
            for crossing in own:  # a narrow band has no room for a share: it reaches out
                self._write_share(painter, band, crossing)

    def draw_lines(self, painter: QPainter, whole: QRectF, crossings: tuple[Crossing, ...]) -> None:
        """Draw the dividing lines through the picture, which lies in ``whole``."""
        for crossing in crossings:
            x = whole.left() + crossing.place * whole.width()
            y = whole.top() + crossing.place * whole.height()
            if crossing.axis is Axis.X:
                ends = QPointF(x, whole.top()), QPointF(x, whole.bottom())
            else:
                ends = QPointF(whole.left(), y), QPointF(whole.right(), y)
            for role, width in (("raised", LINE_WIDTH * 2), ("text", LINE_WIDTH / 2)):
                painter.setPen(QPen(self._theme.colour(role, 0.8), width))
                painter.drawLine(*ends)

    def _draw_profiles(
        self,
        painter: QPainter,
        band: _Band,
        curves: Sequence[tuple[Profile, Curve]],
        *,
        is_pale: bool,
    ) -> None:
        peak = max((float(values.max()) for _, values in curves), default=0.0)
        for profile, values in curves:
            painter.setOpacity(profile.opacity)
            points = band.points(_places(values), _heights(values, peak))
            feet = band.point(1, 0), band.point(0, 0)
            area = QPainterPath()
            area.addPolygon(QPolygonF([*points, *feet]))
            painter.fillPath(area, self._theme.mention(profile.hue, PALE_FILL if is_pale else FILL))
            if not is_pale:
                painter.setPen(QPen(self._theme.mention(profile.hue), LINE_WIDTH))
                painter.drawPolyline(QPolygonF(points))
        painter.setOpacity(1.0)

    def _draw_crossing(self, painter: QPainter, band: _Band, crossing: Crossing) -> None:
        curves = zip(crossing.hues, (crossing.rising, crossing.falling), strict=True)
        for hue, heights in curves:
            points = band.points(np.linspace(0, 1, len(heights)), HEADROOM * heights)
            painter.setPen(QPen(self._theme.mention(hue), CURVE_WIDTH))
            painter.drawPolyline(QPolygonF(points))
        dot = _crossing_point(band, crossing)
        pen = QPen(self._theme.colour("muted"), 1)
        pen.setDashPattern(DASHES)
        painter.setPen(pen)
        painter.drawLine(band.point(crossing.place, 0), dot)
        painter.setPen(QPen(self._theme.colour("raised"), 1.5))
        painter.setBrush(self._theme.colour("text"))
        painter.drawEllipse(dot, em(DOT_EM) / 2, em(DOT_EM) / 2)

    def _write_share(self, painter: QPainter, band: _Band, crossing: Crossing) -> None:
        """Write the share between the curves, on the picture's side of their crossing."""
        painter.setFont(font(SMALL, bold=True))
        text, dot = f"{crossing.share:.0%}", _crossing_point(band, crossing)
        measure = QFontMetricsF(painter.font())
        room = QRectF(0, 0, measure.horizontalAdvance(text) + em(0.4), measure.height())
        if band.axis is Axis.X:
            room.moveCenter(dot - QPointF(0, room.height() / 2 + em(DOT_EM)))
        else:
            room.moveCenter(dot - QPointF(room.width() / 2 + em(DOT_EM), 0))
        room.moveLeft(min(max(room.left(), band.area.left()), band.area.right() - room.width()))
        room.moveTop(min(max(room.top(), band.area.top()), band.area.bottom() - room.height()))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colour("sunken", LABEL_GROUND))
        painter.drawRoundedRect(room, em(DOT_EM) / 2, em(DOT_EM) / 2)
        painter.setPen(self._theme.colour("text"))
        painter.drawText(room, Qt.AlignmentFlag.AlignCenter, text)


def _crossing_point(band: _Band, crossing: Crossing) -> QPointF:
    return band.point(crossing.place, HEADROOM * crossing.share)


def _bands(frame: QRectF, margins: QSizeF, view: QRectF) -> tuple[_Band, _Band]:
    gap = em(GAP_EM)
    deep, wide = margins.height() - gap, margins.width() - gap
    under = QRectF(frame.left(), frame.bottom() + gap, frame.width(), deep)
    beside = QRectF(frame.right() + gap, frame.top(), wide, frame.height())
    return (
        _Band(under, Axis.X, view.left(), view.width()),
        _Band(beside, Axis.Y, view.top(), view.height()),
    )


def _places(values: Curve) -> Curve:
    """Return where each bin's middle lies on the axis, and both its ends."""
    middles = (np.arange(len(values)) + 0.5) / len(values)
    return np.concatenate([[0.0], middles, [1.0]])


def _heights(values: Curve, peak: float) -> Curve:
    """Return each bin's height as a share of the band, the ends held."""
    padded = np.concatenate([values[:1], values, values[-1:]])
    return padded / peak * HEADROOM if peak else np.zeros_like(padded)
