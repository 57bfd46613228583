"""Overlays that draw over the picture and may handle the mouse."""

from PySide6.QtCore import QObject, QPointF, QRectF, Signal
from PySide6.QtGui import QMouseEvent, QPainter

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.widgets.picture_label import PictureLabels


@frozen(kw_only=False)
class PicturePlace:
    """Geometry of a picture in its widget.

    Attributes:
        frame: The visible part of the picture, in widget coordinates.
        whole: The whole picture; larger than the frame when zoomed in.
    """

    frame: QRectF
    whole: QRectF

    def to_widget(self, share: QPointF) -> QPointF:
        """Convert a point in fractions of the picture, [0, 1], to widget coordinates."""
        x = self.whole.left() + share.x() * self.whole.width()
        return QPointF(x, self.whole.top() + share.y() * self.whole.height())

    def to_share(self, place: QPointF) -> QPointF:
        """Convert a widget position to fractions of the picture."""
        x = (place.x() - self.whole.left()) / self.whole.width()
        return QPointF(x, (place.y() - self.whole.top()) / self.whole.height())


class StageOverlay(QObject):
    """Drawn over all layers; receives mouse events before zoom and drag.

    Emits ``changed`` to be redrawn. A subclass describes its content in ``words`` for screen
    readers.
    """

    changed = Signal()

    def draw(self, painter: QPainter, place: PicturePlace, labels: PictureLabels) -> None:
        """Draw the overlay; the painter is clipped to the frame, labels are drawn last."""

    def press(self, event: QMouseEvent, place: PicturePlace) -> bool:  # noqa: ARG002 - a hook
        """Handle a press; return True if the overlay consumes it."""
        return False

    def move(self, event: QMouseEvent, place: PicturePlace) -> bool:  # noqa: ARG002 - a hook
        """Handle a move, pressed or not; return True over an item of this overlay."""
        return False

    def release(self, event: QMouseEvent, place: PicturePlace) -> None:
        """Handle the release of a consumed press."""

    def words(self) -> str:
        """Return a description of the overlay."""
        return ""
