"""A sketch of objects as blobs that can be moved to their intended positions and sized."""

from collections.abc import Hashable

from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QFontMetricsF,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPen,
    QRadialGradient,
    QWheelEvent,
)
from PySide6.QtWidgets import QMenu

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.compose.widgets.found_marks import (
    FoundMark,
    distance_box,
    draw_distance,
    draw_found,
)
from spatialstudio.ui.theme.theme import (
    SMALL,
    Theme,
    em,
    font,
)
from spatialstudio.ui.widgets.painting import (
    EXPANDING,
    PaintedWidget,
    draw_rounded,
    draw_text,
    elided,
)
from spatialstudio.ui.widgets.texts import tr

NUDGE = 0.01
"""Distance of an arrow key, as a fraction of the side."""
LEAP = 10
"""Factor on the distance with Shift."""
EDGE = 0.06
"""Minimum distance of objects from the edges."""
SMALLEST, LARGEST = 0.06, 1.0
"""Range of a size that is set here, fractions of the side."""
SIZE_STEP = 0.02
"""Change of a size by a key or a notch of the wheel."""
NOTCH = 120
"""Angle of a notch of the wheel, in eighths of a degree."""
HANDLE_EM = 0.42
"""Radius of the handle on a rim."""
DIAGONAL = 0.5**0.5
"""Cosine and sine of the handle's angle."""
CORE = 0.45
SOLID, SOFT, HOLLOW = 0.6, 0.28, 0.1
RING_ALPHA = 0.75
PICTURE_OPACITY = 0.55
NAME_ALPHA = 0.8
"""Opacity behind a name on a picture."""
ROUNDING_EM = 0.6
LEAST_EM = 6
NOTED_EM = 1.5
"""Radius from which on an object has a note under its name."""
LINK_ALPHA = 0.9
WORD_LINES = (0, -1, 1, -2, 2)
"""Tried positions of a relation phrase: lines below the middle of its link."""
THIRDS = 3

GROWTHS = {
    Qt.Key.Key_Plus: SIZE_STEP,
    Qt.Key.Key_Equal: SIZE_STEP,
    Qt.Key.Key_Minus: -SIZE_STEP,
}

PUSHES = {
    Qt.Key.Key_Left: QPointF(-NUDGE, 0),
    Qt.Key.Key_Right: QPointF(NUDGE, 0),
    Qt.Key.Key_Up: QPointF(0, -NUDGE),
    Qt.Key.Key_Down: QPointF(0, NUDGE),
}


@frozen(kw_only=False)
class Blob:
    """An object on the sketch.

    Attributes:
        key: Its id.
        phrase: Its name.
        hue: Index of its colour.
        x: Centre, fraction of the width.
        y: Centre, fraction of the height, grows down.
        is_held: Whether the picture should have it there; otherwise it is free, and the position
            is only where it is displayed.
        size: Diameter that it should have, fraction of the side; None for any.
    """

    key: Hashable
    phrase: str
    hue: int
    x: float
    y: float
    is_held: bool = False
    size: float | None = None


@frozen(kw_only=False)
class Link:
    """A relation on the sketch.

    Attributes:
        key: Id of the relation.
        ends: Keys of the objects, the subject first.
        phrase: The relation phrase.
        sentence: The phrase with its objects.
        is_muted: Whether guidance ignores it.
        is_doubtful: Whether it contradicts another.
    """

    key: Hashable
    ends: tuple[Hashable, ...]
    phrase: str
    sentence: str
    is_muted: bool = False
    is_doubtful: bool = False


class LayoutSketch(PaintedWidget):
    """Shows objects and the relations that follow from their positions.

    Objects whose place is held are filled; free ones are hollow with a dashed rim. A dotted rim
    means any size.

    Emits ``blob_moved`` with an object's key and position during a move, ``blob_dropped`` with them
    at its end, ``size_moved`` and ``size_picked`` likewise with its size, None for any,
    ``hold_picked`` with a key and whether its place is held, ``blob_picked`` with a key when an
    object is grabbed, ``place_asked`` with an empty position on a double click, and
    ``removal_asked`` with a key; the context menu offers these as well. A size is changed by the
    handle on the rim or the wheel.
    Keys: Tab moves between objects, arrows move an object, Shift moves it ten times as far, + and -
    change its size, 0 allows any size.

    Args:
        theme: Colours and icons.
        blob_side: Side of a blob of any size, as a fraction of the sketch.
        placeholder: Text shown while there are no objects.
    """

    blob_moved = Signal(object, QPointF)
    blob_dropped = Signal(object, QPointF)
    size_moved = Signal(object, float)
    size_picked = Signal(object, object)
    hold_picked = Signal(object, bool)
    blob_picked = Signal(object)
    place_asked = Signal(QPointF)
    removal_asked = Signal(object)

    def __init__(self, theme: Theme, blob_side: float, placeholder: str = "") -> None:
        super().__init__(
            theme,
            accessibleName=tr("Layout sketch"),
            accessibleDescription=placeholder,
            focusPolicy=Qt.FocusPolicy.StrongFocus,
            mouseTracking=True,
            sizePolicy=EXPANDING,
            minimumSize=QSize(em(LEAST_EM), em(LEAST_EM)),
        )
        self._blob_side = blob_side
        self._placeholder = placeholder
        self._blobs: tuple[Blob, ...] = ()
        self._links: tuple[Link, ...] = ()
        self._found: tuple[FoundMark, ...] = ()
        self._picture: QImage | None = None
        self._picked: Hashable = None
        self._held: Blob | None = None
        self._is_sizing = False
        self._grip = QPointF()
        self._pressed = QPointF()

    def sizeHint(self) -> QSize:
        return QSize(em(26), em(26))

    def show_sketch(self, blobs: tuple[Blob, ...], links: tuple[Link, ...]) -> None:
        """Show objects at their positions, and their relations."""
        self._blobs, self._links = blobs, links
        self._describe()

    def show_found(self, marks: tuple[FoundMark, ...]) -> None:
        """Show where the objects of a finished picture are; none for none."""
        self._found = marks
        self._describe()

    def show_picture(self, image: QImage | None) -> None:
        """Show a picture behind the objects, dimmed; None for none."""
        self._picture = image
        self.update()

    def _describe(self) -> None:
        """Update what screen readers say, and draw."""
        said = [f"{link.sentence}." for link in self._links]
        said += [_in_words(blob) for blob in self._blobs]
        if marks := self._shown_found():
            said += [tr("In the picture:"), *(mark.sentence for mark in marks)]
        self.setAccessibleDescription(" ".join(said) or self._placeholder)
        self.update()

    def show_picked(self, key: Hashable) -> None:
        """Mark the selected object; None for none."""
        self._picked = key
        self.update()

    def frame(self) -> QRectF:
        """Return the rectangle of the sketched picture, in widget coordinates."""
        side = min(self.width(), self.height()) - 2
        return QRectF(
            round((self.width() - side) / 2), round((self.height() - side) / 2), side, side
        )

    def place_of(self, key: Hashable) -> QPointF:
        """Return an object's centre, in widget coordinates."""
        blob = next(each for each in self._blobs if each.key == key)
        return self.point_of(QPointF(blob.x, blob.y))

    def point_of(self, place: QPointF) -> QPointF:
        """Convert a position in fractions of the sides to widget coordinates."""
        frame = self.frame()
        return frame.topLeft() + QPointF(place.x() * frame.width(), place.y() * frame.height())

    def draw(self, painter: QPainter) -> None:
        """Draw the objects and their relations."""
        frame = self.frame()
        shape = QPainterPath()
        shape.addRoundedRect(frame, em(ROUNDING_EM), em(ROUNDING_EM))
        painter.fillPath(shape, self._theme.colour("raised"))
        painter.setPen(QPen(self._theme.colour("line"), 1))
        painter.drawPath(shape)
        self._draw_thirds(painter, frame)
        painter.setClipPath(shape)
        if self._picture is not None and self._blobs:
            painter.setOpacity(PICTURE_OPACITY)
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawImage(frame, self._picture)
            painter.setOpacity(1)
        if not self._blobs:
            self._draw_placeholder(painter, frame)
        for blob in sorted(self._blobs, key=self._radius, reverse=True):
            self._draw_blob(painter, blob)
        for mark in self._shown_found():
            draw_found(painter, self._theme, mark, frame)
            draw_distance(painter, self._theme, mark, frame)
        taken = [self._label_box(blob) for blob in self._blobs]
        taken += [distance_box(mark, frame) for mark in self._shown_found()]
        for link in self._links:
            self._draw_link(painter, link, taken)
        for blob in self._blobs:
            self._draw_name(painter, blob)
        if (picked := self._picked_blob()) is not None:
            self._draw_handle(painter, picked)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        sized = self._handle_at(event.position())
        blob = sized or self._blob_at(event.position())
        if blob is not None and event.button() is Qt.MouseButton.LeftButton:
            self._held, self._is_sizing = blob, sized is not None
            self._grip = event.position() - self.place_of(blob.key)
            self._pressed = event.position()
            sizing, moving = Qt.CursorShape.SizeFDiagCursor, Qt.CursorShape.ClosedHandCursor
            self.setCursor(sizing if self._is_sizing else moving)
            self.blob_picked.emit(blob.key)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move or size the grabbed object; show a hand cursor over objects."""
        if self._held is not None and self._is_sizing:
            self.size_moved.emit(self._held.key, self._size_to(event.position()))
        elif self._held is not None:
            self.blob_moved.emit(self._held.key, self._share(event.position() - self._grip))
        elif self._handle_at(event.position()) is not None:
            self.setCursor(Qt.CursorShape.SizeFDiagCursor)
        elif self._blob_at(event.position()) is not None:
            self.setCursor(Qt.CursorShape.OpenHandCursor)
        else:
            self.unsetCursor()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if (held := self._held) is None:
            return
        size = self._size_to(event.position())
        self._held = None
        self.unsetCursor()
        if event.position() == self._pressed:
            return
        if self._is_sizing:
            self.size_picked.emit(held.key, size)
        else:
            self.blob_dropped.emit(held.key, self._share(event.position() - self._grip))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Change the size of the object at the pointer."""
        blob = self._blob_at(event.position())
        notches = event.angleDelta().y() / NOTCH
        if blob is None or not notches:
            event.ignore()
            return
        self.blob_picked.emit(blob.key)
        self._grow(blob, notches * SIZE_STEP)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Request an object at an empty position."""
        is_free = self._blob_at(event.position()) is None
        if is_free and self.frame().contains(event.position()):
            self.place_asked.emit(self._share(event.position()))
        elif not is_free:
            self.mousePressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done with the object at the pointer, or to add one there."""
        place, at = QPointF(event.pos()), event.globalPos()
        blob = self._blob_at(place)
        if event.reason() is QContextMenuEvent.Reason.Keyboard:
            blob = self._picked_blob()
            at = self.mapToGlobal(self.place_of(blob.key).toPoint()) if blob else at
        menu = QMenu(self)
        menu.aboutToHide.connect(menu.deleteLater)
        if blob is not None:
            self.blob_picked.emit(blob.key)
            self._offer_place(menu, blob)
            remove = menu.addAction(tr("Remove {thing}").format(thing=blob.phrase))
            remove.triggered.connect(lambda: self.removal_asked.emit(blob.key))
        else:
            add = menu.addAction(tr("Add an object here…"))
            add.triggered.connect(lambda: self.place_asked.emit(self._share(place)))
        menu.popup(at)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, blob = Qt.Key(event.key()), self._picked_blob()
        push = PUSHES.get(key)
        if blob is not None and key in GROWTHS:
            self._grow(blob, GROWTHS[key])
            return
        if blob is not None and key is Qt.Key.Key_0:
            self.size_picked.emit(blob.key, None)
            return
        if push is None or blob is None:
            super().keyPressEvent(event)
            return
        far = LEAP if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
        place = _kept_inside(QPointF(blob.x, blob.y) + push * far)
        self.blob_dropped.emit(blob.key, place)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Select an object, so that the keys apply to it."""
        super().focusInEvent(event)
        keys = [blob.key for blob in self._blobs]
        if keys and self._picked not in keys:
            back = event.reason() is Qt.FocusReason.BacktabFocusReason
            self.blob_picked.emit(keys[-1] if back else keys[0])

    def focusNextPrevChild(self, forward: bool) -> bool:
        keys = [blob.key for blob in self._blobs]
        if self._picked in keys:
            place = keys.index(self._picked) + (1 if forward else -1)
            if 0 <= place < len(keys):
                self.blob_picked.emit(keys[place])
                return True
        return super().focusNextPrevChild(forward)

    def _picked_blob(self) -> Blob | None:
        return next((each for each in self._blobs if each.key == self._picked), None)

    def _shown_found(self) -> tuple[FoundMark, ...]:
        """Return the marks of objects that the sketch still has."""
        known = {(blob.key, blob.phrase) for blob in self._blobs}
        return tuple(mark for mark in self._found if (mark.key, mark.phrase) in known)

    def handle_of(self, blob: Blob) -> QPointF:
        """Return the handle on an object's rim, in widget coordinates; it stays in the sketch."""
        reach = self._radius(blob) * DIAGONAL
        corner = self.frame().bottomRight() - QPointF(em(HANDLE_EM), em(HANDLE_EM))
        place = self.place_of(blob.key) + QPointF(reach, reach)
        return QPointF(min(place.x(), corner.x()), min(place.y(), corner.y()))

    def _handle_at(self, place: QPointF) -> Blob | None:
        """Return the selected object if its handle is at a place."""
        blob = self._picked_blob()
        if blob is None or QLineF(self.handle_of(blob), place).length() > 2 * em(HANDLE_EM):
            return None
        return blob

    def _size_to(self, place: QPointF) -> float:
        """Return the diameter whose handle would be at a place."""
        assert self._held is not None
        away = QLineF(self.place_of(self._held.key), place).length()
        return _possible_size(2 * away / self.frame().width())

    def _grow(self, blob: Blob, by: float) -> None:
        size = self._blob_side if blob.size is None else blob.size
        self.size_picked.emit(blob.key, _possible_size(size + by))

    def _offer_place(self, menu: QMenu, blob: Blob) -> None:
        hold = menu.addAction(tr("Hold this place"))
        hold.setCheckable(True)
        hold.setChecked(blob.is_held)
        hold.triggered.connect(lambda on: self.hold_picked.emit(blob.key, on))
        any_size = menu.addAction(tr("Any size"))
        any_size.setCheckable(True)
        any_size.setChecked(blob.size is None)
        usual = self._blob_side
        any_size.triggered.connect(
            lambda on: self.size_picked.emit(blob.key, None if on else usual)
        )
        menu.addSeparator()

    def _blob_at(self, place: QPointF) -> Blob | None:
        """Return the object at a place; of several, the one whose centre is nearest."""
        away = {blob: QLineF(self.place_of(blob.key), place).length() for blob in self._blobs}
        near = [blob for blob in self._blobs if away[blob] <= self._radius(blob)]
        return min(near, key=lambda blob: away[blob] / self._radius(blob), default=None)

    def _radius(self, blob: Blob) -> float:
        side = self._blob_side if blob.size is None else blob.size
        return self.frame().width() * side / 2

    def _share(self, place: QPointF) -> QPointF:
        frame = self.frame()
        return _kept_inside(
            QPointF(
                (place.x() - frame.left()) / frame.width(),
                (place.y() - frame.top()) / frame.height(),
            )
        )

    def _draw_thirds(self, painter: QPainter, frame: QRectF) -> None:
        painter.setPen(QPen(self._theme.colour("hover"), 1))
        for number in range(1, THIRDS):
            x = round(frame.left() + frame.width() * number / THIRDS)
            y = round(frame.top() + frame.height() * number / THIRDS)
            painter.drawLine(QPointF(x, frame.top() + 1), QPointF(x, frame.bottom() - 1))
            painter.drawLine(QPointF(frame.left() + 1, y), QPointF(frame.right() - 1, y))

    def _draw_placeholder(self, painter: QPainter, frame: QRectF) -> None:
        painter.setPen(self._theme.colour("muted"))
        words = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)
        painter.drawText(frame.adjusted(em(2), 0, -em(2), 0), words, self._placeholder)

    def _draw_blob(self, painter: QPainter, blob: Blob) -> None:
        middle, radius = self.place_of(blob.key), self._radius(blob)
        painter.setPen(Qt.PenStyle.NoPen)
        if blob.is_held:
            glow = QRadialGradient(middle, radius * 1.25)
            glow.setColorAt(0, self._theme.mention(blob.hue, SOLID))
            glow.setColorAt(CORE, self._theme.mention(blob.hue, SOFT))
            glow.setColorAt(1, self._theme.mention(blob.hue, 0))
            painter.setBrush(glow)
            painter.drawEllipse(middle, radius * 1.25, radius * 1.25)
        painter.setBrush(self._theme.mention(blob.hue, 0 if blob.is_held else HOLLOW))
        painter.setPen(self._rim(blob))
        painter.drawEllipse(middle, radius, radius)

    def _rim(self, blob: Blob) -> QPen:
        """Return the pen of a rim: solid for a size, dotted for any, dashed for a free object."""
        is_picked = blob.key == self._picked
        pen = QPen(self._theme.mention(blob.hue, 1 if is_picked else RING_ALPHA), 1.5)
        if is_picked and self.hasFocus():
            pen.setWidthF(3)
        if not blob.is_held:
            pen.setDashPattern([4, 4])
        elif blob.size is None:
            pen.setCapStyle(Qt.PenCapStyle.RoundCap)
            pen.setDashPattern([0.1, 3])
        return pen

    def _draw_handle(self, painter: QPainter, blob: Blob) -> None:
        painter.setPen(QPen(self._theme.mention(blob.hue), 2))
        painter.setBrush(self._theme.colour("raised"))
        painter.drawEllipse(self.handle_of(blob), em(HANDLE_EM), em(HANDLE_EM))

    def _label_box(self, blob: Blob) -> QRectF:
        """Return the rectangle of an object's name and the note below it, inside the sketch."""
        name, note = QFontMetricsF(font(bold=True)), QFontMetricsF(font(SMALL))
        shown = self._shown_name(blob)
        below = self._note_on(blob)
        width = max(name.horizontalAdvance(shown), note.horizontalAdvance(below))
        height = name.height() + (note.height() if below else 0)
        middle, frame = self.place_of(blob.key), self.frame()
        top = min(middle.y() - name.height() / 2, frame.bottom() - height)
        return QRectF(middle.x() - width / 2, top, width, height).adjusted(-em(0.3), 0, em(0.3), 0)

    def _shown_name(self, blob: Blob) -> str:
        return elided(blob.phrase, font(bold=True), 2.6 * max(self._radius(blob), em(2)))

    def _note_on(self, blob: Blob) -> str:
        """Return the note under a name: "free", "held", or the size; nothing on a small object."""
        if self._radius(blob) < em(NOTED_EM):
            return ""  # the rim says the same
        if not blob.is_held:
            return tr("free")
        return tr("held") if blob.size is None else f"{blob.size * 100:.0f} %"

    def _draw_name(self, painter: QPainter, blob: Blob) -> None:
        box, letters = self._label_box(blob), font(bold=True)
        if self._picture is not None:
            fill = self._theme.colour("raised", NAME_ALPHA)
            draw_rounded(painter, box, fill, radius=em(ROUNDING_EM))
        whole = QRectF(box)
        whole.setHeight(QFontMetricsF(letters).height())
        draw_text(painter, whole, self._shown_name(blob), (letters, self._theme.colour("text")))
        box.setTop(whole.bottom())
        note, muted = self._note_on(blob), self._theme.colour("muted")
        draw_text(painter, box, note, (font(SMALL), muted))

    def _draw_link(self, painter: QPainter, link: Link, taken: list[QRectF]) -> None:
        """Draw a line from the subject to the object, with the relation phrase."""
        if len(set(link.ends)) < len(link.ends):
            return
        role = "warning" if link.is_doubtful else "muted"
        pen = QPen(self._theme.colour(role, LINK_ALPHA), 1.5, c=Qt.PenCapStyle.RoundCap)
        if link.is_muted:
            pen.setStyle(Qt.PenStyle.DotLine)
        subject, *others = (self.place_of(end) for end in link.ends)
        gap = em(1.1)
        for other in others:
            way = other - subject
            length = max((way.x() ** 2 + way.y() ** 2) ** 0.5, 1.0)
            if length > 2 * gap:
                step = way * (gap / length)
                painter.setPen(pen)
                painter.drawLine(subject + step, other - step)
        self._draw_words(painter, link, QLineF(subject, others[0]).center(), taken)

    def _draw_words(
        self, painter: QPainter, link: Link, middle: QPointF, taken: list[QRectF]
    ) -> None:
        """Draw the relation phrase where nothing else is written, if there is room nearby."""
        letters = font(SMALL)
        words = QFontMetricsF(letters)
        box = QRectF(0, 0, words.horizontalAdvance(link.phrase) + em(0.8), words.height() + 4)
        box.moveCenter(middle)
        tried = (box.translated(0, lines * (box.height() + 2)) for lines in WORD_LINES)
        free = (each for each in tried if not any(map(each.intersects, taken)))
        if (room := next(filter(self.frame().contains, free), None)) is None:
            return  # the chips show all relations
        taken.append(room)
        line, fill = QPen(self._theme.colour("line"), 1), self._theme.colour("raised")
        draw_rounded(painter, room, fill, line)
        role = "warning" if link.is_doubtful else "muted"
        draw_text(painter, room, link.phrase, (letters, self._theme.colour(role)))


def _in_words(blob: Blob) -> str:
    """Describe an object for screen readers."""
    place = tr("{thing}: {x} % across, {y} % down.").format(
        thing=blob.phrase, x=f"{blob.x:.0%}"[:-1], y=f"{blob.y:.0%}"[:-1]
    )
    if not blob.is_held:
        return f"{place} {tr('The place is free.')}"
    if blob.size is None:
        return f"{place} {tr('The place is held, at any size.')}"
    held = tr("The place is held, with a size of {size} %.")
    return f"{place} {held.format(size=f'{blob.size * 100:.0f}')}"


def _possible_size(size: float) -> float:
    return round(min(max(size, SMALLEST), LARGEST), 3)


def _kept_inside(place: QPointF) -> QPointF:
    return QPointF(
        min(max(place.x(), EDGE), 1 - EDGE),
        min(max(place.y(), EDGE), 1 - EDGE),
    )
