"""A grid of small maps: a row for each word, columns for sampled steps."""

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QImage, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QScrollArea, QSizePolicy, QToolTip

from spatialstudio.domain.arrays import FloatMap
from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.theme.theme import (
    SMALL,
    Theme,
    em,
    font,
)
from spatialstudio.ui.widgets.array_images import difference_image, heat_image
from spatialstudio.ui.widgets.painting import PaintedWidget, draw_text, elided
from spatialstudio.ui.widgets.texts import plain_tip, tr

NARROWEST_EM = 4.2
FEWEST_COLUMNS = 6
LABEL_EM = 5.2
HEAD_EM = 1.6
GAP_EM = 0.25
DOT_EM = 0.5
FRAME_WIDTH = 2.0


@frozen(eq=False, kw_only=False)
class GridRow:
    """One word's maps.

    Attributes:
        key: Id emitted when a map is picked.
        text: The word.
        hue: Its hue.
        maps: Step to (h, w), not negative unless the row is signed.
        tops: Step to the value that maps to full colour.
        is_pinned: Whether the word is pinned.
        is_signed: Whether the maps are differences, which may be negative.
    """

    key: str
    text: str
    hue: int
    maps: Mapping[int, FloatMap]
    tops: Mapping[int, float]
    is_pinned: bool = False
    is_signed: bool = False


class MapGrid(PaintedWidget):
    """Shows words over as many steps as fit, always including the picked step.

    Emits ``map_picked`` with a word's key and a step, and ``pin_asked`` with a word's key (double
    click, Space), on user action only. Arrows move between maps.
    """

    map_picked = Signal(str, int)
    pin_asked = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__(
            theme,
            accessibleName=tr("Attention maps of all words over the steps"),
            focusPolicy=Qt.FocusPolicy.StrongFocus,
            mouseTracking=True,
        )
        self._rows: tuple[GridRow, ...] = ()
        self._row = 0
        self._step = 0
        self._shape = 1.0
        self._images: dict[tuple[int, float], tuple[FloatMap, QImage]] = {}
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self._forget)

    def minimumSizeHint(self) -> QSize:
        rows = max(len(self._rows), 1)
        return QSize(em(LABEL_EM + NARROWEST_EM), em(HEAD_EM) + rows * em(NARROWEST_EM))

    def sizeHint(self) -> QSize:
        return QSize(em(30), self.minimumSizeHint().height())

    def show_rows(self, rows: tuple[GridRow, ...], shape: float = 1.0) -> None:
        """Show words; ``shape`` is the picture's width over its height."""
        if len(rows) != len(self._rows):
            self.updateGeometry()
        self._rows, self._shape = rows, shape
        self._row = min(self._row, max(len(rows) - 1, 0))
        kept = {(id(row.maps[step]), row.tops[step]) for row in rows for step in row.maps}
        self._images = {key: image for key, image in self._images.items() if key in kept}
        self._describe()
        self.update()

    def show_step(self, step: int) -> None:
        """Mark the picked step."""
        self._step = step
        self._describe()
        self.update()

    @property
    def columns(self) -> tuple[int, ...]:
        """The shown steps."""
        steps = sorted({step for row in self._rows for step in row.maps})
        room = self.width() - em(LABEL_EM)
        count = min(max(int(room // (self._side() * self._shape)), 1), len(steps))
        chosen = [steps[p] for p in np.linspace(0, len(steps) - 1, count).round().astype(int)]
        if self._step in steps:  # the picked step is always shown
            chosen[_nearest(chosen, self._step)] = self._step
        return tuple(chosen)

    @property
    def cursor_cell(self) -> QRectF:
        """Rectangle of the focused map, in widget coordinates."""
        return self.cell(self._row, self._column(self.columns))

    def cell(self, row: int, column: int) -> QRectF:
        """Return the rectangle of a map, in widget coordinates."""
        height = self._side()
        width = height * self._shape
        gap = em(GAP_EM)
        left, top = em(LABEL_EM) + column * width, em(HEAD_EM) + row * height
        return QRectF(left, top, width - gap, height - gap)

    def draw(self, painter: QPainter) -> None:
        """Draw the steps, words and maps."""
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        columns = self.columns
        self._draw_head(painter, columns)
        for number, row in enumerate(self._rows):
            self._draw_word(painter, number, row)
            for column, step in enumerate(columns):
                cell = self.cell(number, column)
                painter.fillRect(cell, self._theme.colour("sunken"))
                if step in row.maps:
                    painter.drawImage(cell, self._image(row, step))
        self._draw_marks(painter, columns)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if (place := self._at(event.position())) is not None:
            self._pick(*place)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if (place := self._at(event.position())) is not None:
            self.pin_asked.emit(self._rows[place[0]].key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        columns = self.columns
        if not columns:
            super().keyPressEvent(event)
            return
        column = self._column(columns)
        match event.key():
            case Qt.Key.Key_Left:
                self._pick(self._row, max(column - 1, 0))
            case Qt.Key.Key_Right:
                self._pick(self._row, min(column + 1, len(columns) - 1))
            case Qt.Key.Key_Up:
                self._pick(max(self._row - 1, 0), column)
            case Qt.Key.Key_Down:
                self._pick(min(self._row + 1, len(self._rows) - 1), column)
            case Qt.Key.Key_Space:
                self.pin_asked.emit(self._rows[self._row].key)
            case _:
                super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Show the values of the map under the pointer in a tooltip."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            place = self._at(QPointF(event.pos()))
            QToolTip.showText(
                event.globalPos(), plain_tip(self._tip(*place) if place else ""), self
            )
            return True
        return super().event(event)

    def _side(self) -> float:
        """Return the row height at which all rows and a few columns fit, above a minimum."""
        down = (self.height() - em(HEAD_EM)) / max(len(self._rows), 1)
        across = (self.width() - em(LABEL_EM)) / FEWEST_COLUMNS / self._shape
        return max(min(down, across), em(NARROWEST_EM))

    def _column(self, columns: tuple[int, ...]) -> int:
        return _nearest(columns, self._step)

    def _at(self, position: QPointF) -> tuple[int, int] | None:
        places = product(range(len(self._rows)), range(len(self.columns)))
        return next((place for place in places if self.cell(*place).contains(position)), None)

    def _pick(self, row: int, column: int) -> None:
        self._row, self._step = row, self.columns[column]
        self._describe()
        self.update()
        self.map_picked.emit(self._rows[row].key, self._step)

    def _image(self, row: GridRow, step: int) -> QImage:
        weights, top = row.maps[step], row.tops[step]
        key = (id(weights), top)
        if key not in self._images:
            if row.is_signed:
                image = difference_image(weights, self._theme.difference_table(), top)
            else:
                image = heat_image(weights, self._theme.heat_table(), top)
            self._images[key] = weights, image
        return self._images[key][1]

    def _forget(self) -> None:
        self._images = {}

    def _draw_head(self, painter: QPainter, columns: tuple[int, ...]) -> None:
        muted, text = self._theme.colour("muted"), self._theme.colour("text")
        corner = QRectF(0, 0, em(LABEL_EM), em(HEAD_EM))
        draw_text(painter, corner, tr("step"), (font(SMALL), muted), Qt.AlignmentFlag.AlignVCenter)
        current = self._column(columns) if columns else -1
        for column, step in enumerate(columns):
            cell = self.cell(0, column)
            is_current = column == current and step == self._step
            head = QRectF(cell.left(), 0, cell.width(), em(HEAD_EM))
            look = (font(SMALL, bold=is_current), text if is_current else muted)
            draw_text(painter, head, str(step + 1), look)

    def _draw_word(self, painter: QPainter, number: int, row: GridRow) -> None:
        cell = self.cell(number, 0)
        dot = em(DOT_EM)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.mention(row.hue))
        painter.drawEllipse(QRectF(1, cell.center().y() - dot / 2, dot, dot))
        letters, left = font(bold=row.is_pinned), dot + em(0.35)
        room = QRectF(left, cell.top(), em(LABEL_EM) - left - em(GAP_EM), cell.height())
        look = (letters, self._theme.colour("text"))
        text = elided(row.text, letters, room.width())
        draw_text(painter, room, text, look, Qt.AlignmentFlag.AlignVCenter)

    def _draw_marks(self, painter: QPainter, columns: tuple[int, ...]) -> None:
        """Frame the picked step and the focused map."""
        if not columns or not self._rows:
            return
        painter.setBrush(Qt.BrushStyle.NoBrush)
        column = self._column(columns)
        if columns[column] == self._step:
            top, bottom = self.cell(0, column), self.cell(len(self._rows) - 1, column)
            painter.setPen(QPen(self._theme.colour("text"), FRAME_WIDTH))
            painter.drawRect(top.united(bottom).adjusted(-1, -1, 1, 1))
        if self.hasFocus():
            cell = self.cell(self._row, column)
            painter.setPen(QPen(self._theme.mention(self._rows[self._row].hue), FRAME_WIDTH * 1.5))
            painter.drawRect(cell.adjusted(1, 1, -1, -1))

    def _tip(self, row: int, column: int) -> str:
        shown, step = self._rows[row], self.columns[column]
        if step not in shown.maps:
            return tr("{word} at step {step}: not recorded").format(word=shown.text, step=step + 1)
        weights = shown.maps[step]
        if shown.is_signed:
            template = tr(
                "{word} at step {step}: difference from the second run {least:+.4f} to {most:+.4f}"
            )
        else:
            template = tr("{word} at step {step}: peak {most:.4f}")
        least, most = float(weights.min()), float(weights.max())
        return template.format(word=shown.text, step=step + 1, least=least, most=most)

    def _describe(self) -> None:
        columns = self.columns
        if not columns or not self._rows:
            self.setAccessibleDescription("")
            return
        words = ", ".join(row.text for row in self._rows)
        said = tr("{words}; steps {first} to {last}. {map}").format(
            words=words,
            first=columns[0] + 1,
            last=columns[-1] + 1,
            map=self._tip(self._row, self._column(columns)),
        )
        self.setAccessibleDescription(said)


class GridView(QScrollArea):
    """A ``MapGrid`` in a scroll area, which keeps the picked map in view.

    Attributes:
        grid: The grid.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.grid = MapGrid(theme)
        self.grid.map_picked.connect(self._keep_visible)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(self.grid)

    def _keep_visible(self) -> None:
        cell = self.grid.cursor_cell
        middle = cell.center().toPoint()
        self.ensureVisible(middle.x(), middle.y(), 0, round(cell.height() / 2) + em(GAP_EM))


def _nearest(steps: Sequence[int], wanted: int) -> int:
    """Return the index of the step nearest to the wanted one."""
    return min(range(len(steps)), key=lambda place: abs(steps[place] - wanted))
