"""A reorderable list of running, waiting, failed and interrupted runs."""

from typing import cast

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QDropEvent, QFontMetrics, QImage, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListWidget,
    QStyleOptionViewItem,
)

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.run.widgets.cell_painter import (
    ROLE,
    CellPainter,
    described_item,
)
from spatialstudio.ui.theme.theme import (
    SMALL,
    Theme,
    em,
    font,
)
from spatialstudio.ui.widgets.painting import draw_text, elided
from spatialstudio.ui.widgets.texts import tr

ROW_EM = 3.1
PAD_EM = 0.4


@frozen(eq=False)
class QueueRow:
    """A row of the queue.

    Attributes:
        key: Id of the entry.
        title: "seed 7, with baseline".
        detail: Its prompt.
        state: State label: "waiting".
        icon: Name of the state's icon.
        role: The icon's colour.
        picture: None if there is none.
        can_move: Whether it is waiting and can be reordered.
    """

    key: str
    title: str
    detail: str
    state: str
    icon: str
    role: str
    picture: QImage | None = None
    can_move: bool = False

    @property
    def words(self) -> str:
        """Full description for screen readers and tooltips."""
        return f"{self.state}: {self.title}, {self.detail}"


class QueueRowPainter(CellPainter):
    """Draws the rows of a queue."""

    def sizeHint(
        self,
        option: QStyleOptionViewItem,  # noqa: ARG002 - Qt's signature
        index: QModelIndex | QPersistentModelIndex,  # noqa: ARG002 - Qt's signature
    ) -> QSize:
        return QSize(em(10), em(ROW_EM))

    def draw(self, painter: QPainter, place: QRectF, content: object, is_chosen: bool) -> None:  # noqa: ARG002 - alike
        """Draw picture, title, detail and state."""
        row = cast("QueueRow", content)
        pad = em(PAD_EM)
        side = place.height() - 2 * pad
        square = QRectF(place.left() + pad, place.top() + pad, side, side)
        self._draw_picture(painter, square, row)
        words = place.adjusted(side + 3 * pad, pad, -pad, -pad)
        self._draw_words(painter, words, row)

    def _draw_picture(self, painter: QPainter, square: QRectF, row: QueueRow) -> None:
        painter.fillRect(square, self._theme.colour("sunken"))
        if row.picture is not None:
            painter.drawImage(square, row.picture)
            return
        inner = square.adjusted(em(0.5), em(0.5), -em(0.5), -em(0.5))
        self._theme.icon(row.icon, row.role).paint(painter, inner.toRect())

    def _draw_words(self, painter: QPainter, place: QRectF, row: QueueRow) -> None:
        above, below = QRectF(place), QRectF(place)
        above.setHeight(place.height() / 2)
        below.setTop(above.bottom())
        middle = Qt.AlignmentFlag.AlignVCenter
        small, bold = font(SMALL), font(bold=True)
        muted = (small, self._theme.colour("muted"))
        state = QFontMetrics(small).horizontalAdvance(row.state) + em(0.4)
        title_needs = QFontMetrics(bold).horizontalAdvance(row.title)
        has_room = title_needs + state <= above.width()  # else only the icon shows the state
        if has_room:
            draw_text(painter, above, row.state, muted, middle | Qt.AlignmentFlag.AlignRight)
            above.setRight(above.right() - state)
        draw_text(painter, below, elided(row.detail, small, below.width()), muted, middle)
        title = elided(row.title, bold, above.width())
        draw_text(painter, above, title, (bold, self._theme.colour("text")), middle)


class QueueList(QListWidget):
    """Shows the queue; waiting rows move by drag, or with Alt and the arrow keys.

    Emits, on user action only, ``order_picked`` with the keys of the movable rows in their new
    order; ``removal_picked`` with keys, on Del; ``row_picked`` with a key, on a double click or
    Enter; ``menu_asked`` with a key and a screen position.
    """

    order_picked = Signal(tuple)
    removal_picked = Signal(tuple)
    row_picked = Signal(str)
    menu_asked = Signal(str, object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName(tr("Queue"))
        self._painter = QueueRowPainter(theme)
        self.setItemDelegate(self._painter)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(
            lambda place: self._ask_menu(self.viewport().mapToGlobal(place))
        )
        self.itemDoubleClicked.connect(lambda item: self.row_picked.emit(item.data(ROLE).key))
        theme.changed.connect(self.viewport().update)

    @property
    def picked(self) -> tuple[str, ...]:
        """Keys of the selected rows, in order."""
        chosen = (self.item(place) for place in range(self.count()))
        return tuple(item.data(ROLE).key for item in chosen if item.isSelected())

    def show_rows(self, rows: tuple[QueueRow, ...]) -> None:
        """Set the rows; the selection is preserved."""
        picked, current = self.picked, self._current_key()
        self.clear()
        for row in rows:
            item = described_item(row, row.words)
            if not row.can_move:
                item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsDragEnabled)
            self.addItem(item)
            item.setSelected(row.key in picked)
            if row.key == current:
                stays = self.selectionModel().SelectionFlag.NoUpdate
                self.setCurrentItem(item, stays)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        is_arrow = key in (Qt.Key.Key_Up, Qt.Key.Key_Down)
        if is_arrow and event.modifiers() & Qt.KeyboardModifier.AltModifier:
            self.move_picked(-1 if key == Qt.Key.Key_Up else 1)
        elif key == Qt.Key.Key_Delete and self.picked:
            self.removal_picked.emit(self.picked)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers():
            if current := self._current_key():
                self.row_picked.emit(current)
        elif key == Qt.Key.Key_Menu:
            place = self.visualRect(self.currentIndex()).center()
            self._ask_menu(self.viewport().mapToGlobal(place))
        else:
            super().keyPressEvent(event)

    def move_picked(self, by: int) -> None:
        """Move the current row by a number of places among the movable rows."""
        keys, current = list(self._movable()), self._current_key()
        if current in keys:
            place = keys.index(current)
            keys.insert(min(max(place + by, 0), len(keys) - 1), keys.pop(place))
            self._tell_order(keys)

    def dropEvent(self, event: QDropEvent) -> None:
        """Emit the order of a drag; the rows move when it is shown."""
        target = self.indexAt(event.position().toPoint())
        below = self.dropIndicatorPosition() is QAbstractItemView.DropIndicatorPosition.BelowItem
        place = target.row() + below if target.isValid() else self.count()
        rows = [self.item(number).data(ROLE) for number in range(self.count())]
        moved = [row for row in rows if row.key in self.picked and row.can_move]
        before = [row for row in rows[:place] if row not in moved]
        behind = [row for row in rows[place:] if row not in moved]
        event.setDropAction(Qt.DropAction.CopyAction)  # else Qt removes the rows itself
        event.accept()
        self._tell_order([row.key for row in (*before, *moved, *behind) if row.can_move])

    def _tell_order(self, keys: list[str]) -> None:
        if tuple(keys) != self._movable():
            self.order_picked.emit(tuple(keys))

    def _movable(self) -> tuple[str, ...]:
        rows = [self.item(place).data(ROLE) for place in range(self.count())]
        return tuple(row.key for row in rows if row.can_move)

    def _current_key(self) -> str:
        item = self.currentItem()
        return "" if item is None else str(item.data(ROLE).key)

    def _ask_menu(self, place: object) -> None:
        if current := self._current_key():
            self.menu_asked.emit(current, place)
