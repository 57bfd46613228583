"""A layout that arranges widgets in wrapped lines, like words."""

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

from spatialstudio.ui.theme.theme import em


def flow(*widgets: QWidget, gap: float) -> QWidget:
    """Return a widget that arranges others in wrapped lines; ``gap`` is in ``em``."""
    whole = QWidget()
    whole.setLayout(FlowLayout(em(gap), *widgets))
    return whole


class FlowLayout(QLayout):
    """Lines of widgets at their preferred width; the height follows from the width.

    Args:
        gap: Between widgets and between lines, in pixels.
        widgets: The first widgets.
    """

    def __init__(self, gap: int, *widgets: QWidget) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self._gap = gap
        self.setContentsMargins(0, 0, 0, 0)
        for widget in widgets:
            self.addWidget(widget)

    def addItem(self, item: QLayoutItem) -> None:
        """Append an item; called by Qt."""
        self._items.append(item)

    def count(self) -> int:
        """Return the number of items."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """Return an item; None beyond the last."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Remove and return an item; None beyond the last."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of all lines."""
        return self._arrange(QRect(0, 0, width, 0), moves=False)

    def setGeometry(self, room: QRect) -> None:
        super().setGeometry(room)
        self._arrange(room, moves=True)

    def sizeHint(self) -> QSize:
        sizes = [item.sizeHint() for item in self._shown()]
        gaps = self._gap * max(len(sizes) - 1, 0)
        width = sum(size.width() for size in sizes) + gaps
        return QSize(width, max((size.height() for size in sizes), default=0))

    def minimumSize(self) -> QSize:
        """Return the size of the largest widget."""
        size = QSize()
        for item in self._shown():
            size = size.expandedTo(item.minimumSize())
        return size

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _arrange(self, room: QRect, *, moves: bool) -> int:
        """Return the height of all lines; widgets in a line are centred vertically."""
        line: list[tuple[QLayoutItem, QSize, int]] = []
        x, y, height = room.left(), room.top(), 0
        for item in self._shown():
            size = item.sizeHint().boundedTo(QSize(room.width(), item.sizeHint().height()))
            size = size.expandedTo(item.minimumSize())
            if line and x + size.width() > room.right() + 1:
                self._place(line, y, height, moves=moves)
                line, x, y, height = [], room.left(), y + height + self._gap, 0
            line.append((item, size, x))
            x += size.width() + self._gap
            height = max(height, size.height())
        self._place(line, y, height, moves=moves)
        return y + height - room.top()

    def _place(
        self, line: list[tuple[QLayoutItem, QSize, int]], y: int, height: int, *, moves: bool
    ) -> None:
        for item, size, x in line if moves else ():
            top = y + (height - size.height()) // 2
            item.setGeometry(QRect(QPoint(x, top), size))
