"""The matrix of a benchmark: a row per prompt, a column per method and seed, virtualised."""

from collections.abc import Callable, Iterator

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterStateGuard,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QToolTip

from spatialstudio.domain.benchmark_cells import CellGrid, CellTable
from spatialstudio.domain.library import Truth, Whole
from spatialstudio.ui.benchmark.widgets.state_marks import FADE, StateMarks
from spatialstudio.ui.theme.theme import SMALL, Theme, em, font
from spatialstudio.ui.widgets.painting import draw_text, elided, painting
from spatialstudio.ui.widgets.texts import plain_tip, tr

CELL_EM = 1.25
GAP_EM = 0.9
"""Between the columns of two methods."""
NARROWEST_METHOD_EM = 4.5
LABEL_SHARE, WIDEST_LABEL_EM = 0.4, 24.0
"""Width of the prompts: a share of the widget, at most."""
HEAD_EM = 2.9
PADDING_EM = 0.6
STEP_ROWS = 3
"""Rows per turn of the wheel."""
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
ARROWS = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}
RETURNS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class CellMatrix(QAbstractScrollArea):
    """Shows the state of each cell as a shape and a colour; only visible cells are drawn.

    Rows without a match of the filter are left out; other cells that do not match are faded.

    Emits ``cell_picked`` with the number of a cell when the user moves to it, and ``cell_opened``
    on Return or a double click.

    Args:
        theme: Its colours.
        describe: Returns what a cell shows, for its tip and screen readers.
    """

    cell_picked = Signal(int)
    cell_opened = Signal(int)

    def __init__(self, theme: Theme, describe: Callable[[int], str]) -> None:
        super().__init__()
        self._theme = theme
        self._describe = describe
        self._marks = StateMarks(theme)
        self._table: CellTable | None = None
        self._rows: Whole = np.zeros(0, np.int64)
        self._is_match: Truth = np.zeros(0, bool)
        self._current: tuple[int, int] = (0, 0)  # row, column
        self._labels: dict[tuple[int, int], str] = {}
        self.setAccessibleName(tr("Matrix of prompts, methods and seeds"))
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.verticalScrollBar().setAccessibleName(tr("Scroll through the prompts"))
        self.horizontalScrollBar().setAccessibleName(tr("Scroll through the methods"))
        self.setMinimumSize(em(16), em(10))
        theme.changed.connect(self.viewport().update)

    def sizeHint(self) -> QSize:
        return QSize(em(40), em(30))

    @property
    def current(self) -> int | None:
        """Number of the focused cell; None without cells."""
        return self._cell_at(*self._current)

    def show_table(self, table: CellTable, matches: Whole) -> None:
        """Show cells; the focused one and the scroll position are preserved where possible.

        Args:
            table: All cells.
            matches: Numbers of the cells that match the filter.
        """
        before = self.current
        is_new = self._table is None or self._table.grid is not table.grid
        self._table = table
        if is_new:
            self._labels.clear()
        self._is_match = np.zeros(len(table.grid), bool)
        self._is_match[matches] = True
        shape = (len(table.grid.methods), len(table.grid.prompts), len(table.grid.seeds))
        self._rows = np.flatnonzero(self._is_match.reshape(shape).any((0, 2)))
        self._lay_out()
        if before is not None:
            self.show_cell(before)
        self.viewport().update()
        self._tell_screen_readers()

    def show_cell(self, cell: int) -> None:
        """Focus a cell without scrolling; its nearest row if the filter leaves it out."""
        grid = self._grid
        if grid is not None and cell < len(grid) and len(self._rows):
            method, prompt, seed = grid.place(cell)
            row = min(int(np.searchsorted(self._rows, prompt)), len(self._rows) - 1)
            self._current = (row, method * len(grid.seeds) + seed)

    def place_of(self, row: int, column: int) -> QRectF:
        """Return the square of a cell, in viewport coordinates."""
        side = em(CELL_EM)
        left = self._column_left(column) - self.horizontalScrollBar().value()
        top = em(HEAD_EM) + row * side - self.verticalScrollBar().value()
        return QRectF(self._label_width() + left, top, side, side)

    # Qt's events.

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        if self._table is None:
            return
        with painting(self.viewport()) as painter:
            rows = range(*self._visible_rows())
            head, side = em(HEAD_EM), self._label_width()
            whole = QRectF(self.viewport().rect())
            with QPainterStateGuard(painter):
                painter.setClipRect(whole.adjusted(side, head, 0, 0))
                self._draw_cells(painter, rows)
            with QPainterStateGuard(painter):
                painter.setClipRect(whole.adjusted(0, head, 0, 0))
                self._draw_labels(painter, rows)
            painter.setClipRect(whole.adjusted(side, 0, 0, 0))
            self._draw_head(painter)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def viewportEvent(self, event: QEvent) -> bool:
        """Show what the cell under the pointer shows."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            place = self._place_at(QPointF(event.pos()))
            cell = None if place is None else self._cell_at(*place)
            text = "" if cell is None else self._describe(cell)
            QToolTip.showText(event.globalPos(), plain_tip(text), self)
            return True
        return super().viewportEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if (place := self._place_at(event.position())) is not None:
            self._go_to(*place)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self._place_at(event.position()) == self._current and self.current is not None:
            self.cell_opened.emit(self.current)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row, column = self._current
        key = Qt.Key(event.key())
        page = max(self._visible_rows()[1] - self._visible_rows()[0] - 2, 1)
        if key in ARROWS:
            self._go_to(row + ARROWS[key][0], column + ARROWS[key][1])
        elif key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            self._go_to(row + (page if key is Qt.Key.Key_PageDown else -page), column)
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self._go_to(row, 0 if key is Qt.Key.Key_Home else self._columns - 1)
        elif key in RETURNS and self.current is not None:
            self.cell_opened.emit(self.current)
        else:
            super().keyPressEvent(event)

    # Geometry.

    @property
    def _grid(self) -> CellGrid | None:
        return None if self._table is None else self._table.grid

    @property
    def _columns(self) -> int:
        return 0 if self._grid is None else len(self._grid.methods) * len(self._grid.seeds)

    def _method_width(self) -> int:
        seeds = len(self._grid.seeds) if self._grid else 0
        return max(seeds * em(CELL_EM), em(NARROWEST_METHOD_EM)) + em(GAP_EM)

    def _column_left(self, column: int) -> int:
        method, seed = divmod(column, len(self._grid.seeds) if self._grid else 1)
        return method * self._method_width() + seed * em(CELL_EM)

    def _label_width(self) -> int:
        return min(round(self.viewport().width() * LABEL_SHARE), em(WIDEST_LABEL_EM))

    def _visible_rows(self) -> tuple[int, int]:
        """Return the first visible row, and the row after the last."""
        side, top = em(CELL_EM), self.verticalScrollBar().value()
        room = self.viewport().height() - em(HEAD_EM)
        return top // side, min((top + max(room, 0)) // side + 1, len(self._rows))

    def _visible_columns(self) -> Iterator[int]:
        left = self.horizontalScrollBar().value()
        right = left + self.viewport().width() - self._label_width()
        for column in range(self._columns):
            if left - em(CELL_EM) < self._column_left(column) < right:
                yield column

    def _cell_at(self, row: int, column: int) -> int | None:
        """Return the number of the cell in a row and column; None outside the matrix."""
        grid = self._grid
        if grid is None or not (0 <= row < len(self._rows) and 0 <= column < self._columns):
            return None
        method, seed = divmod(column, len(grid.seeds))
        return grid.cell(method, int(self._rows[row]), seed)

    def _place_at(self, position: QPointF) -> tuple[int, int] | None:
        """Return the row and column under a position of the viewport; None beside the cells."""
        row = int(position.y() - em(HEAD_EM) + self.verticalScrollBar().value()) // em(CELL_EM)
        if position.y() < em(HEAD_EM) or not 0 <= row < len(self._rows):
            return None
        columns = self._visible_columns()
        hit = (each for each in columns if self.place_of(row, each).contains(position))
        column = next(hit, None)
        return None if column is None else (row, column)

    def _lay_out(self) -> None:
        side, room = em(CELL_EM), self.viewport().size()
        down = self.verticalScrollBar()
        height = room.height() - em(HEAD_EM)
        down.setRange(0, max(len(self._rows) * side - height, 0))
        down.setPageStep(max(height, side))
        down.setSingleStep(STEP_ROWS * side // 3)
        along = self.horizontalScrollBar()
        methods = len(self._grid.methods) if self._grid else 0
        width = room.width() - self._label_width()
        along.setRange(0, max(methods * self._method_width() - width, 0))
        along.setPageStep(max(width, side))
        along.setSingleStep(side)

    def _go_to(self, row: int, column: int) -> None:
        if not len(self._rows):
            return
        self._current = (
            min(max(row, 0), len(self._rows) - 1),
            min(max(column, 0), self._columns - 1),
        )
        self._scroll_to_current()
        self.viewport().update()
        self._tell_screen_readers()
        if self.current is not None:
            self.cell_picked.emit(self.current)

    def _scroll_to_current(self) -> None:
        place, room = self.place_of(*self._current), self.viewport().rect()
        down, along = self.verticalScrollBar(), self.horizontalScrollBar()
        above = place.top() - em(HEAD_EM)
        below = place.bottom() - room.bottom()
        down.setValue(down.value() + round(min(above, 0) or max(below, 0)))
        before, behind = place.left() - self._label_width(), place.right() - room.right()
        along.setValue(along.value() + round(min(before, 0) or max(behind, 0)))

    # Drawing.

    def _draw_cells(self, painter: QPainter, rows: range) -> None:
        table, grid = self._table, self._grid
        assert table is not None
        assert grid is not None
        seeds = np.arange(len(grid.seeds))
        prompts = self._rows[rows.start : rows.stop]
        for method in dict.fromkeys(each // len(grid.seeds) for each in self._visible_columns()):
            cells = (method * len(grid.prompts) + prompts[:, None]) * len(grid.seeds) + seeds
            marks = table.state[cells] + np.where(self._is_match[cells], 0, FADE).astype(np.uint8)
            image = self._marks.composed(marks, em(CELL_EM), self.devicePixelRatioF())
            place = self.place_of(rows.start, method * len(grid.seeds))
            painter.drawImage(place.topLeft(), image)
        if self._current[0] in rows and len(self._rows):
            colour = self._theme.colour("accent" if self.hasFocus() else "faint")
            painter.setPen(QPen(colour, 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(self.place_of(*self._current), em(0.2), em(0.2))

    def _draw_labels(self, painter: QPainter, rows: range) -> None:
        assert self._grid is not None
        look = (font(SMALL), self._theme.colour("text"))
        muted = (look[0], self._theme.colour("muted"))
        width = self._label_width() - em(2 * PADDING_EM)
        for row in rows:
            place = self.place_of(row, 0)
            box = QRectF(em(PADDING_EM), place.top(), width, place.height())
            prompt = int(self._rows[row])
            key = (prompt, width)
            if key not in self._labels:
                self._labels[key] = elided(self._grid.prompts[prompt].text, look[0], width)
            is_current = row == self._current[0]
            draw_text(painter, box, self._labels[key], look if is_current else muted, LEFT)

    def _draw_head(self, painter: QPainter) -> None:
        grid = self._grid
        assert grid is not None
        name = (font(SMALL, bold=True), self._theme.colour("text"))
        seed_look = (font(SMALL), self._theme.colour("muted"))
        seeds, half = len(grid.seeds), em(HEAD_EM) / 2
        for method, title in enumerate(grid.methods):
            left = self.place_of(0, method * seeds).left()
            if left > self.viewport().width():
                break
            width = self._method_width() - em(GAP_EM)
            text = elided(title, name[0], width + em(GAP_EM) / 2)
            draw_text(painter, QRectF(left, 0, width + em(GAP_EM), half), text, name, LEFT)
            for number, seed in enumerate(grid.seeds):
                box = QRectF(left + number * em(CELL_EM), half, em(CELL_EM), half)
                if box.right() > self._label_width():
                    shown = elided(str(seed), seed_look[0], box.width())
                    draw_text(painter, box, shown, seed_look, Qt.AlignmentFlag.AlignCenter)

    def _tell_screen_readers(self) -> None:
        cell = self.current
        self.setAccessibleDescription("" if cell is None else self._describe(cell))
