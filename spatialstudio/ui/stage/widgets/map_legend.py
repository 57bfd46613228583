"""The colour scales of the shown maps, with their values."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QFontMetrics, QFontMetricsF, QLinearGradient, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.theme.theme import (
    SMALL,
    Theme,
    em,
    font,
)
from spatialstudio.ui.widgets.array_images import CONTRAST
from spatialstudio.ui.widgets.painting import PaintedWidget, draw_rounded, draw_text, elided
from spatialstudio.ui.widgets.texts import tr

ROW_EM = 1.5
BAR_EM = 0.65
GAP_EM = 0.5
WORD_SHARE = 0.3
STOPS = 8


@frozen(kw_only=False)
class LegendEntry:
    """One map: its word, its hue, and the value that maps to full colour."""

    text: str
    hue: int
    top: float


class MapLegend(PaintedWidget):
    """Shows a colour bar for each map, from 0 to the value that maps to full colour."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, accessibleName=tr("Colour scale"))
        self._entries: tuple[LegendEntry, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_entries(self, entries: tuple[LegendEntry, ...]) -> None:
        """Show the scales of these maps."""
        if entries == self._entries:
            return
        if len(entries) != len(self._entries):
            self.updateGeometry()
        self._entries = entries
        said = (f"{entry.text}: 0 to {in_figures(entry.top)}" for entry in entries)
        self.setAccessibleDescription("; ".join(said))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(em(10), max(len(self._entries), 1) * em(ROW_EM))

    def draw(self, painter: QPainter) -> None:
        """Draw a line per map."""
        advance = QFontMetrics(font(SMALL)).horizontalAdvance
        widest = max((advance(in_figures(entry.top)) for entry in self._entries), default=0)
        for row, entry in enumerate(self._entries):
            line = QRectF(0, row * em(ROW_EM), self.width(), em(ROW_EM))
            self._draw_entry(painter, line, entry, widest)

    def _draw_entry(
        self, painter: QPainter, line: QRectF, entry: LegendEntry, number_width: float
    ) -> None:
        letters, middle = font(SMALL), Qt.AlignmentFlag.AlignVCenter
        plain, muted = (letters, self._theme.colour("text")), (letters, self._theme.colour("muted"))
        word = QRectF(line)
        word.setWidth(line.width() * WORD_SHARE)
        draw_text(painter, word, elided(entry.text, letters, word.width()), plain, middle)
        number = QRectF(line)
        number.setLeft(line.right() - number_width)
        at_right = middle | Qt.AlignmentFlag.AlignRight
        draw_text(painter, number, in_figures(entry.top), muted, at_right)
        zero = QFontMetricsF(letters).horizontalAdvance("0")
        start = QRectF(word.right(), line.top(), zero, line.height())
        draw_text(painter, start, "0", muted, middle)
        left, right = start.right() + em(GAP_EM), number.left() - em(GAP_EM)
        height = em(BAR_EM)
        bar = QRectF(left, line.center().y() - height / 2, right - left, height)
        self._draw_bar(painter, bar, entry.hue)

    def _draw_bar(self, painter: QPainter, bar: QRectF, hue: int) -> None:
        ramp = QLinearGradient(bar.topLeft(), QPointF(bar.right(), bar.top()))
        for stop in range(STOPS + 1):
            share = stop / STOPS
            ramp.setColorAt(share, self._theme.mention(hue, share**CONTRAST))
        edge = QPen(self._theme.colour("line"), 1)
        for fill in (self._theme.colour("raised"), QBrush(ramp)):
            draw_rounded(painter, bar, fill, edge, bar.height() / 3)


def in_figures(top: float) -> str:
    """Format the end of a scale: 1, 0.30, 0.0042."""
    return f"{top:#.2g}" if 0 < top < 1 else f"{top:.2g}"
