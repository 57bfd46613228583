"""The table of a benchmark: a row per cell that matches the filter, to sort, open and copy."""

from collections.abc import Callable
from enum import IntEnum
from typing import Any

import numpy as np
from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QIcon, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from spatialstudio.domain.benchmark_cells import NO_REASON, CellState, CellTable
from spatialstudio.domain.library import Whole
from spatialstudio.ui.benchmark.widgets.state_marks import StateMarks, state_words
from spatialstudio.ui.theme.theme import SMALL, Theme, em, font
from spatialstudio.ui.widgets.texts import plain_tip, tr

Role = Qt.ItemDataRole
Index = QModelIndex | QPersistentModelIndex
NOT_MEASURED = "–"  # noqa: RUF001 - a dash
ROW_EM = 1.6
WIDTHS_EM = (19, 8, 4, 8.5, 10, 6.5, 4.5, 5.5, 5.5)
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
DOWN, UP = Qt.SortOrder.DescendingOrder, Qt.SortOrder.AscendingOrder


class Column(IntEnum):
    """The columns, in order."""

    PROMPT = 0
    METHOD = 1
    SEED = 2
    STATE = 3
    REASON = 4
    CONFIDENCE = 5
    PSE = 6
    SECONDS = 7
    PASSES = 8


ROLES = (
    *(Role.DisplayRole, Role.ToolTipRole, Role.TextAlignmentRole),
    *(Role.DecorationRole, Role.AccessibleTextRole),
)
NUMBERS = (Column.SEED, Column.CONFIDENCE, Column.PSE, Column.SECONDS, Column.PASSES)


def titles() -> tuple[str, ...]:
    """Return the titles of the columns."""
    return (
        *(tr("Prompt"), tr("Method"), tr("Seed"), tr("Verdict"), tr("Reason")),
        *(tr("Confidence"), tr("PSE"), tr("Seconds"), tr("Passes")),
    )


class CellModel(QAbstractTableModel):
    """Table model of cells; rows are numbers of cells, values are read when they are shown."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.cells: Whole = np.zeros(0, np.int64)
        self.table: CellTable | None = None
        self._marks = StateMarks(theme)
        self._titles = titles()
        self._words = state_words()
        self._icons: dict[CellState, QIcon] = {}
        theme.changed.connect(self._icons.clear)
        self._order: tuple[int, Qt.SortOrder] | None = None

    def take(self, table: CellTable, cells: Whole) -> None:
        """Show the cells of a table, in the chosen order; unchanged rows are kept."""
        matches = cells if self._order is None else self._sorted(table, cells)
        is_same = self.table is not None and np.array_equal(matches, self.cells)
        if is_same:
            self.table = table
            last = self.index(len(matches) - 1, len(self._titles) - 1)
            self.dataChanged.emit(self.index(0, 0), last)
        else:
            self.beginResetModel()
            self.table, self.cells = table, matches
            self.endResetModel()

    def sort(self, column: int, order: Qt.SortOrder = UP) -> None:
        """Sort by a column; cells without a value come last."""
        self._order = None if column < 0 else (column, order)
        if self.table is not None and self._order is not None:
            self.beginResetModel()
            self.cells = self._sorted(self.table, np.sort(self.cells))
            self.endResetModel()

    def rowCount(self, parent: Index | None = None) -> int:  # noqa: ARG002 - Qt's signature
        """Return the number of cells."""
        return len(self.cells)

    def columnCount(self, parent: Index | None = None) -> int:  # noqa: ARG002 - Qt's signature
        """Return the number of columns."""
        return len(self._titles)

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        """Return the text, mark or alignment of a field."""
        if self.table is None or role not in ROLES:
            return None
        cell, column = int(self.cells[index.row()]), index.column()
        match role:
            case Role.DisplayRole:
                return self._text(cell, column)
            case Role.ToolTipRole if column in (Column.PROMPT, Column.REASON):
                return plain_tip(self._text(cell, column))
            case Role.TextAlignmentRole:
                return RIGHT if column in NUMBERS else LEFT
            case Role.DecorationRole if column == Column.STATE:
                return self._icon(self.table.state_of(cell))
            case Role.AccessibleTextRole:
                return f"{self._titles[column]}: {self._text(cell, column)}"
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole
    ) -> Any:
        """Return the title of a column."""
        if orientation is Qt.Orientation.Horizontal:
            if role == Role.DisplayRole:
                return self._titles[section]
            if role == Role.TextAlignmentRole:
                return RIGHT if section in NUMBERS else LEFT
        return None

    def _icon(self, state: CellState) -> QIcon:
        if state not in self._icons:
            self._icons[state] = QIcon(self._marks.pixmap(state, em(1.2), 2.0))
        return self._icons[state]

    def _text(self, cell: int, column: int) -> str:
        table = self.table
        assert table is not None
        method, prompt, seed = table.grid.place(cell)
        match column:
            case Column.PROMPT:
                return table.grid.prompts[prompt].text
            case Column.METHOD:
                return table.grid.methods[method]
            case Column.SEED:
                return str(table.grid.seeds[seed])
            case Column.STATE:
                return self._words[table.state_of(cell)]
            case Column.REASON:
                return table.causes.get(cell) or ", ".join(table.reasons_of(cell))
        value = _number(table, column, cell)
        digits = 0 if column == Column.PASSES else 2
        return NOT_MEASURED if np.isnan(value) else f"{value:.{digits}f}"

    def _sorted(self, table: CellTable, cells: Whole) -> Whole:
        assert self._order is not None
        column, order = self._order
        keys = _values(table, column)[cells].astype(np.float64)
        keys = np.where(np.isnan(keys), np.inf, keys if order is UP else -keys)
        return cells[np.argsort(keys, kind="stable")]


def _values(table: CellTable, column: int) -> Any:
    """Return (N,) values of a column that sort as it is read; NaN where there is none."""
    method, prompt, seed = table.grid.places()
    match column:
        case Column.PROMPT:
            return _ranks([each.text for each in table.grid.prompts])[prompt]
        case Column.METHOD:
            return _ranks(list(table.grid.methods))[method]
        case Column.SEED:
            return np.array(table.grid.seeds)[seed]
        case Column.STATE:
            return table.state
        case Column.REASON:
            ranks = np.append(_ranks(list(table.reasons)), np.nan)
            return ranks[np.where(table.reason == NO_REASON, -1, table.reason)][:, 0]
        case Column.CONFIDENCE:
            return np.fmin.reduce(table.confidence, axis=1)
        case Column.PSE:
            return np.fmin.reduce(table.pse, axis=1)
        case Column.SECONDS:
            return table.seconds
    return table.passes


def _number(table: CellTable, column: int, cell: int) -> float:
    """Return the number of a cell in a column of numbers; NaN where there is none."""
    match column:
        case Column.CONFIDENCE:
            return float(np.fmin.reduce(table.confidence[cell]))
        case Column.PSE:
            return float(np.fmin.reduce(table.pse[cell]))
        case Column.SECONDS:
            return float(table.seconds[cell])
    return float(table.passes[cell])


def _ranks(texts: list[str]) -> Any:
    """Return the rank of each text in alphabetical order."""
    order = {text: float(rank) for rank, text in enumerate(sorted(set(texts), key=str.lower))}
    return np.array([order[text] for text in texts], np.float64)


class CellList(QTableView):
    """Shows cells as rows; a click on a header sorts.

    Emits ``cell_opened`` with the number of a cell on a click or Return.

    Args:
        theme: Colours of the marks.
        describe: Returns what a cell shows, for screen readers.
    """

    cell_opened = Signal(int)

    def __init__(self, theme: Theme, describe: Callable[[int], str]) -> None:
        super().__init__()
        self._model = CellModel(theme)
        self._describe = describe
        self.setModel(self._model)
        self.setAccessibleName(tr("Table of pictures"))
        self.setFont(font(SMALL))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setAlternatingRowColors(True)
        self.setFrameShape(QTableView.Shape.NoFrame)
        down, across = self.verticalHeader(), self.horizontalHeader()
        down.hide()
        down.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        down.setDefaultSectionSize(em(ROW_EM))
        across.setFont(font(SMALL))
        across.setHighlightSections(False)
        across.setMinimumHeight(em(1.9))
        for column, width in enumerate(WIDTHS_EM):
            self.setColumnWidth(column, em(width))
        across.setSectionResizeMode(Column.PROMPT, QHeaderView.ResizeMode.Stretch)
        across.setMinimumSectionSize(em(3))
        across.setSortIndicatorClearable(True)
        across.setSortIndicator(-1, UP)
        self.setSortingEnabled(True)
        self.clicked.connect(self._open)
        self.selectionModel().currentRowChanged.connect(self._tell_screen_readers)

    def sizeHint(self) -> QSize:
        return QSize(em(40), em(30))

    def show_table(self, table: CellTable, matches: Whole) -> None:
        """Show the matching cells."""
        current, at = self.current, self.verticalScrollBar().value()
        self._model.take(table, matches)
        if current is not None and self.current is None:
            rows = np.flatnonzero(self._model.cells == current)
            if len(rows):
                self.selectRow(int(rows[0]))
        self.verticalScrollBar().setValue(at)

    @property
    def current(self) -> int | None:
        """Number of the selected cell; None without one."""
        row = self.currentIndex().row()
        return int(self._model.cells[row]) if 0 <= row < len(self._model.cells) else None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _open(self, index: Index) -> None:
        if 0 <= index.row() < len(self._model.cells):
            self.cell_opened.emit(int(self._model.cells[index.row()]))

    def _tell_screen_readers(self) -> None:
        cell = self.current
        self.setAccessibleDescription("" if cell is None else self._describe(cell))
