"""Marginals drawn under and beside a picture, on the picture's own axes."""

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF

from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.picture_layers import Profile

BAND_EM = 2.8
GAP_EM = 0.4
FILL = 0.24
LINE_WIDTH = 1.8


class ProfileBands:
    """Draws the x marginals under a picture and the y marginals at its right.

    All curves of a band share one scale, so that their heights can be compared.
    """

    def __init__(self, theme: Theme) -> None:
        self._theme = theme

    def draw(
        self, painter: QPainter, frame: QRectF, view: QRectF, profiles: tuple[Profile, ...]
    ) -> None:
        """Draw both bands.

        Args:
            painter: On the widget that shows the picture.
            frame: Where the picture is, widget coordinates.
            view: The part of the picture in the frame, shares of its sides.
            profiles: What to draw.
        """
        gap, depth = em(GAP_EM), em(BAND_EM)
        under = QRectF(frame.left(), frame.bottom() + gap, frame.width(), depth)
        beside = QRectF(frame.right() + gap, frame.top(), depth, frame.height())
        for band in (under, beside):
            painter.fillRect(band, self._theme.colour("sunken"))
        peak_x = max(float(profile.along_x.max()) for profile in profiles)
        peak_y = max(float(profile.along_y.max()) for profile in profiles)
        for profile in profiles:
            colour = self._theme.mention(profile.hue)
            along = _places(profile.along_x, view.left(), view.width())
            heights = _heights(profile.along_x, peak_x)
            points = [
                QPointF(under.left() + x * under.width(), under.top() + y * under.height())
                for x, y in zip(along, heights, strict=True)
            ]
            _draw_curve(painter, under, points, under.topLeft(), colour)
            along = _places(profile.along_y, view.top(), view.height())
            heights = _heights(profile.along_y, peak_y)
            points = [
                QPointF(beside.left() + y * beside.width(), beside.top() + x * beside.height())
                for x, y in zip(along, heights, strict=True)
            ]
            _draw_curve(painter, beside, points, beside.topLeft(), colour)


def _places(values: npt.NDArray[np.float32], start: float, length: float) -> list[float]:
    """Return where each bin's middle lies, as a share of what is in view."""
    middles = (np.arange(len(values)) + 0.5) / len(values)
    padded = np.concatenate([[0.0], middles, [1.0]])
    return [float(place) for place in (padded - start) / length]


def _heights(values: npt.NDArray[np.float32], peak: float) -> list[float]:
    """Return each bin's height as a share of the band, the ends held."""
    padded = np.concatenate([values[:1], values, values[-1:]])
    return [float(height) for height in padded / peak * 0.92] if peak else [0.0] * len(padded)


def _draw_curve(
    painter: QPainter, band: QRectF, points: list[QPointF], corner: QPointF, colour: QColor
) -> None:
    is_under = band.width() > band.height()
    first, last = QPointF(points[0]), QPointF(points[-1])
    for foot in (first, last):
        if is_under:
            foot.setY(corner.y())
        else:
            foot.setX(corner.x())
    painter.save()
    painter.setClipRect(band)
    area = QPainterPath()
    area.addPolygon(QPolygonF([first, *points, last]))
    fill = QColor(colour)
    fill.setAlphaF(FILL)
    painter.fillPath(area, fill)
    painter.setPen(QPen(colour, LINE_WIDTH))
    painter.drawPolyline(QPolygonF(points))
    painter.restore()
