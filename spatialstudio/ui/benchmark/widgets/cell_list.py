"""The table of a benchmark: a row per cell that matches the filter, to sort, open and copy."""

from collections.abc import Callable
from enum import IntEnum
from functools import lru_cache
from math import isnan
from typing import Any

import numpy as np
from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPaintEvent, QStaticText
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from spatialstudio.domain.benchmark_cells import NO_REASON, CellState, CellTable
from spatialstudio.domain.library import Whole
from spatialstudio.ui.benchmark.widgets.state_marks import StateMarks, state_words
from spatialstudio.ui.theme.theme import SMALL, Theme, em, font
from spatialstudio.ui.widgets.painting import elided, painting
from spatialstudio.ui.widgets.texts import plain_tip, tr

Role = Qt.ItemDataRole
Index = QModelIndex | QPersistentModelIndex
NOT_MEASURED = "–"  # noqa: RUF001 - a dash
ROW_EM = 1.6
PADDING_EM = 0.4
MARK_EM = 1.2
FITTED_TEXTS = 4096
"""Laid-out texts that are kept for the next frames."""
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


ROLES = (Role.DisplayRole, Role.ToolTipRole, Role.AccessibleTextRole)
NUMBERS = (Column.SEED, Column.CONFIDENCE, Column.PSE, Column.SECONDS, Column.PASSES)


def titles() -> tuple[str, ...]:
    """Return the titles of the columns."""
    return (
        *(tr("Prompt"), tr("Method"), tr("Seed"), tr("Verdict"), tr("Reason")),
        *(tr("Confidence"), tr("PSE"), tr("Seconds"), tr("Passes")),
    )


class CellModel(QAbstractTableModel):
    """Table model of cells; rows are numbers of cells, values are read when they are shown."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: Whole = np.zeros(0, np.int64)
        self.table: CellTable | None = None
        self._titles = titles()
        self._words = state_words()
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
        """Return the text or tip of a field; the view draws the rows from ``texts``."""
        if self.table is None or role not in ROLES:
            return None
        column = index.column()
        (text,) = self.texts(range(index.row(), index.row() + 1), column)
        match role:
            case Role.ToolTipRole:
                return plain_tip(text) if column in (Column.PROMPT, Column.REASON) else None
            case Role.AccessibleTextRole:
                return f"{self._titles[column]}: {text}"
        return text

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

    def states(self, rows: range) -> list[CellState]:
        """Return the states of rows."""
        assert self.table is not None
        return [CellState(each) for each in self.table.state[self._cells(rows)].tolist()]

    def texts(self, rows: range, column: int) -> list[str]:
        """Return the texts of a column in rows."""
        table = self.table
        assert table is not None
        cells = self._cells(rows)
        match column:
            case Column.STATE:
                return [self._words[each] for each in self.states(rows)]
            case Column.REASON:
                return [
                    table.causes.get(each) or ", ".join(table.reasons_of(each))
                    for each in cells.tolist()
                ]
            case Column.PROMPT | Column.METHOD | Column.SEED:
                return self._places(cells, column)
        digits = 0 if column == Column.PASSES else 2
        numbers = _numbers(table, column, cells).tolist()
        return [NOT_MEASURED if isnan(each) else f"{each:.{digits}f}" for each in numbers]

    def _cells(self, rows: range) -> Whole:
        return self.cells[rows.start : rows.stop]

    def _places(self, cells: Whole, column: int) -> list[str]:
        assert self.table is not None
        grid = self.table.grid
        method, prompt, seed = grid.places(cells)
        match column:
            case Column.PROMPT:
                return [grid.prompts[each].text for each in prompt.tolist()]
            case Column.METHOD:
                return [grid.methods[each] for each in method.tolist()]
        return [str(grid.seeds[each]) for each in seed.tolist()]

    def _sorted(self, table: CellTable, cells: Whole) -> Whole:
        assert self._order is not None
        column, order = self._order
        keys = _values(table, column)[cells].astype(np.float64)
        keys = np.where(np.isnan(keys), np.inf, keys if order is UP else -keys)
        return cells[np.argsort(keys, kind="stable")]


def _values(table: CellTable, column: int) -> Any:
    """Return (N,) values of a column that sort as it is read; NaN where there is none."""
    cells = np.arange(len(table.grid))
    method, prompt, seed = table.grid.places(cells)
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
    return _numbers(table, column, cells)


def _numbers(table: CellTable, column: int, cells: Whole) -> Any:
    """Return the (M,) numbers of cells in a column of numbers; NaN where there is none."""
    match column:
        case Column.CONFIDENCE:
            return np.fmin.reduce(table.confidence[cells], axis=1)
        case Column.PSE:
            return np.fmin.reduce(table.pse[cells], axis=1)
        case Column.SECONDS:
            return table.seconds[cells]
    return table.passes[cells]


def _ranks(texts: list[str]) -> Any:
    """Return the rank of each text in alphabetical order."""
    order = {text: float(rank) for rank, text in enumerate(sorted(set(texts), key=str.lower))}
    return np.array([order[text] for text in texts], np.float64)


class CellList(QTableView):
    """Shows cells as rows; a click on a header sorts.

    Draws the visible rows itself, a column at a time: a delegate would ask the model seven times
    for each field.

    Emits ``cell_opened`` with the number of a cell on a click or Return.

    Args:
        theme: Colours of the marks.
        describe: Returns what a cell shows, for screen readers.
    """

    cell_opened = Signal(int)

    def __init__(self, theme: Theme, describe: Callable[[int], str]) -> None:
        super().__init__()
        self._model = CellModel()
        self._theme = theme
        self._marks = StateMarks(theme)
        self._fit = lru_cache(FITTED_TEXTS)(self._laid_out)
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
        theme.changed.connect(self.viewport().update)

    def sizeHint(self) -> QSize:
        return QSize(em(40), em(30))

    def sizeHintForColumn(self, column: int) -> int:
        """Return the width of the visible texts of a column."""
        rows = self._rows_in(self.viewport().rect())
        letters = QFontMetricsF(self.font())
        texts = self._model.texts(rows, column) if rows else []
        widest = max(map(letters.horizontalAdvance, texts), default=0.0)
        return round(widest) + 1 + self._indent(column) + em(PADDING_EM)

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

    def paintEvent(self, event: QPaintEvent) -> None:
        rows = self._rows_in(event.rect())
        if not rows:
            return
        chosen = self.currentIndex().row() if self.selectionModel().hasSelection() else -1
        looks = [self._theme.colour(role) for role in ("raised", "surface", "line")]
        side, width = self._side, self.viewport().width()
        with painting(self.viewport()) as painter:
            for row in rows:
                look = looks[-1] if row == chosen else looks[row % 2]
                painter.fillRect(0, self.rowViewportPosition(row), width, side, look)
            painter.setFont(self.font())
            painter.setPen(self._theme.colour("text"))
            for column in Column:
                left, width = self.columnViewportPosition(column), self.columnWidth(column)
                if left <= event.rect().right() and left + width >= event.rect().left():
                    self._draw_column(painter, rows, column)

    def _draw_column(self, painter: QPainter, rows: range, column: Column) -> None:
        """Draw the texts of a column, elided to its width, and the marks of states."""
        left = self.columnViewportPosition(column) + self._indent(column)
        room = self.columnWidth(column) - self._indent(column) - em(PADDING_EM)
        top, side, is_number = self.rowViewportPosition(rows.start), self._side, column in NUMBERS
        for number, text in enumerate(self._model.texts(rows, column)):
            shown, width, drop = self._fit(text, room)
            x = left + room - width if is_number else left
            painter.drawStaticText(QPointF(x, top + number * side + drop), shown)
        if column is Column.STATE:
            mark_side = em(MARK_EM)
            at = QPoint(left - em(MARK_EM + PADDING_EM), top + (side - mark_side) // 2)
            for number, state in enumerate(self._model.states(rows)):
                mark = self._marks.image(state, mark_side, self.devicePixelRatioF())
                painter.drawImage(at + QPoint(0, number * side), mark)

    def _laid_out(self, text: str, room: int) -> tuple[QStaticText, float, float]:
        """Return a text elided to a width, its width, and its distance from the top of a row."""
        shown = QStaticText(elided(text, self.font(), room))
        shown.setTextFormat(Qt.TextFormat.PlainText)
        shown.prepare(font=self.font())
        size = shown.size()
        return shown, size.width(), (self._side - size.height()) / 2

    @property
    def _side(self) -> int:
        """Height of a row."""
        return self.verticalHeader().defaultSectionSize()

    @staticmethod
    def _indent(column: int) -> int:
        """Return the distance of a column's text from its left edge."""
        return em(PADDING_EM) + (em(MARK_EM + PADDING_EM) if column == Column.STATE else 0)

    def _rows_in(self, place: QRect) -> range:
        """Return the rows that a rectangle of the viewport shows."""
        above = self.verticalScrollBar().value()
        first, last = (above + place.top()) // self._side, (above + place.bottom()) // self._side
        return range(max(first, 0), min(last + 1, len(self._model.cells)))

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
