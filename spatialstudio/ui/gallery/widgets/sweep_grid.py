"""The grid of a sweep: pictures in rows and columns, with axis labels."""

from collections.abc import Sequence
from itertools import product

from PySide6.QtCore import QMarginsF, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterStateGuard,
    QPaintEvent,
    QResizeEvent,
)

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.gallery.widgets.run_grid import PictureGrid
from spatialstudio.ui.gallery.widgets.run_tile import (
    CAPTION_EM,
    TileFace,
    TilePainter,
    TileState,
)
from spatialstudio.ui.theme.theme import Theme, em, font
from spatialstudio.ui.widgets.painting import draw_text, painting
from spatialstudio.ui.widgets.texts import tr

NARROWEST_EM, WIDEST_EM = 6.0, 16.0
GAP_EM = 0.8
HEAD_EM = 3.4
SIDE_PADDING_EM = 1.2

ARROWS = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}


@frozen
class SweepTable:
    """Contents of a sweep grid.

    Attributes:
        column_title: The setting that varies by column.
        columns: A label for each column.
        row_title: The setting that varies by row; empty for a single row.
        rows: A label for each row.
        keys: Keys of the runs, row by row; None where there is no picture yet.
        ratio: Aspect ratio of the pictures, width over height.
    """

    column_title: str = ""
    columns: tuple[str, ...] = ()
    row_title: str = ""
    rows: tuple[str, ...] = ()
    keys: tuple[tuple[int | None, ...], ...] = ()
    ratio: float = 1.0


class SweepGrid(PictureGrid):
    """Shows a sweep; the axis labels stay visible while scrolling.

    Emits ``picked`` when the user moves to another cell, ``opened`` with the key of a run on a
    double click, ``menu_asked`` with a screen position and ``left`` on Escape.
    """

    picked = Signal()
    opened = Signal(int)
    menu_asked = Signal(QPoint)
    left = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._tiles = TilePainter(theme, self)
        self._table = SweepTable()
        self._faces: dict[int, TileFace] = {}
        self._cell = (0, 0)
        self.setAccessibleName(tr("Grid of the sweep"))
        self.verticalScrollBar().setAccessibleName(tr("Scroll through the rows"))
        self.horizontalScrollBar().setAccessibleName(tr("Scroll through the columns"))
        self.setMinimumSize(em(16), em(12))
        theme.changed.connect(self.viewport().update)

    @property
    def current(self) -> int | None:
        """Key of the focused run; None where there is no picture yet."""
        row, column = self._cell
        return self._table.keys[row][column] if self._table.keys else None

    def face(self, key: int) -> TileFace | None:
        """Return the contents of a cell; None if not loaded."""
        return self._faces.get(key)

    def sizeHint(self) -> QSize:
        return QSize(em(30), em(24))

    def show_table(self, table: SweepTable) -> None:
        """Set the runs; the focused cell is preserved where possible."""
        self._table = table
        self._cell = self._held(*self._cell)
        self._lay_out()
        self._tell_screen_readers()

    def show_face(self, key: int, face: TileFace) -> None:
        """Set the contents of a cell."""
        self._faces[key] = face
        self.viewport().update()
        if key == self.current:
            self._tell_screen_readers()

    def place_of(self, row: int, column: int) -> QRectF:
        """Return the rectangle of a picture, in viewport coordinates."""
        width, height = self._tile_size()
        left = self._side() + column * (width + em(GAP_EM)) - self.horizontalScrollBar().value()
        down = height + em(CAPTION_EM) + em(GAP_EM)
        top = em(HEAD_EM) + row * down - self.verticalScrollBar().value()
        return QRectF(left, top, width, height)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        inner = QRectF(self.viewport().rect()).adjusted(self._side() - em(0.4), em(HEAD_EM), 0, 0)
        with painting(self.viewport()) as painter:
            with QPainterStateGuard(painter):
                painter.setClipRect(inner.adjusted(0, -em(0.4), 0, 0))
                for row, keys in enumerate(self._table.keys):
                    for column, key in enumerate(keys):
                        self._draw_cell(painter, row, column, key)
            if self._table.keys:
                self._draw_columns(painter)
                self._draw_rows(painter)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row, column = self._cell
        key = Qt.Key(event.key())
        if key in ARROWS:
            down, along = ARROWS[key]
            self._go_to(row + down, column + along)
        elif key is Qt.Key.Key_Home:
            self._go_to(row, 0)
        elif key is Qt.Key.Key_End:
            self._go_to(row, len(self._table.columns) - 1)
        elif key is Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if (cell := self._cell_at(event.position())) is not None:
            self._go_to(*cell)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self._cell_at(event.position()) == self._cell and self.current is not None:
            self.opened.emit(self.current)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        place = event.globalPos()
        if event.reason() is QContextMenuEvent.Reason.Keyboard:
            place = self.viewport().mapToGlobal(self.place_of(*self._cell).center().toPoint())
        if self.current is not None:
            self.menu_asked.emit(place)

    def _go_to(self, row: int, column: int) -> None:
        if not self._table.keys:
            return
        self._cell = self._held(row, column)
        self._scroll_to()
        self._tell_screen_readers()
        self.viewport().update()
        self.picked.emit()

    def _held(self, row: int, column: int) -> tuple[int, int]:
        """Return the nearest existing cell."""
        last_row, last_column = len(self._table.rows) - 1, len(self._table.columns) - 1
        return max(min(row, last_row), 0), max(min(column, last_column), 0)

    def _cell_at(self, position: QPointF) -> tuple[int, int] | None:
        cells = product(range(len(self._table.rows)), range(len(self._table.columns)))
        caption = QMarginsF(0, 0, 0, em(CAPTION_EM))
        return next((c for c in cells if (self.place_of(*c) + caption).contains(position)), None)

    def _scroll_to(self) -> None:
        place = self.place_of(*self._cell).adjusted(0, 0, 0, em(CAPTION_EM + GAP_EM))
        across, down = self.horizontalScrollBar(), self.verticalScrollBar()
        room = self.viewport().rect()
        right = max(place.right() - room.right(), 0)
        below = max(place.bottom() - room.bottom(), 0)
        left = min(place.left() - self._side(), 0)
        above = min(place.top() - em(HEAD_EM), 0)
        across.setValue(round(across.value() + (left or right)))
        down.setValue(round(down.value() + (above or below)))

    def _tell_screen_readers(self) -> None:
        if not self._table.keys:
            return
        row, column = self._cell
        parts = [f"{self._table.column_title} {self._table.columns[column]}"]
        if self._table.row_title:
            parts.append(f"{self._table.row_title} {self._table.rows[row]}")
        face = None if self.current is None else self._faces.get(self.current)
        parts.append(face.words if face else tr("no picture yet"))
        self.setAccessibleDescription("; ".join(parts))

    def _tile_size(self) -> tuple[float, float]:
        """Return the size of a picture at which all columns fit, above a minimum."""
        room = self.viewport().width() - self._side() - em(GAP_EM)
        share = room / max(len(self._table.columns), 1) - em(GAP_EM)
        width = min(max(share, em(NARROWEST_EM)), em(WIDEST_EM))
        return width, width / self._table.ratio

    def _side(self) -> float:
        """Return the width of the row labels."""
        if not self._table.row_title:
            return em(GAP_EM)
        measure, bold = QFontMetricsF(font()), QFontMetricsF(font(bold=True))
        widths = [measure.horizontalAdvance(label) for label in self._table.rows]
        title = bold.horizontalAdvance(self._table.row_title)
        return max(*widths, title) + em(SIDE_PADDING_EM) + em(GAP_EM)

    def _lay_out(self) -> None:
        width, height = self._tile_size()
        whole = self._side() + len(self._table.columns) * (width + em(GAP_EM))
        down = em(HEAD_EM) + len(self._table.rows) * (height + em(CAPTION_EM) + em(GAP_EM))
        for bar, needed, there in (
            (self.horizontalScrollBar(), whole, self.viewport().width()),
            (self.verticalScrollBar(), down, self.viewport().height()),
        ):
            bar.setRange(0, max(round(needed) - there, 0))
            bar.setPageStep(there)
            bar.setSingleStep(em(2.5))
        self.viewport().update()

    def _draw_cell(self, painter: QPainter, row: int, column: int, key: int | None) -> None:
        place = self.place_of(row, column)
        if not place.adjusted(0, 0, 0, em(CAPTION_EM)).intersects(QRectF(self.viewport().rect())):
            return
        is_current = (row, column) == self._cell
        state = TileState(
            stack=0, is_open=False, is_chosen=is_current, is_current=is_current and self.hasFocus()
        )
        self._tiles.draw(painter, key or 0, self._faces.get(key or 0), place, state)

    def _draw_columns(self, painter: QPainter) -> None:
        title = QRectF(self._side(), 0, self.viewport().width() - self._side(), em(HEAD_EM / 2))
        self._write(painter, title, self._table.column_title, is_title=True)
        for column, label in enumerate(self._table.columns):
            place = self.place_of(0, column)
            line = QRectF(place.left(), em(HEAD_EM / 2), place.width(), em(HEAD_EM / 2 - 0.3))
            if line.left() >= self._side() - 1:
                self._write(painter, line, label, Qt.AlignmentFlag.AlignHCenter)

    def _draw_rows(self, painter: QPainter) -> None:
        if not self._table.row_title:
            return
        width = self._side() - em(SIDE_PADDING_EM)
        title = QRectF(em(GAP_EM), em(HEAD_EM / 2), width, em(HEAD_EM / 2 - 0.3))
        self._write(painter, title, self._table.row_title, is_title=True)
        for row, label in enumerate(self._table.rows):
            place = self.place_of(row, 0)
            line = QRectF(em(GAP_EM), place.top(), width, place.height())
            if line.top() >= em(HEAD_EM) - 1:
                self._write(painter, line, label)

    def _write(
        self,
        painter: QPainter,
        line: QRectF,
        text: str,
        align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
        *,
        is_title: bool = False,
    ) -> None:
        look = font(bold=is_title), self._theme.colour("text" if is_title else "muted")
        draw_text(painter, line, text, look, align | Qt.AlignmentFlag.AlignVCenter)


def keys_of(table: SweepTable) -> Sequence[int]:
    """Return the keys of all runs of a table, row by row."""
    return [key for row in table.keys for key in row if key is not None]
