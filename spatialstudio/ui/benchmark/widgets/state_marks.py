"""Marks of cell states: the shapes of outcomes, and a sign for every other state."""

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen

from spatialstudio.domain.benchmark_cells import CellState, Codes
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.outcome_mark import draw_outcome
from spatialstudio.ui.widgets.painting import draw_rounded, painting
from spatialstudio.ui.widgets.texts import tr

FADED = 0.18
"""Opacity of a cell that the filter leaves out."""
FADE = len(CellState)
"""Added to a state for its faded mark."""
FORMAT = QImage.Format.Format_ARGB32_Premultiplied
Pixels = npt.NDArray[np.uint8]
DOT = 0.12
"""Radius of the dot of a waiting cell, as a share of the side."""


def state_words() -> dict[CellState, str]:
    """Return the name of each state, as shown to the user."""
    return {
        CellState.PASS: "PASS",
        CellState.FAIL: "FAIL",
        CellState.UNDECIDABLE: "UNDECIDABLE",
        CellState.DRAWN: tr("not judged"),
        CellState.FAILED: tr("failed"),
        CellState.WAITING: tr("waiting"),
        CellState.UNUSABLE: tr("cannot be drawn"),
    }


def draw_state(painter: QPainter, theme: Theme, state: CellState, box: QRectF) -> None:
    """Draw the mark of a state into a square."""
    if state.outcome is not None:
        draw_outcome(painter, theme, state.outcome, box)
        return
    side, middle = box.width(), box.center()
    inner = box.adjusted(side * 0.2, side * 0.2, -side * 0.2, -side * 0.2)
    match state:
        case CellState.WAITING:
            draw_rounded(painter, _around(middle, side * DOT), theme.colour("faint"))
        case CellState.DRAWN:
            pen = QPen(theme.colour("muted"), side / 12)
            draw_rounded(painter, inner, theme.colour("raised"), pen, side * DOT)
        case CellState.FAILED:
            draw_rounded(painter, inner, theme.colour("bad_ground"), radius=side * DOT)
            _draw_lines(painter, theme.colour("bad"), inner, ((0, 0, 1, 1), (0, 1, 1, 0)))
        case _:
            _draw_lines(painter, theme.colour("faint"), inner, ((0, 0.5, 1, 0.5),))


def _around(middle: QPointF, radius: float) -> QRectF:
    return QRectF(middle.x() - radius, middle.y() - radius, 2 * radius, 2 * radius)


def _draw_lines(
    painter: QPainter, colour: QColor, box: QRectF, lines: tuple[tuple[float, ...], ...]
) -> None:
    """Draw lines between points of a box, given as shares of its sides."""
    pen = QPen(colour, box.width() / 5)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    painter.setPen(pen)
    inner = box.adjusted(*(box.width() * each for each in (0.15, 0.15, -0.15, -0.15)))
    for x1, y1, x2, y2 in lines:
        start = inner.topLeft() + QPointF(x1 * inner.width(), y1 * inner.height())
        stop = inner.topLeft() + QPointF(x2 * inner.width(), y2 * inner.height())
        painter.drawLine(start, stop)


class StateMarks:
    """Drawn marks by state: single images, and pixels to compose many of them in one image.

    Args:
        theme: Their colours.
    """

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._images: dict[tuple[CellState, int, float, bool], QImage] = {}
        self._tiles: dict[tuple[int, float], Pixels] = {}
        theme.changed.connect(self._images.clear)
        theme.changed.connect(self._tiles.clear)

    def image(self, state: CellState, side: int, ratio: float, *, faded: bool = False) -> QImage:
        """Return the mark of a state.

        Args:
            state: The state.
            side: Width and height, logical pixels.
            ratio: Physical pixels per logical pixel.
            faded: Whether the filter leaves the cell out.
        """
        key = (state, side, ratio, faded)
        if key not in self._images:
            image = QImage(QSize(side, side) * ratio, FORMAT)
            image.setDevicePixelRatio(ratio)
            image.fill(Qt.GlobalColor.transparent)
            with painting(image) as painter:
                painter.setOpacity(FADED if faded else 1.0)
                draw_state(painter, self._theme, state, QRectF(0, 0, side, side))
            self._images[key] = image
        return self._images[key]

    def composed(self, marks: Codes, side: int, ratio: float) -> QImage:
        """Return a grid of marks as one image; takes a fraction of drawing each by itself.

        Args:
            marks: (rows, columns) values of ``CellState``; plus ``FADE`` for a faded mark.
            side: Width and height of a mark, logical pixels.
            ratio: Physical pixels per logical pixel.
        """
        tiles = self._tiles_of(side, ratio)
        rows, columns = marks.shape
        height, width = rows * tiles.shape[1], columns * tiles.shape[2]
        pixels = np.ascontiguousarray(tiles[marks].swapaxes(1, 2)).reshape(height, width, 4)
        image = QImage(pixels.data, width, height, 4 * width, FORMAT).copy()
        image.setDevicePixelRatio(ratio)
        return image

    def _tiles_of(self, side: int, ratio: float) -> Pixels:
        """Return (2 FADE, s, s, 4) pixels of all marks, then of all faded ones."""
        key = (side, ratio)
        if key not in self._tiles:
            images = (
                self.image(state, side, ratio, faded=faded)
                for faded in (False, True)
                for state in CellState
            )
            self._tiles[key] = np.stack([_pixels(image) for image in images])
        return self._tiles[key]


def _pixels(image: QImage) -> Pixels:
    """Return the (height, width, 4) bytes of an image of ``FORMAT``."""
    shape = (image.height(), image.bytesPerLine() // 4, 4)
    return np.frombuffer(image.constBits(), np.uint8).reshape(shape).copy()
