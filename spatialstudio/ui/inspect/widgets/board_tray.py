"""A reorderable tray of pinned frames."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QDropEvent, QIcon, QImage, QKeyEvent, QPixmap
from PySide6.QtWidgets import QAbstractItemView, QListView, QListWidget, QListWidgetItem

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.theme.theme import (
    SMALL,
    em,
    font,
)
from spatialstudio.ui.widgets.texts import plain_tip, tr

PICTURE_EM = 6.2
CELL_EM = (8.4, 8.6)
KEY = Qt.ItemDataRole.UserRole
CONTROL = Qt.KeyboardModifier.ControlModifier
MOVES = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


@frozen(eq=False, kw_only=False)
class TrayFrame:
    """A frame of the tray.

    Attributes:
        key: Id emitted when it is picked.
        picture: Of any size.
        caption: Under it.
        words: Full description for screen readers and tooltips.
    """

    key: str
    picture: QImage
    caption: str
    words: str


class BoardTray(QListWidget):
    """Shows frames side by side.

    Emits, on user action only, ``frame_picked`` with a key on Enter or double-click,
    ``removal_asked`` with a key on Delete, and ``order_picked`` with all keys when a frame is
    dragged, or moved with Ctrl and an arrow.
    """

    frame_picked = Signal(str)
    removal_asked = Signal(str)
    order_picked = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "strip")
        self.setAccessibleName(tr("Pinned frames"))
        self.setViewMode(QListView.ViewMode.IconMode)
        self.setFlow(QListView.Flow.LeftToRight)
        self.setWrapping(True)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setMovement(QListView.Movement.Snap)
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setIconSize(QSize(em(PICTURE_EM), em(PICTURE_EM)))
        self.setGridSize(QSize(*(em(side) for side in CELL_EM)))
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setFont(font(SMALL))
        self.itemActivated.connect(lambda item: self.frame_picked.emit(item.data(KEY)))

    @property
    def keys(self) -> tuple[str, ...]:
        """The frames' keys, in order."""
        return tuple(self.item(row).data(KEY) for row in range(self.count()))

    @property
    def current_key(self) -> str:
        """Key of the frame with keyboard focus; empty for none."""
        item = self.currentItem()
        return "" if item is None else str(item.data(KEY))

    def show_frames(self, frames: tuple[TrayFrame, ...]) -> None:
        """Show these frames in this order; the current frame is preserved."""
        current = self.current_key
        self.clear()
        for frame in frames:
            picture = QPixmap.fromImage(frame.picture)
            item = QListWidgetItem(QIcon(picture), frame.caption, self)
            item.setData(KEY, frame.key)
            item.setToolTip(plain_tip(frame.words))
            item.setData(Qt.ItemDataRole.AccessibleTextRole, frame.words)
        if current in self.keys:
            self.setCurrentRow(self.keys.index(current))
        elif self.count():
            self.setCurrentRow(self.count() - 1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the current frame with Ctrl and an arrow, remove it on Delete."""
        if event.modifiers() & CONTROL and event.key() in MOVES:
            self._move_current(MOVES[Qt.Key(event.key())])
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and self.current_key:
            self.removal_asked.emit(self.current_key)
        else:
            super().keyPressEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Emit the new order after a drag."""
        before, dragged = self.keys, self.current_key
        at = self.indexAt(event.position().toPoint())
        event.setDropAction(Qt.DropAction.IgnoreAction)
        event.accept()
        self._tell_moved(before, dragged, at.row() if at.isValid() else len(before) - 1)

    def _move_current(self, by: int) -> None:
        self._tell_moved(self.keys, self.current_key, self.currentRow() + by)

    def _tell_moved(self, keys: tuple[str, ...], key: str, place: int) -> None:
        others = [each for each in keys if each != key]
        if key in keys and 0 <= place < len(keys):
            order = (*others[:place], key, *others[place:])
            if order != keys:
                self.order_picked.emit(order)
