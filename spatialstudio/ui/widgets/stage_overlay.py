"""What a workspace draws over the picture, and what can be taken hold of there."""

from PySide6.QtCore import QObject, QPointF, QRectF, Signal
from PySide6.QtGui import QMouseEvent, QPainter

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.widgets.picture_label import PictureLabels


@frozen(kw_only=False)
class PicturePlace:
    """Where a picture lies in its widget.

    Attributes:
        frame: The part of the widget in which the picture is seen.
        whole: Where the whole picture would lie; larger than the frame when zoomed in.
    """

    frame: QRectF
    whole: QRectF

    def to_widget(self, share: QPointF) -> QPointF:
        """Return the place of a point given in shares of the picture, [0, 1] in x and y."""
        x = self.whole.left() + share.x() * self.whole.width()
        return QPointF(x, self.whole.top() + share.y() * self.whole.height())

    def to_share(self, place: QPointF) -> QPointF:
        """Return a place of the widget in shares of the picture."""
        x = (place.x() - self.whole.left()) / self.whole.width()
        return QPointF(x, (place.y() - self.whole.top()) / self.whole.height())


class StageOverlay(QObject):
    """Drawn over the picture after all layers; may take the mouse before zoom and drag do.

    Emits ``changed`` when it wants to be drawn anew. A subclass says in ``words`` what it shows:
    the textual twin of the drawing, for screen readers.
    """

    changed = Signal()

    def draw(self, painter: QPainter, place: PicturePlace, labels: PictureLabels) -> None:
        """Draw; the painter is clipped to the frame and antialiased, labels are written last."""

    def press(self, event: QMouseEvent, place: PicturePlace) -> bool:  # noqa: ARG002 - a hook
        """Take hold of something; True when the press was for this overlay."""
        return False

    def move(self, event: QMouseEvent, place: PicturePlace) -> bool:  # noqa: ARG002 - a hook
        """Follow the pointer, held or not; True when it is over something of this overlay."""
        return False

    def release(self, event: QMouseEvent, place: PicturePlace) -> None:
        """Let go of what was pressed."""

    def words(self) -> str:
        """Return what is drawn, in words."""
        return ""
