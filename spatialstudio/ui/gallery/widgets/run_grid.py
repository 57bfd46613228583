"""The grid of the gallery, virtualised for thousands of tiles."""

from collections.abc import Collection, Iterable, Sequence

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.library import Cells
from spatialstudio.ui.gallery.widgets.justified_rows import (
    JustifiedRows,
    RowSizes,
    justify,
)
from spatialstudio.ui.gallery.widgets.run_tile import (
    CAPTION_EM,
    TileFace,
    TilePainter,
    TileState,
)
from spatialstudio.ui.theme.theme import (
    SMALL,
    Theme,
    em,
    font,
)
from spatialstudio.ui.widgets.painting import draw_text, painting
from spatialstudio.ui.widgets.texts import tr


class GridSelection:
    """Keys of the current and selected tiles; the selection survives changes of the tiles.

    Attributes:
        current: The focused tile; None when there is none.
        chosen: All selected tiles, including the current one.
    """

    def __init__(self) -> None:
        self.current: int | None = None
        self.chosen: frozenset[int] = frozenset()
        self._anchor: int | None = None

    def keep(self, keys: Sequence[int], instead: int | None) -> bool:
        """Drop keys that no longer exist; return True if anything changed.

        Args:
            keys: Keys of all tiles.
            instead: Becomes current when the current one no longer exists.
        """
        before = (self.current, self.chosen)
        there = set(keys)
        self.chosen &= there
        if self.current not in there:
            self.pick(instead)
        if self._anchor not in there:
            self._anchor = self.current
        return before != (self.current, self.chosen)

    def pick(self, key: int | None) -> None:
        """Select one tile only; None for nothing."""
        self.current = self._anchor = key
        self.chosen = frozenset() if key is None else frozenset({key})

    def toggle(self, key: int) -> None:
        """Add a tile to the selection or remove it."""
        self.chosen ^= {key}
        self.current = self._anchor = key

    def stretch(self, keys: Sequence[int], key: int) -> None:
        """Select all tiles from the anchor to this one."""
        if self._anchor is None:
            self.pick(key)
            return
        first, last = sorted((keys.index(self._anchor), keys.index(key)))
        self.current = key
        self.chosen = frozenset(keys[first : last + 1])

    def pick_all(self, keys: Iterable[int]) -> None:
        """Select all tiles; the current one is preserved."""
        self.chosen = frozenset(keys)


class PictureGrid(QAbstractScrollArea):
    """A frameless scroll area with keyboard focus; subclasses paint its viewport."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()


TILE_EM = 9.5
USUAL_WIDTH_EM = 60
"""Default width of a grid; a wider one enlarges pictures by at most this factor:"""
MOST_GROWTH = 1.5
GAP_EM = 0.8
HEADING_EM = 2.3
SIDE_EM = 0.9
STEP_EM = 2.5
MOST_FACES = 1200
AHEAD = 0.6
"""Tiles to prefetch beyond the visible ones, in viewport heights."""

SHIFT, CONTROL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
LEFT = Qt.MouseButton.LeftButton


@frozen(kw_only=False)
class GridSection:
    """Tiles under one heading.

    Attributes:
        title: The heading.
        remark: A muted note next to the heading.
        start: The first tile.
    """

    title: str
    remark: str
    start: int


class RunGrid(PictureGrid):
    """Shows tiles in justified rows under headings; one is current, several may be selected.

    Emits ``faces_wanted`` with the keys of visible tiles without contents; ``selection_picked``
    when the user changes the selection; ``opened`` with a key on a double click, ``stack_picked``
    with a key on a click on a stack's badge, ``drag_begun`` when tiles are dragged, ``menu_asked``
    with a screen position. ``show_*`` never emit the user's signals.
    """

    faces_wanted = Signal(object)
    selection_picked = Signal()
    opened = Signal(int)
    stack_picked = Signal(int)
    drag_begun = Signal()
    menu_asked = Signal(QPoint)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._tiles = TilePainter(theme, self)
        self._cells = Cells()
        self._keys: list[int] = []
        self._sections: tuple[GridSection, ...] = ()
        self._rows = JustifiedRows(sizes=self._sizes())
        self._faces: dict[int, TileFace] = {}
        self._stale: set[int] = set()
        self._selection = GridSelection()
        self._pressed: tuple[QPointF, int, bool] | None = None
        self._asking = QTimer(self, singleShot=True, interval=0)
        self._asking.timeout.connect(self._ask_for_faces)
        self.setAccessibleName(tr("Runs"))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalScrollBar().setAccessibleName(tr("Scroll through the runs"))
        self.setMinimumSize(em(16), em(12))
        theme.changed.connect(self.viewport().update)

    @property
    def current(self) -> int | None:
        """Key of the focused tile; None when there is none."""
        return self._selection.current

    @property
    def chosen(self) -> tuple[int, ...]:
        """Keys of all selected tiles, from top to bottom."""
        return tuple(key for key in self._keys if key in self._selection.chosen)

    def face(self, key: int) -> TileFace | None:
        """Return the contents of a tile; None if not loaded."""
        return self._faces.get(key)

    def place_of(self, key: int) -> QRectF:
        """Return the rectangle of a tile's picture, in viewport coordinates."""
        return self._rows.place(self._keys.index(key)).translated(self._origin())

    def sizeHint(self) -> QSize:
        return QSize(em(30), em(24))

    def show_cells(self, cells: Cells, sections: Sequence[GridSection]) -> None:
        """Set the tiles; selection and scroll position are preserved where possible."""
        anchor = self._first_visible()
        before = self._keys.index(self.current) if self.current in self._keys else 0
        self._cells, self._sections = cells, tuple(sections)
        self._keys = cells.ids
        near = self._keys[min(before, len(self._keys) - 1)] if self._keys else None
        self._selection.keep(self._keys, near)
        self._lay_out(anchor)
        self._tell_screen_readers()

    def choose(self, keys: Collection[int]) -> None:
        """Select tiles and scroll to the first; nothing changes if none of them is there."""
        if chosen := [key for key in self._keys if key in keys]:
            self._selection.pick(chosen[0])
            self._selection.pick_all(chosen)
            self._scroll_to(self._keys.index(chosen[0]))
            self._tell()

    def show_face(self, key: int, face: TileFace) -> None:
        """Set the contents of a tile."""
        self._faces.pop(key, None)
        self._faces[key] = face
        self._stale.discard(key)
        while len(self._faces) > MOST_FACES:
            oldest = next(iter(self._faces))
            del self._faces[oldest]
            self._tiles.forget(oldest)
        self._update_tile(key)
        if key == self.current:
            self._tell_screen_readers()

    def show_section(self, number: int) -> None:
        """Scroll to a heading."""
        if number < len(self._rows.headings):
            self.verticalScrollBar().setValue(round(self._rows.headings[number]))

    def renew_faces(self) -> None:
        """Request all tile contents again; the loaded ones are shown until then."""
        self._stale |= self._faces.keys()
        self._asking.start()

    def paintEvent(self, event: QPaintEvent) -> None:
        with painting(self.viewport()) as painter:
            painter.translate(self._origin())
            self._draw(painter, QRectF(event.rect()).translated(-self._origin()))

    def _draw(self, painter: QPainter, part: QRectF) -> None:
        """Draw a part of the layout."""
        for section, top in zip(self._sections, self._rows.headings, strict=True):
            if part.top() - em(HEADING_EM) <= top <= part.bottom():
                self._draw_heading(painter, section, top)
        for row in self._rows.rows_between(part.top() - em(CAPTION_EM + 1), part.bottom() + em(1)):
            for tile, place in enumerate(self._rows.places(row), self._rows.rows[row].start):
                self._draw_tile(painter, tile, place)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay the rows out again, keeping the first visible tile at the top."""
        self._lay_out(self._first_visible())
        super().resizeEvent(event)

    def scrollContentsBy(self, _across: int, down: int) -> None:
        self.viewport().scroll(0, down)
        self._asking.start()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move between tiles; Shift extends the selection."""
        target = self._target(event)
        if target is not None:
            self._pick(target, stretched=bool(event.modifiers() & SHIFT))
        elif event.key() == Qt.Key.Key_A and event.modifiers() & CONTROL:
            self._selection.pick_all(self._keys)
            self._tell()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Select the tile under the pointer; a click on a stack's badge opens the stack."""
        tile = self._tile_at(event.position())
        if tile is None:
            self._pressed = None
            return
        key = self._keys[tile]
        if self._is_on_badge(tile, event.position()) and event.button() is LEFT:
            self.stack_picked.emit(key)
            return
        was_chosen = key in self._selection.chosen
        self._pressed = (event.position(), tile, was_chosen)
        if event.modifiers() & CONTROL:
            self._selection.toggle(key)
            self._tell()
        elif event.modifiers() & SHIFT or not was_chosen:
            self._pick(tile, stretched=bool(event.modifiers() & SHIFT))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed is None or not event.buttons() & LEFT:
            return
        distance = (event.position() - self._pressed[0]).manhattanLength()
        if distance >= QGuiApplication.styleHints().startDragDistance():
            self._pressed = None
            self.drag_begun.emit()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, None
        is_plain = not event.modifiers() & (SHIFT | CONTROL) and event.button() is LEFT
        if pressed is not None and pressed[2] and is_plain:
            self._pick(pressed[1])

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        tile = self._tile_at(event.position())
        if tile is not None and not self._is_on_badge(tile, event.position()):
            self.opened.emit(self._keys[tile])

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        place = event.globalPos()
        if event.reason() is QContextMenuEvent.Reason.Keyboard and self.current is not None:
            place = self.viewport().mapToGlobal(self.place_of(self.current).center().toPoint())
        self.menu_asked.emit(place)

    def _target(self, event: QKeyEvent) -> int | None:
        """Return the tile that a key moves to; None if there is none."""
        if self.current is None:
            return None
        now, last = self._keys.index(self.current), len(self._keys) - 1
        row = self._tile_height() + em(CAPTION_EM + GAP_EM)
        visible_rows = max(int(self.viewport().height() / row), 1)
        targets = {
            Qt.Key.Key_Left: max(now - 1, 0),
            Qt.Key.Key_Right: min(now + 1, last),
            Qt.Key.Key_Up: self._rows.above_or_below(now, -1),
            Qt.Key.Key_Down: self._rows.above_or_below(now, 1),
            Qt.Key.Key_PageUp: self._rows.above_or_below(now, -visible_rows),
            Qt.Key.Key_PageDown: self._rows.above_or_below(now, visible_rows),
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }
        return targets.get(Qt.Key(event.key()))

    def _pick(self, tile: int, *, stretched: bool = False) -> None:
        if stretched:
            self._selection.stretch(self._keys, self._keys[tile])
        else:
            self._selection.pick(self._keys[tile])
        self._scroll_to(tile)
        self._tell()

    def _tell(self) -> None:
        self.viewport().update()
        self._tell_screen_readers()
        self.selection_picked.emit()

    def _tell_screen_readers(self) -> None:
        face = None if self.current is None else self._faces.get(self.current)
        self.setAccessibleDescription("" if face is None else face.words)

    def _scroll_to(self, tile: int) -> None:
        place, bar = self._rows.place(tile), self.verticalScrollBar()
        is_first = self._rows.row_of(tile) == 0
        top = 0 if is_first else place.top() - em(HEADING_EM)
        bottom = place.bottom() + em(CAPTION_EM) + em(GAP_EM) - self.viewport().height()
        bar.setValue(round(min(max(bar.value(), bottom), max(top, 0))))
        self.viewport().update()

    def _tile_height(self) -> int:
        """Return the height of pictures, larger in a wide grid to fill it."""
        growth = min(max(self.width() / em(USUAL_WIDTH_EM), 1.0), MOST_GROWTH)
        return round(em(TILE_EM) * growth)

    def _sizes(self) -> RowSizes:
        """Return sizes that reserve room for the scroll bar, visible or not."""
        bar = self.verticalScrollBar().sizeHint().width()
        return RowSizes(
            width=max(self.width() - 2 * em(SIDE_EM) - bar, em(TILE_EM)),
            height=self._tile_height(),
            caption=em(CAPTION_EM),
            gap=em(GAP_EM),
            heading=em(HEADING_EM),
        )

    def _lay_out(self, anchor: tuple[int, int] | None) -> None:
        """Lay the tiles out, with the key of a tile at its offset from the top."""
        starts = [section.start for section in self._sections]
        self._rows = justify(self._cells.ratios, starts, self._sizes())
        bar, visible = self.verticalScrollBar(), self.viewport().height()
        bar.setRange(0, max(round(self._rows.height) - visible, 0))
        bar.setPageStep(visible)
        bar.setSingleStep(em(STEP_EM))
        self.viewport().update()
        self._asking.start()
        if anchor is not None and anchor[0] in self._keys:
            top = self._rows.place(self._keys.index(anchor[0])).top()
            bar.setValue(round(top) - anchor[1])

    def _origin(self) -> QPointF:
        return QPointF(em(SIDE_EM), -self.verticalScrollBar().value())

    def _update_tile(self, key: int) -> None:
        """Redraw one tile if visible."""
        out = em(1)
        for tile in self._visible():
            if self._keys[tile] == key:
                drawn = self.place_of(key).adjusted(-out, -out, out, out + em(CAPTION_EM))
                self.viewport().update(drawn.toRect())

    def _visible(self, beyond: float = 0.0) -> range:
        """Return the visible tiles, and those within ``beyond`` viewport heights."""
        if not self._rows.rows:
            return range(0)
        top, height = self.verticalScrollBar().value(), self.viewport().height()
        rows = self._rows.rows_between(top - beyond * height, top + (1 + beyond) * height)
        return range(self._rows.rows[rows[0]].start, self._rows.rows[rows[-1]].stop)

    def _first_visible(self) -> tuple[int, int] | None:
        """Return the key of the first visible tile, and its offset from the top."""
        tiles = self._visible()
        if not tiles:
            return None
        top = self._rows.place(tiles[0]).top() - self.verticalScrollBar().value()
        return self._keys[tiles[0]], round(top)

    def _ask_for_faces(self) -> None:
        seen = self._visible()
        wanted = [self._keys[tile] for tile in seen]
        wanted += [self._keys[t] for t in self._visible(AHEAD) if t not in seen]
        missing = tuple(key for key in wanted if key not in self._faces or key in self._stale)
        if missing:
            self.faces_wanted.emit(missing)

    def _tile_at(self, position: QPointF) -> int | None:
        place = position - self._origin()
        return self._rows.tile_at(place.x(), place.y()) if self._rows.rows else None

    def _is_on_badge(self, tile: int, position: QPointF) -> bool:
        count = self._cells[tile].stacked
        badge = self._tiles.badge(self._rows.place(tile), count)
        return bool(count) and badge.contains(position - self._origin())

    def _draw_tile(self, painter: QPainter, tile: int, place: QRectF) -> None:
        cell, key = self._cells[tile], self._keys[tile]
        state = TileState(
            stack=cell.stacked,
            is_open=cell.is_open,
            is_chosen=key in self._selection.chosen,
            is_current=key == self.current and self.hasFocus(),
        )
        self._tiles.draw(painter, key, self._faces.get(key), place, state)

    def _draw_heading(self, painter: QPainter, section: GridSection, top: float) -> None:
        line = QRectF(0, top, self._rows.sizes.width, em(HEADING_EM) - em(0.75))
        painter.setFont(font(bold=True))
        painter.setPen(self._theme.colour("text"))
        low = Qt.AlignmentFlag.AlignBottom
        drawn = painter.boundingRect(line, low, section.title)
        painter.drawText(line, low, section.title)
        rest = line.adjusted(drawn.width() + em(0.6), 0, 0, 0)
        draw_text(painter, rest, section.remark, (font(SMALL), self._theme.colour("muted")), low)
