"""The relations of a prompt as a graph: objects as words, relations as arrows."""

from collections.abc import Hashable

from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPen,
    QPolygonF,
)

from spatialstudio.ui.compose.widgets.layout_sketch import Blob, Link
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

ROOM_EM = 3.2
"""Margin at the sides, for half a word beyond its position."""
WIDEST_EM = 8
HEAD_EM = 0.3
TINT = 0.18
THIN, THICK = 1.4, 2.4
LEAST = 1e-6

THING_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
LINK_STEPS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}


class RelationGraph(PaintedWidget):
    """Shows objects and relations, and the selected ones.

    Emits ``thing_picked`` and ``link_picked`` with a key, ``change_asked`` and ``removal_asked``
    with a relation's key, and ``pair_picked`` with two objects' keys when one is dragged onto the
    other. Keys: Up and Down move between relations, Left and Right between objects, Enter changes a
    relation, Delete removes it.
    """

    thing_picked = Signal(object)
    link_picked = Signal(object)
    change_asked = Signal(object)
    removal_asked = Signal(object)
    pair_picked = Signal(object, object)

    def __init__(self, theme: Theme) -> None:
        super().__init__(
            theme,
            accessibleName=tr("Relation graph"),
            toolTip=tr("Drag one object onto another to add a relation"),
            focusPolicy=Qt.FocusPolicy.StrongFocus,
            sizePolicy=EXPANDING,
            minimumHeight=em(8),
        )
        self._things: tuple[Blob, ...] = ()
        self._links: tuple[Link, ...] = ()
        self._thing: Hashable = None
        self._link: Hashable = None
        self._from: Blob | None = None
        self._pointer = QPointF()

    def sizeHint(self) -> QSize:
        return QSize(em(16), em(12))

    def show_graph(self, things: tuple[Blob, ...], links: tuple[Link, ...]) -> None:
        """Set the objects and relations."""
        self._things, self._links = things, links
        self._tell_in_words()
        self.update()

    def show_thing(self, key: Hashable) -> None:
        """Mark the selected object; None for none."""
        self._thing = key
        self.update()

    def show_link(self, key: Hashable) -> None:
        """Mark the selected relation; None for none."""
        self._link = key
        self._tell_in_words()
        self.update()

    def box_of(self, key: Hashable) -> QRectF:
        """Return the rectangle of an object's or a relation's text."""
        for thing in self._things:
            if thing.key == key:
                return self._word_box(thing.phrase, self._middle_of(thing.key), bold=True)
        link = next(each for each in self._links if each.key == key)
        return self._word_box(link.phrase, self._line_of(link).center(), bold=False)

    def draw(self, painter: QPainter) -> None:
        """Draw the relations, then the objects over them."""
        if not self._things:
            painter.setPen(self._theme.colour("muted"))
            words = tr("The objects of the prompt and the relations between them.")
            centred = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(self.rect().adjusted(em(), 0, -em(), 0), centred, words)
        for link in self._links:
            self._draw_arrows(painter, link)
        if self._from is not None:
            painter.setPen(QPen(self._theme.colour("accent"), THIN, Qt.PenStyle.DashLine))
            painter.drawLine(self._middle_of(self._from.key), self._pointer)
        for link in self._links:
            box = self.box_of(link.key)
            line, fill = QPen(self._theme.colour("line"), 1), self._theme.colour("raised")
            draw_rounded(painter, box, fill, line)
            self._write(painter, link.phrase, box, (font(SMALL), self._ink(link)))
        for thing in self._things:
            self._draw_thing(painter, thing)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Select the item under the pointer; an object can then be dragged."""
        thing = self._thing_at(event.position())
        if thing is not None:
            self._from, self._pointer = thing, event.position()
            self.thing_picked.emit(thing.key)
        elif (link := self._link_at(event.position())) is not None:
            self.link_picked.emit(link.key)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._from is not None:
            self._pointer = event.position()
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        start, self._from = self._from, None
        target = self._thing_at(event.position())
        if start is not None and target is not None and target.key != start.key:
            self.pair_picked.emit(start.key, target.key)
        self.update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if (link := self._link_at(event.position())) is not None:
            self.change_asked.emit(link.key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        links = [link.key for link in self._links]
        things = [thing.key for thing in self._things]
        if event.key() in LINK_STEPS and links:
            by = LINK_STEPS[Qt.Key(event.key())]
            self.link_picked.emit(_next_to(self._link, links, by))
        elif event.key() in THING_STEPS and things:
            by = THING_STEPS[Qt.Key(event.key())]
            self.thing_picked.emit(_next_to(self._thing, things, by))
        elif event.matches(QKeySequence.StandardKey.Delete) and self._link in links:
            self.removal_asked.emit(self._link)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._link in links:
            self.change_asked.emit(self._link)
        else:
            super().keyPressEvent(event)

    def _tell_in_words(self) -> None:
        """Update the accessible description."""
        said = [self._in_words(link) for link in self._links]
        lone = [
            thing.phrase
            for thing in self._things
            if not any(thing.key in link.ends for link in self._links)
        ]
        if lone:
            said.append(tr("Objects without relations: {things}.").format(things=", ".join(lone)))
        self.setAccessibleDescription(" ".join(said))

    def _in_words(self, link: Link) -> str:
        marks = [
            word
            for word, is_so in (
                (tr("selected"), link.key == self._link),
                (tr("muted"), link.is_muted),
                (tr("contradictory"), link.is_doubtful),
            )
            if is_so
        ]
        return f"{link.sentence} ({', '.join(marks)})." if marks else f"{link.sentence}."

    def _middle_of(self, key: Hashable) -> QPointF:
        thing = next(each for each in self._things if each.key == key)
        room = QRectF(self.rect()).adjusted(em(ROOM_EM), em(1.2), -em(ROOM_EM), -em(1.2))
        return QPointF(room.left() + thing.x * room.width(), room.top() + thing.y * room.height())

    def _line_of(self, link: Link) -> QLineF:
        return QLineF(self._middle_of(link.ends[0]), self._middle_of(link.ends[1]))

    def _thing_at(self, place: QPointF) -> Blob | None:
        return next((e for e in self._things if self.box_of(e.key).contains(place)), None)

    def _link_at(self, place: QPointF) -> Link | None:
        return next((e for e in self._links if self.box_of(e.key).contains(place)), None)

    def _word_box(self, words: str, middle: QPointF, *, bold: bool) -> QRectF:
        measure = QFontMetricsF(font(bold=True) if bold else font(SMALL))
        width = min(measure.horizontalAdvance(words), em(WIDEST_EM))
        box = QRectF(0, 0, width + em(0.9), measure.height() + em(0.4))
        box.moveCenter(middle)
        box.moveLeft(min(max(box.left(), 1.0), max(self.width() - box.width() - 1, 1.0)))
        return box

    def _ink(self, link: Link) -> QColor:
        if link.is_doubtful:
            return self._theme.colour("warning")
        return self._theme.colour("text" if link.key == self._link else "muted")

    def _draw_arrows(self, painter: QPainter, link: Link) -> None:
        """Draw a line from the subject to each object."""
        pen = QPen(self._ink(link), THICK if link.key == self._link else THIN)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        if link.is_muted:
            pen.setStyle(Qt.PenStyle.DotLine)
        start = self._middle_of(link.ends[0])
        for end in link.ends[1:]:
            line = QLineF(start, self._middle_of(end))
            if line.length() < em():
                continue
            tip = _border(line, self.box_of(end))
            painter.setPen(pen)
            painter.drawLine(start, tip)
            self._draw_head(painter, line, tip)

    def _draw_head(self, painter: QPainter, line: QLineF, tip: QPointF) -> None:
        head = em(HEAD_EM)
        along = QPointF(line.dx() / line.length(), line.dy() / line.length())
        across = QPointF(-along.y(), along.x())
        back = tip - along * (1.8 * head)
        painter.setBrush(painter.pen().color())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawPolygon(QPolygonF([tip, back + across * head, back - across * head]))

    def _draw_thing(self, painter: QPainter, thing: Blob) -> None:
        box, is_picked = self.box_of(thing.key), thing.key == self._thing
        pen = QPen(self._theme.mention(thing.hue), THICK if is_picked else THIN)
        draw_rounded(painter, box, self._theme.colour("raised"))
        draw_rounded(painter, box, self._theme.mention(thing.hue, TINT), pen)
        look = font(bold=True), self._theme.colour("text")
        self._write(painter, thing.phrase, box, look)

    def _write(
        self, painter: QPainter, words: str, box: QRectF, look: tuple[QFont, QColor]
    ) -> None:
        draw_text(painter, box, elided(words, look[0], box.width()), look)


def _next_to(now: Hashable, keys: list[Hashable], by: int) -> Hashable:
    """Return the neighbouring key; the first one if none is selected."""
    return keys[(keys.index(now) + by) % len(keys)] if now in keys else keys[0]


def _border(line: QLineF, box: QRectF) -> QPointF:
    """Return the intersection of a line to a box's centre with its edge."""
    across = box.width() / 2 / max(abs(line.dx()), LEAST)
    down = box.height() / 2 / max(abs(line.dy()), LEAST)
    share = min(across, down, 1.0)
    return line.p2() - QPointF(line.dx(), line.dy()) * share
