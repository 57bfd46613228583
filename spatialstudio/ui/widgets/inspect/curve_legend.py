"""Which curve is whose: a line in each relation's hue, and how the second run is drawn."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from spatialstudio.ui.texts import tr
from spatialstudio.ui.theme.metrics import SMALL, em, font
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.inspect.pos_curve import TimeContents

SWATCH_EM = 1.1
GAP_EM = 0.9
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class CurveLegend(QWidget):
    """Names the relations in the hues of their curves; cut off where there is no room.

    Args:
        theme: Its colours.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._contents = TimeContents()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Legend of the curves"))
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """Ask for one line."""
        return QSize(em(12), em(1.4))

    def show_contents(self, contents: TimeContents) -> None:
        """Name what a chart shows."""
        self._contents = contents
        named = "\n".join(name for name, _, _ in self._entries())
        self.setToolTip(named)
        self.setAccessibleDescription(named)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        """Draw the entries side by side; long names share what is missing."""
        entries = self._entries()
        if not entries:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(font(SMALL))
        metrics = painter.fontMetrics()
        around = em(SWATCH_EM) + em(0.3) + em(GAP_EM)
        wanted = [metrics.horizontalAdvance(name) + 2 for name, _, _ in entries]
        room = max(self.width() - around * len(entries), 0)
        share = min(1.0, room / max(sum(wanted), 1))
        left, middle = 0.0, self.height() / 2
        for (name, ink, style), width in zip(entries, wanted, strict=True):
            painter.setPen(QPen(ink, 2, style))
            painter.drawLine(QPointF(left, middle), QPointF(left + em(SWATCH_EM), middle))
            box = QRectF(left + em(SWATCH_EM) + em(0.3), 0, width * share, self.height())
            painter.setPen(self._theme.colour("muted"))
            fitting = metrics.elidedText(name, Qt.TextElideMode.ElideRight, round(box.width()))
            painter.drawText(box, LEFT, fitting)
            left += around + width * share
        painter.end()

    def _entries(self) -> list[tuple[str, QColor, Qt.PenStyle]]:
        contents, solid, dashed = self._contents, Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine
        entries = [
            (curve.name, self._theme.mention(curve.hue), solid) for curve in contents.first.curves
        ]
        if contents.second is not None:
            entries.append((contents.second.name, self._theme.colour("muted"), dashed))
        if contents.goal is not None:
            told = tr("goal {goal:g}").format(goal=contents.goal)
            entries.append((told, self._theme.colour("good"), dashed))
        return entries
