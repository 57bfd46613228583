"""The part of a picture that is in sight, as shares of its sides: zoomed, moved, kept inside."""

from PySide6.QtCore import QPointF, QRectF

WHOLE = QRectF(0, 0, 1, 1)
CLOSEST = 1 / 16
"""Side of the smallest part that is shown."""
ZOOM_PER_NOTCH = 1.25
NOTCH = 120
"""What Qt tells of one notch of a wheel."""


def zoomed(region: QRectF, turned: int, place: QPointF, frame: QRectF) -> QRectF:
    """Return the part in sight after the wheel was turned; what lies at a place stays there.

    Args:
        region: In sight before.
        turned: The wheel's angle as Qt tells it; away from the user shows less, larger.
        place: Of the pointer.
        frame: Where the part is drawn.
    """
    side = min(max(region.width() * ZOOM_PER_NOTCH ** (-turned / NOTCH), CLOSEST), 1.0)
    grown = side - region.width()
    left = region.left() - grown * (place.x() - frame.left()) / frame.width()
    top = region.top() - grown * (place.y() - frame.top()) / frame.height()
    return kept_inside(QRectF(left, top, side, side))


def dragged(region: QRectF, by: QPointF, frame: QRectF) -> QRectF:
    """Return the part in sight after the picture was dragged, in the measure of its frame."""
    across = by.x() / frame.width() * region.width()
    down = by.y() / frame.height() * region.height()
    return kept_inside(region.translated(-across, -down))


def kept_inside(region: QRectF) -> QRectF:
    """Return a part of the picture moved so that none of it is outside."""
    left = min(max(region.left(), 0.0), 1 - region.width())
    top = min(max(region.top(), 0.0), 1 - region.height())
    return QRectF(left, top, region.width(), region.height())
