"""A sketch of objects as blobs that can be moved to their intended positions, and named."""

from collections.abc import Hashable

from PySide6.QtCore import QLineF, QPoint, QPointF, QRectF, QSize, QStringListModel, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPen,
    QRadialGradient,
)
from PySide6.QtWidgets import QCompleter, QMenu, QWidget

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.theme.theme import (
    SMALL,
    Theme,
    em,
    font,
)
from spatialstudio.ui.widgets.fields import TextLine
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
CORE = 0.45
SOLID, SOFT = 0.6, 0.28
ROUNDING_EM = 0.6
LEAST_EM = 6
LINK_ALPHA = 0.9
THIRDS = 3

PUSHES = {
    Qt.Key.Key_Left: QPointF(-NUDGE, 0),
    Qt.Key.Key_Right: QPointF(NUDGE, 0),
    Qt.Key.Key_Up: QPointF(0, -NUDGE),
    Qt.Key.Key_Down: QPointF(0, NUDGE),
}


@frozen(kw_only=False)
class Blob:
    """An object on the sketch; x and y are fractions of its sides, y grows down."""

    key: Hashable
    phrase: str
    hue: int
    x: float
    y: float


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

    Emits ``blob_moved`` with an object's key and position during a move, ``blob_dropped`` with them
    at its end, ``blob_picked`` with a key when an object is grabbed, ``place_asked`` with an empty
    position on a double click, and ``removal_asked`` with a key; the context menu offers both.
    Keys: Tab moves between objects, arrows move an object, Shift moves it ten times as far.

    Args:
        theme: Colours and icons.
        blob_side: Side of a blob, as a fraction of the sketch.
        placeholder: Text shown while there are no objects.
    """

    blob_moved = Signal(object, QPointF)
    blob_dropped = Signal(object, QPointF)
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
        self._picked: Hashable = None
        self._held: Blob | None = None
        self._grip = QPointF()

    def sizeHint(self) -> QSize:
        return QSize(em(26), em(26))

    def show_sketch(self, blobs: tuple[Blob, ...], links: tuple[Link, ...]) -> None:
        """Show objects at their positions, and their relations."""
        self._blobs, self._links = blobs, links
        said = [f"{link.sentence}." for link in links]
        places = [
            tr("{thing}: {x} % across, {y} % down.").format(
                thing=blob.phrase, x=f"{blob.x:.0%}"[:-1], y=f"{blob.y:.0%}"[:-1]
            )
            for blob in blobs
        ]
        self.setAccessibleDescription(" ".join([*said, *places]) or self._placeholder)
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
        if not self._blobs:
            self._draw_placeholder(painter, frame)
        for blob in self._blobs:
            self._draw_blob(painter, blob)
        for link in self._links:
            self._draw_link(painter, link)
        for blob in self._blobs:
            self._draw_name(painter, blob)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        blob = self._blob_at(event.position())
        if blob is not None and event.button() is Qt.MouseButton.LeftButton:
            self._held = blob
            self._grip = event.position() - self.place_of(blob.key)
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
            self.blob_picked.emit(blob.key)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move the grabbed object; show a hand cursor over objects."""
        if self._held is not None:
            self.blob_moved.emit(self._held.key, self._share(event.position() - self._grip))
        elif self._blob_at(event.position()) is not None:
            self.setCursor(Qt.CursorShape.OpenHandCursor)
        else:
            self.unsetCursor()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        held, self._held = self._held, None
        if held is not None:
            self.unsetCursor()
            place = self._share(event.position() - self._grip)
            if place != QPointF(held.x, held.y):
                self.blob_dropped.emit(held.key, place)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Request an object at an empty position."""
        is_free = self._blob_at(event.position()) is None
        if is_free and self.frame().contains(event.position()):
            self.place_asked.emit(self._share(event.position()))
        elif not is_free:
            self.mousePressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to remove the object at the pointer, or to add one at an empty position."""
        place, at = QPointF(event.pos()), event.globalPos()
        blob = self._blob_at(place)
        if event.reason() is QContextMenuEvent.Reason.Keyboard:
            blob = self._picked_blob()
            at = self.mapToGlobal(self.place_of(blob.key).toPoint()) if blob else at
        menu = QMenu(self)
        menu.aboutToHide.connect(menu.deleteLater)
        if blob is not None:
            self.blob_picked.emit(blob.key)
            remove = menu.addAction(tr("Remove {thing}").format(thing=blob.phrase))
            remove.triggered.connect(lambda: self.removal_asked.emit(blob.key))
        else:
            add = menu.addAction(tr("Add an object here…"))
            add.triggered.connect(lambda: self.place_asked.emit(self._share(place)))
        menu.popup(at)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        push = PUSHES.get(Qt.Key(event.key()))
        blob = self._picked_blob()
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

    def _blob_at(self, place: QPointF) -> Blob | None:
        reach = self._radius()
        found = [
            (distance.x() ** 2 + distance.y() ** 2, blob)
            for blob in self._blobs
            if (distance := self.place_of(blob.key) - place).manhattanLength() < 2 * reach
        ]
        near = [each for each in found if each[0] <= reach**2]
        return min(near, key=lambda each: each[0])[1] if near else None

    def _radius(self) -> float:
        return self.frame().width() * self._blob_side / 2

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
        middle, radius = self.place_of(blob.key), self._radius()
        glow = QRadialGradient(middle, radius * 1.25)
        glow.setColorAt(0, self._theme.mention(blob.hue, SOLID))
        glow.setColorAt(CORE, self._theme.mention(blob.hue, SOFT))
        glow.setColorAt(1, self._theme.mention(blob.hue, 0))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(glow)
        painter.drawEllipse(middle, radius * 1.25, radius * 1.25)
        if blob.key == self._picked:
            pen = QPen(self._theme.mention(blob.hue), 2)
            pen.setStyle(Qt.PenStyle.SolidLine if self.hasFocus() else Qt.PenStyle.DashLine)
            painter.setPen(pen)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(middle, radius, radius)

    def _draw_name(self, painter: QPainter, blob: Blob) -> None:
        middle, radius = self.place_of(blob.key), self._radius()
        letters = font(bold=True)
        shown, words = elided(blob.phrase, letters, 2.6 * radius), QFontMetricsF(letters)
        box = QRectF(0, 0, words.horizontalAdvance(shown) + em(0.4), words.height())
        box.moveCenter(middle)
        draw_text(painter, box, shown, (letters, self._theme.colour("text")))

    def _draw_link(self, painter: QPainter, link: Link) -> None:
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
        self._draw_words(painter, link, QLineF(subject, others[0]).center(), role)

    def _draw_words(self, painter: QPainter, link: Link, middle: QPointF, role: str) -> None:
        letters = font(SMALL)
        words = QFontMetricsF(letters)
        box = QRectF(0, 0, words.horizontalAdvance(link.phrase) + em(0.8), words.height() + 4)
        box.moveCenter(middle)
        line, fill = QPen(self._theme.colour("line"), 1), self._theme.colour("raised")
        draw_rounded(painter, box, fill, line)
        draw_text(painter, box, link.phrase, (letters, self._theme.colour(role)))


def _kept_inside(place: QPointF) -> QPointF:
    return QPointF(
        min(max(place.x(), EDGE), 1 - EDGE),
        min(max(place.y(), EDGE), 1 - EDGE),
    )


WIDTH_EM = 11
MOST_OFFERED = 6


class ThingField(TextLine):
    """A field over another widget; hidden until it is opened.

    Emits ``name_entered`` with the text on Enter and stays open until closed; Esc or a click
    elsewhere closes it.

    Args:
        parent: Widget below it; gets the focus back.
    """

    name_entered = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, placeholderText=tr("Name, for example: red cup"))
        self._beneath = parent
        self._names = QStringListModel(self)
        self.setCompleter(
            QCompleter(
                *(self._names, self),
                caseSensitivity=Qt.CaseSensitivity.CaseInsensitive,
                maxVisibleItems=MOST_OFFERED,
            )
        )
        self.setAccessibleName(tr("Name of the object"))
        self.setFixedWidth(em(WIDTH_EM))
        self.returnPressed.connect(self._tell)
        self.hide()

    def open_at(self, place: QPoint, names: tuple[str, ...]) -> None:
        """Ask for a name.

        Args:
            place: Its centre in the parent's coordinates; kept inside the parent.
            names: Completions.
        """
        self._names.setStringList(list(names))
        self.clear()
        room = self._beneath.rect()
        own = self.sizeHint().expandedTo(self.minimumSize())
        left = min(max(place.x() - own.width() // 2, 0), max(room.width() - own.width(), 0))
        top = min(max(place.y() - own.height() // 2, 0), max(room.height() - own.height(), 0))
        self.move(left, top)
        self.show()
        self.raise_()
        self.setFocus()

    def give_back(self) -> None:
        """Close the field and return the focus to the parent."""
        self.hide()
        self._beneath.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close on Esc."""
        if event.key() == Qt.Key.Key_Escape:
            self.give_back()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Close when the focus moves elsewhere, except to the list of completions."""
        super().focusOutEvent(event)
        if event.reason() is not Qt.FocusReason.PopupFocusReason:
            self.hide()

    def _tell(self) -> None:
        if name := self.text().strip():
            self.name_entered.emit(name)
