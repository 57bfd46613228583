"""The colour scales of the shown maps, with their values."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QLinearGradient, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.theme.metrics import (
    SMALL,
    em,
    font,
)
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.array_images import CONTRAST
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


class MapLegend(QWidget):
    """Shows a colour bar for each map, from 0 to the value that maps to full colour."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._entries: tuple[LegendEntry, ...] = ()
        self.setAccessibleName(tr("Colour scale"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

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

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(font(SMALL))
        widest = max(
            (painter.fontMetrics().horizontalAdvance(in_figures(e.top)) for e in self._entries),
            default=0,
        )
        for row, entry in enumerate(self._entries):
            line = QRectF(0, row * em(ROW_EM), self.width(), em(ROW_EM))
            self._draw_entry(painter, line, entry, widest)
        painter.end()

    def _draw_entry(
        self, painter: QPainter, line: QRectF, entry: LegendEntry, number_width: float
    ) -> None:
        middle = Qt.AlignmentFlag.AlignVCenter
        word = QRectF(line)
        word.setWidth(line.width() * WORD_SHARE)
        painter.setPen(self._theme.colour("text"))
        measure = QFontMetricsF(painter.font())
        shown = measure.elidedText(entry.text, Qt.TextElideMode.ElideRight, word.width())
        painter.drawText(word, middle | Qt.AlignmentFlag.AlignLeft, shown)
        number = QRectF(line)
        number.setLeft(line.right() - number_width)
        painter.setPen(self._theme.colour("muted"))
        painter.drawText(number, middle | Qt.AlignmentFlag.AlignRight, in_figures(entry.top))
        zero = measure.horizontalAdvance("0")
        start = QRectF(word.right(), line.top(), zero, line.height())
        painter.drawText(start, middle | Qt.AlignmentFlag.AlignLeft, "0")
        left, right = start.right() + em(GAP_EM), number.left() - em(GAP_EM)
        height = em(BAR_EM)
        bar = QRectF(left, line.center().y() - height / 2, right - left, height)
        self._draw_bar(painter, bar, entry.hue)

    def _draw_bar(self, painter: QPainter, bar: QRectF, hue: int) -> None:
        ramp = QLinearGradient(bar.topLeft(), QPointF(bar.right(), bar.top()))
        for stop in range(STOPS + 1):
            share = stop / STOPS
            ramp.setColorAt(share, self._theme.mention(hue, share**CONTRAST))
        radius = bar.height() / 3
        painter.setPen(QPen(self._theme.colour("line"), 1))
        painter.setBrush(self._theme.colour("raised"))
        painter.drawRoundedRect(bar, radius, radius)
        painter.setBrush(ramp)
        painter.drawRoundedRect(bar, radius, radius)


def in_figures(top: float) -> str:
    """Format the end of a scale: 1, 0.35, 0.0042."""
    return f"{top:.2g}" if top else "0"
