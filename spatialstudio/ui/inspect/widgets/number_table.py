"""A table of measurements, one row per step, to pick steps from and copy."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetrics, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QSizePolicy, QTableView, QWidget

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.theme.theme import (
    SMALL,
    em,
    font,
)
from spatialstudio.ui.widgets.texts import plain_tip, tr

Role = Qt.ItemDataRole
Index = QModelIndex | QPersistentModelIndex
NOT_MEASURED = "–"  # noqa: RUF001 - a dash
USUAL_EM = (20, 8)
LOWEST_EM = 6
COLUMN_EM, WIDEST_EM, MARGIN_EM = 5.4, 14.0, 0.6
"""Usual width of a column, the widest line of a header, and the room beside it."""
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


@frozen(kw_only=False)
class NumberColumn:
    """A column of the table.

    Attributes:
        group: Upper header: the word or relation.
        name: The measured quantity.
        tip: Explanation of the quantity.
    """

    group: str
    name: str
    tip: str


class NumberModel(QAbstractTableModel):
    """Table model of measurements, one row per step."""

    def __init__(self) -> None:
        super().__init__()
        self.columns: tuple[NumberColumn, ...] = ()
        self.steps: tuple[int, ...] = ()
        self.rows: tuple[Sequence[float | None], ...] = ()

    def take(
        self,
        columns: tuple[NumberColumn, ...],
        steps: tuple[int, ...],
        rows: tuple[Sequence[float | None], ...],
    ) -> None:
        """Set the data; appended rows keep the selection."""
        known = len(self.steps)
        before = (self.columns, self.steps, self.rows)
        grows = (columns, steps[:known], rows[:known]) == before
        if not grows:
            self.beginResetModel()
            self.columns, self.steps, self.rows = columns, steps, rows
            self.endResetModel()
        elif len(steps) > len(self.steps):
            self.beginInsertRows(QModelIndex(), len(self.steps), len(steps) - 1)
            self.steps, self.rows = steps, rows
            self.endInsertRows()

    def rowCount(self, parent: Index | None = None) -> int:  # noqa: ARG002 - Qt's signature
        """Return the number of steps."""
        return len(self.rows)

    def columnCount(self, parent: Index | None = None) -> int:  # noqa: ARG002 - Qt's signature
        """Return the number of columns."""
        return len(self.columns)

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        """Return the raw value or its formatted text."""
        value = self.rows[index.row()][index.column()]
        match role:
            case Role.DisplayRole:
                return NOT_MEASURED if value is None else f"{value:.3f}"
            case Role.TextAlignmentRole:
                return RIGHT
            case Role.ToolTipRole:
                return plain_tip(self.columns[index.column()].tip)
            case Role.AccessibleTextRole:
                column = self.columns[index.column()]
                said = tr("not measured") if value is None else f"{value:.3f}"
                return f"{column.group} {column.name}: {said}"
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole
    ) -> Any:
        """Return the column and row headers."""
        if orientation is Qt.Orientation.Vertical:
            return str(self.steps[section] + 1) if role == Role.DisplayRole else None
        column = self.columns[section]
        match role:
            case Role.DisplayRole:
                return "\n".join(_header_lines(column))
            case Role.TextAlignmentRole:
                return RIGHT
            case Role.ToolTipRole:
                return plain_tip(column.tip)
        return None


class NumberTable(QTableView):
    """Shows measurements; marks the row of the picked step.

    Emits ``step_picked`` when the user moves to another row, and ``copy_asked`` with the selected
    rows' indices on the copy shortcut.
    """

    step_picked = Signal(int)
    copy_asked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = NumberModel()
        self.setModel(self._model)
        self.setAccessibleName(tr("Numbers of each step"))
        self.setFont(font(SMALL))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)  # Tab leaves the table, arrows move between rows
        self.setAlternatingRowColors(True)
        self.verticalHeader().setDefaultSectionSize(em(1.5))
        self.verticalHeader().setMinimumWidth(em(2))
        across = self.horizontalHeader()
        across.setFont(font(SMALL))
        across.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        across.setHighlightSections(False)
        across.setTextElideMode(Qt.TextElideMode.ElideNone)  # Qt elides both lines as one
        across.setDefaultSectionSize(em(COLUMN_EM))
        across.setMinimumHeight(em(2.9))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.setMinimumHeight(em(LOWEST_EM))
        self._is_showing = False
        self.selectionModel().currentRowChanged.connect(self._tell)

    def sizeHint(self) -> QSize:
        """Return the size of the header and a few rows; with less room the table scrolls."""
        return QSize(em(USUAL_EM[0]), em(USUAL_EM[1]))

    def show_numbers(
        self,
        columns: tuple[NumberColumn, ...],
        steps: tuple[int, ...],
        rows: tuple[Sequence[float | None], ...],
    ) -> None:
        """Show rows of numbers, one for each step."""
        is_same = columns == self._model.columns
        self._is_showing = True
        self._model.take(columns, steps, rows)
        self._is_showing = False
        if not is_same:
            self._fit_headers()

    def show_step(self, step: int) -> None:
        """Mark the row of a step and scroll to it."""
        if step not in self._model.steps or self._current_step() == step:
            return
        self._is_showing = True
        self.selectRow(self._model.steps.index(step))
        self._is_showing = False

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.scrollTo(self.currentIndex())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            rows = {index.row() for index in self.selectionModel().selectedRows()}
            self.copy_asked.emit(sorted(rows))
        else:
            super().keyPressEvent(event)

    def _fit_headers(self) -> None:
        """Widen columns to their headers.

        Qt's hint counts the style sheet's padding, but not the margin that Qt also leaves free.
        """
        across = self.horizontalHeader()
        for place in range(len(self._model.columns)):
            width = across.sectionSizeHint(place) + em(MARGIN_EM)
            across.resizeSection(place, max(em(COLUMN_EM), width))

    def _current_step(self) -> int | None:
        row = self.currentIndex().row()
        return self._model.steps[row] if 0 <= row < len(self._model.steps) else None

    def _tell(self) -> None:
        step = self._current_step()
        if step is not None and not self._is_showing:
            self.step_picked.emit(step)


def _header_lines(column: NumberColumn) -> list[str]:
    """Return both lines of a header, each elided where it is very long."""
    metrics = QFontMetrics(font(SMALL))
    elide = Qt.TextElideMode.ElideRight
    return [metrics.elidedText(line, elide, em(WIDEST_EM)) for line in (column.group, column.name)]
