"""The comparison of two pictures: slider, side by side, blinking, or difference."""

from enum import Enum
from functools import partial

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFontMetricsF,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterStateGuard,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QButtonGroup, QToolButton, QWidget

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.theme.theme import (
    SMALL,
    Theme,
    em,
    font,
)
from spatialstudio.ui.widgets.builders import FlowLayout, ThemedIcon, column, grow, tool_button
from spatialstudio.ui.widgets.painting import EXPANDING, PaintedWidget, draw_text
from spatialstudio.ui.widgets.picture_region import (
    WHOLE,
    dragged,
    zoomed,
)
from spatialstudio.ui.widgets.texts import tr

BLINK_MS = 700
SLIDE = 0.02
"""Distance that a key moves the slider, as a fraction of the picture."""
TITLE_EM = 1.8
TITLE_GAP_EM = 0.6
GRIP_EM = 0.9


class CompareWay(Enum):
    """How two pictures are compared; the value is its name, untranslated."""

    SLIDER = "Slider"
    SIDE_BY_SIDE = "Side by side"
    BLINK = "Blink"
    DIFFERENCE = "Difference"

    @property
    def next(self) -> "CompareWay":
        """The next mode, cyclically."""
        ways = list(CompareWay)
        return ways[(ways.index(self) + 1) % len(ways)]


@frozen(eq=False, kw_only=False)
class ComparedPicture:
    """One of the compared pictures.

    Attributes:
        image: Its pixels.
        title: Its title.
        remark: A muted note next to the title.
    """

    image: QImage
    title: str
    remark: str


class CompareCanvas(PaintedWidget):
    """Shows a pair of pictures that zoom (wheel) and pan (drag) together.

    A double click resets the view; Left and Right move the slider. Emits ``closed`` on Esc.

    Attributes:
        split: Position of the slider, as a fraction of the visible width.
    """

    closed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(
            theme,
            accessibleName=tr("Comparison"),
            focusPolicy=Qt.FocusPolicy.StrongFocus,
            sizePolicy=EXPANDING,
        )
        self._pair: tuple[ComparedPicture, ComparedPicture] | None = None
        self._difference: ComparedPicture | None = None
        self._way = CompareWay.SLIDER
        self.split = 0.5
        self._region = QRectF(WHOLE)
        self._grip: QPointF | None = None
        self._slides = False
        self._shows_second = False
        self._clock = QTimer(self, interval=BLINK_MS)
        self._clock.timeout.connect(self._blink)

    @property
    def region(self) -> QRectF:
        """The visible region, as fractions of the pictures' sides."""
        return QRectF(self._region)

    def sizeHint(self) -> QSize:
        return QSize(em(40), em(28))

    def show_pair(
        self, first: ComparedPicture, second: ComparedPicture, difference: ComparedPicture | None
    ) -> None:
        """Show two pictures; their difference is None if their sizes differ."""
        self._pair, self._difference = (first, second), difference
        self._region, self.split = QRectF(WHOLE), 0.5
        self._describe()

    def show_way(self, way: CompareWay) -> None:
        """Switch the comparison mode; zoom and slider are preserved."""
        self._way = way
        self._shows_second = False
        (self._clock.start if way is CompareWay.BLINK else self._clock.stop)()
        self._describe()

    def stop(self) -> None:
        """Stop blinking."""
        self._clock.stop()

    def draw(self, painter: QPainter) -> None:
        """Draw the pair in the current mode."""
        if self._pair is not None:
            self._draw(painter, *self._pair)

    def frames(self) -> tuple[QRectF, ...]:
        """Return the rectangles of the pictures: one, or two side by side."""
        if self._way is not CompareWay.SIDE_BY_SIDE:
            return (self._fitted(QRectF(self.rect())),)
        half = (self.width() - em(1)) / 2
        left = QRectF(0, 0, half, self.height())
        return self._fitted(left), self._fitted(left.translated(half + em(1), 0))

    def wheelEvent(self, event: QWheelEvent) -> None:
        place, frames = event.position(), self.frames()
        frame = next((f for f in frames if f.contains(place)), frames[0])
        self._show_region(zoomed(self._region, event.angleDelta().y(), place, frame))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        frame = self.frames()[0]
        place = frame.left() + self.split * frame.width()
        is_near = abs(event.position().x() - place) <= em(GRIP_EM)
        self._slides = self._way is CompareWay.SLIDER and is_near
        self._grip = event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._grip is None:
            return
        frame = self.frames()[0]
        if self._slides:
            self._slide_to((event.position().x() - frame.left()) / frame.width())
            return
        moved, self._grip = event.position() - self._grip, event.position()
        self._show_region(dragged(self._region, moved, frame))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: ARG002 - Qt's signature
        self._grip, self._slides = None, False

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: ARG002 - Qt's signature
        self._show_region(QRectF(WHOLE))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the slider; close on Esc."""
        step = {Qt.Key.Key_Left: -SLIDE, Qt.Key.Key_Right: SLIDE}.get(Qt.Key(event.key()))
        if step is not None and self._way is CompareWay.SLIDER:
            self._slide_to(self.split + step)
        elif event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)

    def _slide_to(self, share: float) -> None:
        self.split = min(max(share, 0.0), 1.0)
        self.update()

    def _show_region(self, region: QRectF) -> None:
        self._region = region
        self.update()

    def _blink(self) -> None:
        self._shows_second = not self._shows_second
        self.update()

    def _describe(self) -> None:
        if self._pair is not None:
            first, second = (f"{each.title} {each.remark}" for each in self._pair)
            way = tr(self._way.value)
            words = tr("{way}: {first}; {second}").format(way=way, first=first, second=second)
            if self._way is CompareWay.DIFFERENCE and self._difference is not None:
                words = f"{words}; {self._difference.remark}"
            self.setAccessibleDescription(words)
        self.update()

    def _fitted(self, room: QRectF) -> QRectF:
        image = self._pair[0].image if self._pair else QImage()
        ratio = image.width() / image.height() if image.height() else 1.0
        room = room.adjusted(0, em(TITLE_EM), 0, 0)
        width = min(room.width(), room.height() * ratio)
        height = width / ratio
        left = room.left() + (room.width() - width) / 2
        return QRectF(left, room.top() + (room.height() - height) / 2, width, height)

    def _draw(self, painter: QPainter, first: ComparedPicture, second: ComparedPicture) -> None:
        frames = self.frames()
        whole = QRectF(self.rect())
        half = QRectF(0, 0, (self.width() - em(1)) / 2, self.height())
        other = half.translated(half.width() + em(1), 0)
        match self._way:
            case CompareWay.SIDE_BY_SIDE:
                for frame, room, picture in zip(
                    frames, (half, other), (first, second), strict=True
                ):
                    self._draw_picture(painter, frame, frame, picture)
                    self._draw_title(painter, room, frame, picture)
            case CompareWay.SLIDER:
                beyond = frames[0].adjusted(self.split * frames[0].width(), 0, 0, 0)
                self._draw_picture(painter, frames[0], frames[0], first)
                self._draw_picture(painter, frames[0], beyond, second)
                self._draw_slider(painter, frames[0])
                self._draw_title(painter, half, frames[0], first)
                self._draw_title_at_right(painter, other, frames[0], second)
            case CompareWay.BLINK:
                shown = second if self._shows_second else first
                self._draw_picture(painter, frames[0], frames[0], shown)
                draw = self._draw_title_at_right if self._shows_second else self._draw_title
                draw(painter, whole, frames[0], shown)
            case CompareWay.DIFFERENCE:
                self._draw_difference(painter, frames[0])

    def _draw_difference(self, painter: QPainter, frame: QRectF) -> None:
        if self._difference is None:
            painter.setPen(self._theme.colour("muted"))
            words = tr("Pictures of different sizes cannot be subtracted.")
            painter.drawText(frame, Qt.AlignmentFlag.AlignCenter, words)
            return
        self._draw_picture(painter, frame, frame, self._difference)
        self._draw_title(painter, QRectF(self.rect()), frame, self._difference)

    def _draw_picture(
        self, painter: QPainter, frame: QRectF, clip: QRectF, picture: ComparedPicture
    ) -> None:
        width, height = frame.width() / self._region.width(), frame.height() / self._region.height()
        whole = QRectF(
            frame.left() - self._region.left() * width,
            frame.top() - self._region.top() * height,
            width,
            height,
        )
        with QPainterStateGuard(painter):
            painter.setClipRect(clip)
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawImage(whole, picture.image)

    def _draw_slider(self, painter: QPainter, frame: QRectF) -> None:
        place = frame.left() + self.split * frame.width()
        painter.setPen(QPen(self._theme.colour("raised"), 2))
        painter.drawLine(QPointF(place, frame.top()), QPointF(place, frame.bottom()))
        painter.setPen(QPen(self._theme.colour("accent"), 1))
        painter.setBrush(self._theme.colour("raised"))
        painter.drawEllipse(QPointF(place, frame.center().y()), em(0.6), em(0.6))

    def _draw_title(
        self, painter: QPainter, room: QRectF, frame: QRectF, picture: ComparedPicture
    ) -> None:
        """Draw the title above a frame, left-aligned, extended to the left for long text."""
        line = self._title_line(room, frame)
        line.setLeft(max(room.left(), min(frame.left(), room.right() - _width_of(picture))))
        self._write(painter, line, picture, Qt.AlignmentFlag.AlignLeft)

    def _draw_title_at_right(
        self, painter: QPainter, room: QRectF, frame: QRectF, picture: ComparedPicture
    ) -> None:
        line = self._title_line(room, frame)
        line.setRight(min(room.right(), max(frame.right(), room.left() + _width_of(picture))))
        self._write(painter, line, picture, Qt.AlignmentFlag.AlignRight)

    def _title_line(self, room: QRectF, frame: QRectF) -> QRectF:
        height = em(TITLE_EM) - em(0.4)
        return QRectF(room.left(), frame.top() - em(TITLE_EM), room.width(), height)

    def _write(
        self, painter: QPainter, line: QRectF, picture: ComparedPicture, side: Qt.AlignmentFlag
    ) -> None:
        """Draw title and remark, the title on the outer side, elided where needed."""
        low = Qt.AlignmentFlag.AlignBottom
        look = font(bold=True), self._theme.colour("text")
        draw_text(painter, line, picture.title, look, low | side)
        shift = painter.fontMetrics().horizontalAdvance(picture.title) + em(TITLE_GAP_EM)
        is_left = side is Qt.AlignmentFlag.AlignLeft
        line.adjust(shift if is_left else 0, 0, 0 if is_left else -shift, 0)
        painter.setFont(font(SMALL))
        painter.setPen(self._theme.colour("muted"))
        elide = Qt.TextElideMode.ElideRight
        remark = painter.fontMetrics().elidedText(picture.remark, elide, int(line.width()))
        painter.drawText(line, low | side, remark)


def _width_of(picture: ComparedPicture) -> float:
    title = QFontMetricsF(font(bold=True)).horizontalAdvance(picture.title)
    remark = QFontMetricsF(font(SMALL)).horizontalAdvance(picture.remark)
    return title + em(TITLE_GAP_EM) + remark + 1


class CompareView(QWidget):
    """Shows a pair in one of four modes. Emits ``closed`` to return to the grid.

    Attributes:
        way: The comparison mode.
    """

    closed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.way = CompareWay.SLIDER
        self.canvas = CompareCanvas(theme)
        self.canvas.closed.connect(self.close_comparison)
        self.setFocusProxy(self.canvas)
        back = tool_button(
            tr("All runs"),
            self.close_comparison,
            name=tr("Back to all runs"),
            tip=tr("Back to all runs (Esc)"),
            icon_em=1,
        )
        ThemedIcon(back, theme, "previous")
        self._ways = QButtonGroup(self)
        bar = FlowLayout(em(0.3), back, *map(self._button, CompareWay))
        column(bar, grow(self.canvas), within=self, edges=(0.9, 0.2, 0.9, 0.9))

    def show_pair(
        self, first: ComparedPicture, second: ComparedPicture, difference: ComparedPicture | None
    ) -> None:
        """Show two pictures in the last used mode."""
        self.canvas.show_pair(first, second, difference)
        self.show_way(self.way)

    def show_way(self, way: CompareWay) -> None:
        """Switch the comparison mode."""
        self.way = way
        self.canvas.show_way(way)
        self._ways.button(list(CompareWay).index(way)).setChecked(True)

    def close_comparison(self) -> None:
        """Stop the comparison and emit ``closed``."""
        self.canvas.stop()
        self.closed.emit()

    def _button(self, way: CompareWay) -> QToolButton:
        button = tool_button(tr(way.value), partial(self.show_way, way), kind="segment")
        button.setCheckable(True)
        self._ways.addButton(button, list(CompareWay).index(way))
        return button
