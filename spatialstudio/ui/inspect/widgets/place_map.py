"""The picture with a chosen place, and where that place attends."""

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy

from spatialstudio.domain.arrays import FloatMap, RgbImage
from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.theme.theme import Theme, em
from spatialstudio.ui.widgets.array_images import heat_image, rgb_image
from spatialstudio.ui.widgets.painting import PaintedWidget
from spatialstudio.ui.widgets.texts import tr

LEAST_EM, USUAL_EM = 7, 13
MAP_OPACITY = 0.8
TALL = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
MOVES: Mapping[int, tuple[int, int]] = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}


@frozen(eq=False)
class PlaceContents:
    """What the widget shows.

    Attributes:
        weights: (h, w) attention of the place, not negative.
        cell: (row, column) of the place.
        picture: (H, W, 3) under the map; None without a preview.
        text: The same in words.
    """

    weights: FloatMap
    cell: tuple[int, int]
    picture: RgbImage | None = None
    text: str = ""


class PlaceMap(PaintedWidget):
    """Shows a map over the picture; a click, a drag or an arrow key chooses the place.

    Emits ``place_picked`` with the centre of the chosen cell, x and y as fractions of the
    picture's sides.
    """

    place_picked = Signal(float, float)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, sizePolicy=TALL)
        self._contents: PlaceContents | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.setAccessibleName(tr("Self-attention of a place"))
        self.setToolTip(tr("Click, drag or press the arrow keys to choose a place"))

    def sizeHint(self) -> QSize:
        return QSize(em(USUAL_EM), em(USUAL_EM))

    def minimumSizeHint(self) -> QSize:
        return QSize(em(LEAST_EM), em(LEAST_EM))

    def show_contents(self, contents: PlaceContents) -> None:
        """Show the attention of a place."""
        self._contents = contents
        self.setAccessibleDescription(contents.text)
        self.update()

    def draw(self, painter: QPainter) -> None:
        """Draw the picture, the map and the place."""
        if (contents := self._contents) is None:
            return
        frame = self.frame()
        if contents.picture is not None:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawImage(frame, rgb_image(contents.picture))
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
            painter.setOpacity(MAP_OPACITY)
        painter.drawImage(frame, heat_image(contents.weights, self._theme.heat_table()))
        painter.setOpacity(1.0)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        cell = self.cell_rect(*contents.cell)
        for colour, grown in (("surface", 2), ("accent", 1)):
            painter.setPen(QPen(self._theme.colour(colour), 2))
            painter.drawRect(cell.adjusted(-grown, -grown, grown, grown))
        if self.hasFocus():
            painter.setPen(QPen(self._theme.colour("accent"), 1, Qt.PenStyle.DotLine))
            painter.drawRect(frame.adjusted(-2, -2, 2, 2))

    def frame(self) -> QRectF:
        """Return the rectangle of the picture."""
        if self._contents is None:
            return QRectF()
        height, width = self._contents.weights.shape
        room = QRectF(self.rect()).adjusted(3, 3, -3, -3)
        size = QSize(width, height).scaled(room.size().toSize(), Qt.AspectRatioMode.KeepAspectRatio)
        frame = QRectF(0, 0, size.width(), size.height())
        frame.moveCenter(room.center())
        return frame

    def cell_rect(self, row: int, column: int) -> QRectF:
        """Return the rectangle of a cell; there are contents."""
        assert self._contents is not None
        frame, (height, width) = self.frame(), self._contents.weights.shape
        across, down = frame.width() / width, frame.height() / height
        return QRectF(frame.left() + column * across, frame.top() + row * down, across, down)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._pick_at(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._pick_at(event.position())

    def event(self, event: QEvent) -> bool:
        """Take the arrow keys before the window's shortcuts do."""
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            is_plain = event.modifiers() == Qt.KeyboardModifier.NoModifier
            if is_plain and event.key() in MOVES:
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        move = MOVES.get(event.key())
        if move is None or self._contents is None:
            super().keyPressEvent(event)
            return
        row, column = self._contents.cell
        self._pick(row + move[1], column + move[0])

    def _pick_at(self, at: QPointF) -> None:
        frame = self.frame()
        if self._contents is None or frame.isEmpty():
            return
        height, width = self._contents.weights.shape
        x = (at.x() - frame.left()) / frame.width()
        y = (at.y() - frame.top()) / frame.height()
        self._pick(int(y * height // 1), int(x * width // 1))

    def _pick(self, row: int, column: int) -> None:
        """Choose a cell, the nearest one if it is outside."""
        if self._contents is None:
            return
        height, width = self._contents.weights.shape
        row, column = min(max(row, 0), height - 1), min(max(column, 0), width - 1)
        if (row, column) != self._contents.cell:
            self.place_picked.emit((column + 0.5) / width, (row + 0.5) / height)
