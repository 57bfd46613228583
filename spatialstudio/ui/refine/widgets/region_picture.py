"""A picture on which a region is drawn by mouse or keys."""

from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import QImage, QKeyEvent, QMouseEvent, QPainter, QPen

from spatialstudio.ui.theme.theme import Theme, em
from spatialstudio.ui.widgets.painting import EXPANDING, PaintedWidget
from spatialstudio.ui.widgets.texts import tr

LEAST_EM = 12
LINE = 2.0
GRIP_EM = 0.5
"""Radius of the handles at the corners."""
SHADE = 0.45
"""Opacity over what stays as it is."""
NUDGE, LEAP = 0.01, 0.1
"""Steps of an arrow key, and with Ctrl; fractions of the sides."""
PUSHES = {
    Qt.Key.Key_Left: QPointF(-1, 0),
    Qt.Key.Key_Right: QPointF(1, 0),
    Qt.Key.Key_Up: QPointF(0, -1),
    Qt.Key.Key_Down: QPointF(0, 1),
}


class RegionPicture(PaintedWidget):
    """Shows a picture, the region that is drawn on it, and further regions.

    Emits ``region_picked`` with the region, in fractions of the sides, while the user drags a new
    one, moves it or drags a corner. Keys: arrows move the region, Shift with an arrow changes its
    size, Ctrl makes the step ten times as large.

    Args:
        theme: Colours and icons.
        image: The picture.
        least: Least side of a region, fraction of the side of the picture.
    """

    region_picked = Signal(QRectF)

    def __init__(self, theme: Theme, image: QImage, least: float) -> None:
        super().__init__(
            theme,
            accessibleName=tr("Region"),
            focusPolicy=Qt.FocusPolicy.StrongFocus,
            mouseTracking=True,
            sizePolicy=EXPANDING,
            minimumSize=QSize(em(LEAST_EM), em(LEAST_EM)),
        )
        self._image, self._least = image, least
        self._region, self._others = QRectF(0, 0, 1, 1), tuple[QRectF, ...]()
        self._anchor: QPointF | None = None
        self._grip: QPointF | None = None

    def show_regions(self, region: QRectF, others: tuple[QRectF, ...]) -> None:
        """Show the region and further ones, in fractions of the sides."""
        self._region, self._others = region, others
        words = tr("left {x:.0%}, top {y:.0%}, width {width:.0%}, height {height:.0%}")
        x, y, width, height = sides_of(region)
        self.setAccessibleDescription(words.format(x=x, y=y, width=width, height=height))
        self.update()

    def frame(self) -> QRectF:
        """Return the rectangle of the picture, in widget coordinates."""
        edge = em(GRIP_EM) + LINE
        room = QRectF(self.rect()).adjusted(edge, edge, -edge, -edge)
        whole = QSizeF(self._image.size()).scaled(room.size(), Qt.AspectRatioMode.KeepAspectRatio)
        frame = QRectF(QPointF(), whole)
        frame.moveCenter(room.center())
        return frame

    def draw(self, painter: QPainter) -> None:
        """Draw the picture, dimmed outside the regions, and the regions."""
        frame, kept = self.frame(), self._theme.colour("sunken", SHADE)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(frame, self._image)
        boxes = [self._in_widget(each) for each in (self._region, *self._others)]
        painter.fillRect(frame, kept)
        for box in boxes:
            source = self._source_of(box, frame)
            painter.drawImage(box, self._image, source)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for box, style in zip(boxes, self._styles(len(boxes)), strict=True):
            for role, width in (("raised", 2 * LINE), ("accent", LINE)):
                painter.setPen(QPen(self._theme.colour(role), width, style))
                painter.drawRect(box)
        self._draw_handles(painter, boxes[0])
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self._theme.colour("accent"), LINE))
            painter.drawRect(QRectF(self.rect()).adjusted(LINE, LINE, -LINE, -LINE))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Grab a corner or the region, or begin another one."""
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        corner = self._opposite_corner(event.position())
        if corner is not None:
            self._anchor = corner
        elif self._in_widget(self._region).contains(event.position()):
            self._grip = self._share(event.position()) - self._region.topLeft()
        else:
            self._anchor = self._share(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag what was grabbed; else show what a press would do."""
        place = self._share(event.position())
        if self._anchor is not None:
            self._pick(QRectF(self._anchor, place).normalized())
        elif self._grip is not None:
            self._pick(QRectF(place - self._grip, self._region.size()))
        elif self._opposite_corner(event.position()) is not None:
            self.setCursor(Qt.CursorShape.SizeAllCursor)
        elif self._in_widget(self._region).contains(event.position()):
            self.setCursor(Qt.CursorShape.OpenHandCursor)
        else:
            self.setCursor(Qt.CursorShape.CrossCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: ARG002 - Qt's signature
        self._anchor = self._grip = None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        push = PUSHES.get(Qt.Key(event.key()))
        if push is None:
            super().keyPressEvent(event)
            return
        held = event.modifiers()
        by = push * (LEAP if held & Qt.KeyboardModifier.ControlModifier else NUDGE)
        if held & Qt.KeyboardModifier.ShiftModifier:
            self._pick(self._region.adjusted(0, 0, by.x(), by.y()))
        else:
            self._pick(self._region.translated(by))

    def _pick(self, wanted: QRectF) -> None:
        """Emit a region, made large enough and moved into the picture."""
        width, height = (
            min(max(each, self._least), 1.0) for each in (wanted.width(), wanted.height())
        )
        left = min(max(wanted.left(), 0.0), 1 - width)
        top = min(max(wanted.top(), 0.0), 1 - height)
        self.region_picked.emit(QRectF(left, top, width, height))

    def _opposite_corner(self, place: QPointF) -> QPointF | None:
        """Return the corner of the region that stays when the one at a place is dragged."""
        corners, region = _corners(self._in_widget(self._region)), _corners(self._region)
        away = [(each - place).manhattanLength() for each in corners]
        nearest = min(range(len(away)), key=away.__getitem__)
        return region[(nearest + 2) % 4] if away[nearest] <= 2 * em(GRIP_EM) else None

    def _share(self, place: QPointF) -> QPointF:
        """Convert a widget position to fractions of the picture, in the picture."""
        frame = self.frame()
        x = (place.x() - frame.left()) / frame.width()
        y = (place.y() - frame.top()) / frame.height()
        return QPointF(min(max(x, 0.0), 1.0), min(max(y, 0.0), 1.0))

    def _in_widget(self, region: QRectF) -> QRectF:
        frame = self.frame()
        return QRectF(
            frame.left() + region.left() * frame.width(),
            frame.top() + region.top() * frame.height(),
            region.width() * frame.width(),
            region.height() * frame.height(),
        )

    def _source_of(self, box: QRectF, frame: QRectF) -> QRectF:
        """Return the pixels of the picture under a rectangle of the widget."""
        scale = self._image.width() / frame.width()
        place = (box.topLeft() - frame.topLeft()) * scale
        return QRectF(place, box.size() * scale)

    def _styles(self, count: int) -> tuple[Qt.PenStyle, ...]:
        return (Qt.PenStyle.SolidLine, *(Qt.PenStyle.DashLine,) * (count - 1))

    def _draw_handles(self, painter: QPainter, box: QRectF) -> None:
        painter.setPen(QPen(self._theme.colour("raised"), LINE))
        painter.setBrush(self._theme.colour("accent"))
        for corner in _corners(box):
            painter.drawEllipse(corner, em(GRIP_EM), em(GRIP_EM))


def sides_of(region: QRectF) -> tuple[float, float, float, float]:
    """Return left, top, width and height."""
    return region.x(), region.y(), region.width(), region.height()


def _corners(box: QRectF) -> tuple[QPointF, ...]:
    """Return the corners in order, so that opposite ones are two apart."""
    return box.topLeft(), box.topRight(), box.bottomRight(), box.bottomLeft()
