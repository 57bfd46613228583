"""Pairs of pictures of the same prompt and seed, by two methods."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QImage, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QFrame, QWidget

from spatialstudio.domain.benchmark_cells import CellState
from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.benchmark.widgets.state_marks import draw_state, state_words
from spatialstudio.ui.theme.theme import Theme, em
from spatialstudio.ui.widgets.builders import clear, column, row
from spatialstudio.ui.widgets.painting import FIXED, PaintedWidget
from spatialstudio.ui.widgets.texts import PlainLabel, TextLabel, Tone, plain_tip, tr

SIDE_EM, MARK_EM = 5.5, 1.3
RETURNS = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


@frozen(eq=False)
class PairRow:
    """Two pictures of one prompt and seed.

    Attributes:
        text: The prompt.
        remark: Seed and change.
        cells: Numbers of both cells.
        states: States of both cells.
        pictures: Thumbnails; None where a picture is not readable.
    """

    text: str
    remark: str
    cells: tuple[int, int]
    states: tuple[CellState, CellState]
    pictures: tuple[QImage | None, QImage | None]


class JudgedPicture(PaintedWidget):
    """A thumbnail with the mark of its state. Emits ``opened`` on a click or Return.

    Args:
        theme: Colours.
        picture: The thumbnail; None for an empty field.
        state: The state.
        name: Accessible name.
    """

    opened = Signal()

    def __init__(self, theme: Theme, picture: QImage | None, state: CellState, name: str) -> None:
        super().__init__(theme, sizePolicy=FIXED, accessibleName=name)
        self._picture, self._state = picture, state
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setToolTip(plain_tip(state_words()[state]))

    def sizeHint(self) -> QSize:
        return QSize(em(SIDE_EM), em(SIDE_EM))

    def draw(self, painter: QPainter) -> None:
        """Draw the picture, the mark in its corner, and the focus."""
        box = QRectF(self.rect()).adjusted(2, 2, -2, -2)
        if self._picture is None:
            painter.fillRect(box, self._theme.colour("sunken"))
        else:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawImage(box, self._picture)
        corner = QRectF(box.left() + 2, box.top() + 2, em(MARK_EM), em(MARK_EM))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colour("raised"))
        painter.drawEllipse(corner)
        draw_state(painter, self._theme, self._state, corner.adjusted(1, 1, -1, -1))
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self._theme.colour("accent"), 2))
            painter.drawRect(box)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self.rect().contains(event.position().toPoint()):
            self.opened.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in RETURNS:
            self.opened.emit()
        else:
            super().keyPressEvent(event)


class PairList(QWidget):
    """Shows pairs of pictures, one per row. Emits ``cell_opened`` with the number of a cell.

    Args:
        theme: Colours.
    """

    cell_opened = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._column = column(within=self, gap=0.5)
        self.setAccessibleName(tr("Pictures that changed most"))

    def show_rows(self, rows: Sequence[PairRow]) -> None:
        """Show pairs, the largest change first."""
        clear(self._column)
        for each in rows:
            self._column.addWidget(self._card(each))

    def _card(self, pair: PairRow) -> QFrame:
        card = QFrame()
        card.setProperty("kind", "card")
        pictures = []
        for cell, state, picture in zip(pair.cells, pair.states, pair.pictures, strict=True):
            name = f"{pair.text}, {state_words()[state]}"
            made = JudgedPicture(self._theme, picture, state, name)
            made.opened.connect(partial(self.cell_opened.emit, cell))
            pictures.append(made)
        words = QWidget()
        column(
            TextLabel(pair.text), PlainLabel(pair.remark, tone=Tone.MUTED), within=words, gap=0.2
        )
        row(*pictures, words, within=card, gap=0.5, edges=(0.4, 0.4, 0.4, 0.4))
        return card
