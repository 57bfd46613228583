"""The base class of run list cells: background, focus frame and item data."""

from typing import ClassVar

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QListWidgetItem, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from spatialstudio.ui.theme.theme import Theme, em
from spatialstudio.ui.widgets.texts import plain_tip

ROLE = Qt.ItemDataRole.UserRole
FRAME_WIDTH = 1.5


class CellPainter(QStyledItemDelegate):
    """Draws a cell's background and focus frame; subclasses draw the content in ``draw``."""

    ground: ClassVar[str] = "hover"
    """Background colour of a selected cell."""
    rounding_em: ClassVar[float] = 0.2

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Draw a cell."""
        place, rounding = QRectF(option.rect), em(self.rounding_em)
        is_chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        if is_chosen:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.colour(self.ground))
            painter.drawRoundedRect(place, rounding, rounding)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self._theme.colour("accent"), FRAME_WIDTH))
            painter.drawRoundedRect(place.adjusted(1, 1, -1, -1), rounding, rounding)
        self.draw(painter, place, index.data(ROLE), is_chosen)
        painter.restore()

    def draw(self, painter: QPainter, place: QRectF, content: object, is_chosen: bool) -> None:
        """Draw the content of a cell.

        Args:
            painter: Its state is restored afterwards.
            place: Rectangle of the cell.
            content: Data of the item.
            is_chosen: Whether the cell is selected.
        """
        raise NotImplementedError


def described_item(content: object, words: str) -> QListWidgetItem:
    """Return the item of a cell, with its description for screen readers and tooltips."""
    item = QListWidgetItem()
    item.setData(ROLE, content)
    item.setData(Qt.ItemDataRole.AccessibleTextRole, words)
    item.setToolTip(plain_tip(words))
    return item
