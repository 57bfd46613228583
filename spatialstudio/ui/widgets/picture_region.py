"""The visible region of a picture, as fractions of its sides: zooming and panning."""

from PySide6.QtCore import QPointF, QRectF

WHOLE = QRectF(0, 0, 1, 1)
CLOSEST = 1 / 16
"""Side of the smallest region."""
ZOOM_PER_NOTCH = 1.25
NOTCH = 120
"""Wheel angle of one notch in Qt's units."""


def zoomed(region: QRectF, turned: int, place: QPointF, frame: QRectF) -> QRectF:
    """Return the region after a wheel zoom that keeps the point under the pointer fixed.

    Args:
        region: The current region.
        turned: Wheel angle in Qt's units; positive zooms in.
        place: Position of the pointer.
        frame: Rectangle in which the region is drawn.
    """
    side = min(max(region.width() * ZOOM_PER_NOTCH ** (-turned / NOTCH), CLOSEST), 1.0)
    grown = side - region.width()
    left = region.left() - grown * (place.x() - frame.left()) / frame.width()
    top = region.top() - grown * (place.y() - frame.top()) / frame.height()
    return kept_inside(QRectF(left, top, side, side))


def dragged(region: QRectF, by: QPointF, frame: QRectF) -> QRectF:
    """Return the region after a drag, given in the frame's units."""
    across = by.x() / frame.width() * region.width()
    down = by.y() / frame.height() * region.height()
    return kept_inside(region.translated(-across, -down))


def kept_inside(region: QRectF) -> QRectF:
    """Return a region moved to lie within the picture."""
    left = min(max(region.left(), 0.0), 1 - region.width())
    top = min(max(region.top(), 0.0), 1 - region.height())
    return QRectF(left, top, region.width(), region.height())
