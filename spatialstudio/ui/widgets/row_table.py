"""A plain table of texts: a row to pick, or to open."""

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem

from spatialstudio.ui.theme.theme import SMALL, em, font
from spatialstudio.ui.widgets.texts import plain_tip

ROW_EM = 1.5
USUAL_EM = (18, 9)
LOWEST_EM = 6
WIDEST_EM = 22


class RowTable(QTableWidget):
    """Shows rows of texts.

    Emits ``row_picked`` with a row's number when the user moves to it, and ``row_opened`` on a
    double click or Enter.

    Args:
        name: Accessible name.
        titles: Titles of the columns.
    """

    row_picked = Signal(int)
    row_opened = Signal(int)

    def __init__(self, name: str, titles: Sequence[str]) -> None:
        super().__init__(0, len(titles))
        self.setAccessibleName(name)
        self.setFont(font(SMALL))
        self.setHorizontalHeaderLabels(list(titles))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)
        self.setAlternatingRowColors(True)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(em(ROW_EM))
        across = self.horizontalHeader()
        across.setFont(font(SMALL))
        across.setHighlightSections(False)
        across.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        across.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        across.setStretchLastSection(True)
        self.setMinimumHeight(em(LOWEST_EM))
        self.currentCellChanged.connect(self._tell)
        self.activated.connect(self._open)

    def sizeHint(self) -> QSize:
        """Return the size of the header and a few rows; with less room the table scrolls."""
        return QSize(em(USUAL_EM[0]), em(USUAL_EM[1]))

    def show_titles(self, titles: Sequence[str]) -> None:
        """Set other columns, and remove all rows."""
        with QSignalBlocker(self):
            self.setRowCount(0)
            self.setColumnCount(len(titles))
            self.setHorizontalHeaderLabels(list(titles))

    def show_rows(self, rows: Sequence[Sequence[str]], picked: int = -1) -> None:
        """Show these rows; ``picked`` is marked."""
        with QSignalBlocker(self):
            self.setRowCount(len(rows))
            for number, row in enumerate(rows):
                for place, text in enumerate(row):
                    item = QTableWidgetItem(text)
                    item.setToolTip(plain_tip(text))
                    self.setItem(number, place, item)
            self._fit_columns()
            self.setCurrentCell(picked, 0)

    def showEvent(self, event: QShowEvent) -> None:
        """Give the titles of an empty table their room, in the font of the shown window."""
        super().showEvent(event)
        if self.rowCount() == 0:
            self._fit_columns()

    def _fit_columns(self) -> None:
        self.resizeColumnsToContents()
        for place in range(self.columnCount()):
            self.setColumnWidth(place, min(self.columnWidth(place), em(WIDEST_EM)))

    def _tell(self, row: int, _column: int, before: int, _: int) -> None:
        if row >= 0 and row != before:
            self.row_picked.emit(row)

    def _open(self, index: QModelIndex) -> None:
        self.row_opened.emit(index.row())
