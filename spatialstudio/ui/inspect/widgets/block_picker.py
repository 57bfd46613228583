"""A diagram of a denoiser's cross-attention blocks and which of them are averaged."""

from enum import Enum
from itertools import pairwise

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.theme.theme import (
    SMALL,
    Theme,
    em,
    font,
)
from spatialstudio.ui.widgets.painting import PaintedWidget, draw_rounded, draw_text, elided
from spatialstudio.ui.widgets.texts import plain_tip, tr

ROW_EM = 1.9
LABEL_EM = 3.4
GAP_EM = 0.25
WIDEST_EM = 2.6
MOST_IN_A_ROW = 20
ROUNDING_EM = 0.25
FRAME_WIDTH = 2.0


class BlockState(Enum):
    """Selection state of a block; the value is the label."""

    INCLUDED = "averaged"
    AVAILABLE = "recorded, not averaged"
    MEAN_ONLY = "averaged; only the mean was recorded"
    MISSING = "not recorded"
    WANTED = "averaged in the next picture"
    LEFT_OUT = "excluded in the next picture"


COLOURS = {
    BlockState.INCLUDED: ("accent", "accent"),
    BlockState.WANTED: ("accent", "accent"),
    BlockState.MEAN_ONLY: ("muted", "muted"),
    BlockState.AVAILABLE: ("accent", "raised"),
    BlockState.LEFT_OUT: ("accent", "raised"),
    BlockState.MISSING: ("faint", "surface"),
}
"""Colours of a block's line and area."""
PICKABLE = frozenset(BlockState) - {BlockState.MEAN_ONLY, BlockState.MISSING}


@frozen
class Block:
    """A block of the diagram.

    Attributes:
        key: Id emitted when it is picked.
        name: Its name in the model.
        shape: (h, w) of its maps.
        layers: Number of attention layers within it.
        state: Selection state.
        selected: Number of its layers that are averaged.
    """

    key: str
    name: str
    shape: tuple[int, int]
    layers: int
    state: BlockState
    selected: int


class BlockPicker(PaintedWidget):
    """Shows blocks from the denoiser's input to its output, coarser ones lower: a U, or a line.

    Emits ``block_toggled`` with a block's key (click, Space) and ``block_singled`` (double click,
    Enter), on user action only. Arrows move between blocks.
    """

    block_toggled = Signal(str)
    block_singled = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__(
            theme,
            accessibleName=tr("Blocks of the model"),
            focusPolicy=Qt.FocusPolicy.StrongFocus,
        )
        self._blocks: tuple[Block, ...] = ()
        self._cursor = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_blocks(self, blocks: tuple[Block, ...]) -> None:
        """Show a model's blocks in the order in which they run."""
        if blocks == self._blocks:
            return
        self._blocks = blocks
        self._cursor = min(self._cursor, max(len(blocks) - 1, 0))
        self._describe()
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(em(14), max(self._row_count(), 1) * em(ROW_EM))

    def cell(self, place: int) -> QRectF:
        """Return the rectangle of a block, in widget coordinates."""
        count = max(len(self._blocks), 1)
        in_a_row = min(count, MOST_IN_A_ROW) if self._is_one_line() else count
        width = min((self.width() - em(LABEL_EM)) / in_a_row, em(WIDEST_EM))
        column = place % in_a_row if self._is_one_line() else place
        gap = min(em(GAP_EM), width / 4)
        left = em(LABEL_EM) + column * width
        return QRectF(left, self._row_of(place) * em(ROW_EM), width - gap, em(ROW_EM) - gap)

    def draw(self, painter: QPainter) -> None:
        """Draw the resolutions and the blocks, connected by lines."""
        self._draw_labels(painter)
        painter.setPen(QPen(self._theme.colour("line"), FRAME_WIDTH))
        middles = [self.cell(place).center() for place in range(len(self._blocks))]
        for start, stop in pairwise(middles):
            painter.drawLine(start, stop)
        for place, block in enumerate(self._blocks):
            self._draw_block(painter, self.cell(place), block)
        if self.hasFocus() and self._blocks:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self._theme.colour("text"), FRAME_WIDTH))
            painter.drawRect(self.cell(self._cursor).adjusted(-1, -1, 1, 1))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if (place := self._at(event.position())) is not None:
            self._go_to(place)
            self._tell(self.block_toggled)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if (place := self._at(event.position())) is not None:
            self._go_to(place)
            self._tell(self.block_singled)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move between blocks; toggle or single out the current one."""
        last = len(self._blocks) - 1
        match event.key():
            case Qt.Key.Key_Left | Qt.Key.Key_Up:
                self._go_to(max(self._cursor - 1, 0))
            case Qt.Key.Key_Right | Qt.Key.Key_Down:
                self._go_to(max(min(self._cursor + 1, last), 0))
            case Qt.Key.Key_Space:
                self._tell(self.block_toggled)
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self._tell(self.block_singled)
            case _:
                super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Show the name of the block under the pointer in a tooltip."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            place = self._at(QPointF(event.pos()))
            text = "" if place is None else _in_words(self._blocks[place])
            QToolTip.showText(event.globalPos(), plain_tip(text), self)
            return True
        return super().event(event)

    def _shapes(self) -> list[tuple[int, int]]:
        """Return the resolutions, the finest first."""
        return sorted({block.shape for block in self._blocks}, reverse=True)

    def _is_one_line(self) -> bool:
        return len(self._shapes()) == 1

    def _row_of(self, place: int) -> int:
        if self._is_one_line():
            return place // MOST_IN_A_ROW
        return self._shapes().index(self._blocks[place].shape)

    def _row_count(self) -> int:
        if self._is_one_line():
            return -(-len(self._blocks) // MOST_IN_A_ROW)
        return len(self._shapes())

    def _at(self, position: QPointF) -> int | None:
        places = range(len(self._blocks))
        return next((place for place in places if self.cell(place).contains(position)), None)

    def _go_to(self, place: int) -> None:
        self._cursor = place
        self._describe()
        self.update()

    def _tell(self, signal: object) -> None:
        if self._blocks and self._blocks[self._cursor].state in PICKABLE:
            signal.emit(self._blocks[self._cursor].key)  # type: ignore[attr-defined]

    def _draw_labels(self, painter: QPainter) -> None:
        look = (font(SMALL), self._theme.colour("muted"))
        for row, (height, width) in enumerate(self._shapes()):
            line = QRectF(0, row * em(ROW_EM), em(LABEL_EM), em(ROW_EM) - em(GAP_EM))
            text = elided(f"{width}x{height}", look[0], line.width())
            draw_text(painter, line, text, look, Qt.AlignmentFlag.AlignVCenter)

    def _draw_block(self, painter: QPainter, cell: QRectF, block: Block) -> None:
        line, fill = map(self._theme.colour, COLOURS[block.state])
        edge, rounding = QPen(line, 1), em(ROUNDING_EM)
        share = block.selected / block.layers or 1.0
        draw_rounded(painter, cell, self._theme.colour("raised"), edge, rounding)
        painter.save()
        painter.setClipRect(cell.adjusted(-1, -1, 1 - (1 - share) * cell.width(), 1))
        draw_rounded(painter, cell, fill, edge, rounding)
        painter.restore()
        if block.state is BlockState.MISSING:
            hatch = QBrush(self._theme.colour("line"), Qt.BrushStyle.BDiagPattern)
            draw_rounded(painter, cell, hatch, edge, rounding)

    def _describe(self) -> None:
        said = _in_words(self._blocks[self._cursor]) if self._blocks else ""
        self.setAccessibleDescription(said)


def _in_words(block: Block) -> str:
    height, width = block.shape
    layers = tr("{count} layers").format(count=block.layers)
    if 0 < block.selected < block.layers:
        layers = tr("{selected} of {count} layers")
        layers = layers.format(selected=block.selected, count=block.layers)
    return tr("{name}: {layers}, {width} x {height}, {state}").format(
        name=block.name,
        layers=layers,
        width=width,
        height=height,
        state=tr(block.state.value),
    )
