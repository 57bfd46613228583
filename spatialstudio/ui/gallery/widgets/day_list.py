"""The gallery's timeline: days with a bar for the number of runs."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from spatialstudio.ui.theme.theme import (
    SMALL,
    Theme,
    em,
    font,
)
from spatialstudio.ui.widgets.fitted_list import FittedList
from spatialstudio.ui.widgets.texts import tr

RUNS = Qt.ItemDataRole.UserRole
ROW_EM = 2.2


class DayDelegate(QStyledItemDelegate):
    """Draws a day, its number of runs, and a bar relative to the busiest day."""

    def __init__(self, theme: Theme, parent: "DayList") -> None:
        super().__init__(parent)
        self._theme = theme
        self._list = parent

    def sizeHint(
        self,
        option: QStyleOptionViewItem,  # noqa: ARG002 - Qt's signature
        index: QModelIndex | QPersistentModelIndex,  # noqa: ARG002
    ) -> QSize:
        return QSize(em(8), em(ROW_EM))

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Draw one day."""
        place = QRectF(option.rect)
        state = option.state
        if state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            painter.fillRect(place, self._theme.colour("hover"))
        inner = place.adjusted(em(0.5), em(0.15), -em(0.5), -em(0.75))
        middle, runs = Qt.AlignmentFlag.AlignVCenter, str(index.data(RUNS))
        painter.setFont(font(SMALL))
        painter.setPen(self._theme.colour("muted"))
        painter.drawText(inner, middle | Qt.AlignmentFlag.AlignRight, runs)
        room = inner.width() - painter.fontMetrics().horizontalAdvance(runs) - em(0.4)
        painter.setFont(font())
        painter.setPen(self._theme.colour("text"))
        elide = Qt.TextElideMode.ElideRight
        title = painter.fontMetrics().elidedText(index.data(), elide, round(room))
        painter.drawText(inner, middle | Qt.AlignmentFlag.AlignLeft, title)
        bar = QRectF(inner.left(), place.bottom() - em(0.6), inner.width(), em(0.22))
        painter.fillRect(bar, self._theme.colour("sunken"))
        bar.setWidth(bar.width() * index.data(RUNS) / self._list.most)
        painter.fillRect(bar, self._theme.colour("faint"))


class DayList(FittedList):
    """Shows days, the newest first. Emits ``day_picked`` with a day's index."""

    day_picked = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__(tr("Timeline"))
        self.most = 1
        self.setItemDelegate(DayDelegate(theme, self))
        self.setMouseTracking(True)
        self.setUniformItemSizes(True)
        self.itemClicked.connect(self._tell)
        self.itemActivated.connect(self._tell)
        theme.changed.connect(self.viewport().update)

    def show_days(self, days: tuple[tuple[str, int], ...]) -> None:
        """Show these day titles with their numbers of runs."""
        self.clear()
        self.most = max((runs for _, runs in days), default=1)
        for title, runs in days:
            item = QListWidgetItem(title)
            item.setData(RUNS, runs)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{title}: {runs}")
            self.addItem(item)

    def _tell(self, item: QListWidgetItem) -> None:
        self.day_picked.emit(self.row(item))
