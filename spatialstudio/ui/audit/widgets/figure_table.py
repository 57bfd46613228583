"""A small table of figures to read and copy."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem

from spatialstudio.ui.theme.theme import SMALL, em, font

LOWEST_EM, HIGHEST_EM = 4, 14
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class FigureTable(QTableWidget):
    """Shows rows of texts; the first column is aligned to the left. Ctrl+C copies them as TSV.

    Args:
        name: Accessible name.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self._columns: tuple[str, ...] = ()
        self._rows: tuple[tuple[str, ...], ...] = ()
        self.setAccessibleName(name)
        self.setFont(font(SMALL))
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setTabKeyNavigation(False)
        self.setShowGrid(False)
        self.verticalHeader().hide()
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.horizontalHeader().setStretchLastSection(False)

    def show_rows(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Show a header and rows; a row of one text is a heading of those below it."""
        self._columns, self._rows = tuple(columns), tuple(map(tuple, rows))
        self.clear()
        self.setColumnCount(len(columns))
        self.setRowCount(len(rows))
        self.setHorizontalHeaderLabels(list(columns))
        self.clearSpans()
        for number, texts in enumerate(rows):
            if len(texts) == 1:
                self.setSpan(number, 0, 1, len(columns))
            for place, text in enumerate(texts):
                item = QTableWidgetItem(text)
                if place:
                    item.setTextAlignment(RIGHT)
                self.setItem(number, place, item)
        for place in range(len(columns)):
            header = self.horizontalHeaderItem(place)
            if header is not None:
                header.setTextAlignment(RIGHT if place else LEFT)
        self.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.updateGeometry()

    @property
    def tab_separated(self) -> str:
        """The table as tab-separated text, with its header."""
        return "\n".join("\t".join(row) for row in (self._columns, *self._rows))

    def sizeHint(self) -> QSize:
        height = self.horizontalHeader().sizeHint().height() + 2 * self.frameWidth()
        height += sum(self.rowHeight(number) for number in range(self.rowCount()))
        return QSize(em(20), min(max(height, em(LOWEST_EM)), em(HIGHEST_EM)))

    def minimumSizeHint(self) -> QSize:
        return QSize(em(10), min(self.sizeHint().height(), em(LOWEST_EM)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(self.tab_separated)
        else:
            super().keyPressEvent(event)
