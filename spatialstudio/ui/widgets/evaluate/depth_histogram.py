"""How far away the pixels of each thing are: one histogram a thing on a common axis."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from spatialstudio.ui.texts import tr
from spatialstudio.ui.theme.metrics import SMALL, em, font
from spatialstudio.ui.theme.theme import Theme

HEIGHT_EM, FOOT_EM = 5.5, 1.2
FILL = 0.28
HEADROOM = 0.94


@dataclass(frozen=True, slots=True, eq=False)
class DepthProfile:
    """How one thing's pixels are spread over depth.

    Attributes:
        name: Of the thing.
        hue: Of its word.
        weights: (slices,) nearest first, sums to 1.
    """

    name: str
    hue: int
    weights: npt.NDArray[np.float64]


class DepthHistogram(QWidget):
    """Shows histograms over depth; what they share is hatched.

    Args:
        theme: The look.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._profiles: tuple[DepthProfile, ...] = ()
        self.setAccessibleName(tr("Depth of the things"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """Ask for a wide strip."""
        return QSize(em(14), em(HEIGHT_EM))

    def show_profiles(self, profiles: Sequence[DepthProfile], words: str) -> None:
        """Show these histograms, and in words what they say."""
        self._profiles = tuple(profiles)
        self.setAccessibleDescription(words)
        self.setToolTip(words)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        """Draw the histograms, what they share, and the axis with the names."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(0, 0, self.width(), self.height() - em(FOOT_EM))
        painter.fillRect(area, self._theme.colour("sunken"))
        peak = max((float(each.weights.max()) for each in self._profiles), default=0.0)
        if peak > 0:
            for each in self._profiles:
                shape = _steps(each.weights / peak, area)
                painter.setBrush(self._theme.mention(each.hue, FILL))
                painter.setPen(QPen(self._theme.mention(each.hue), 1.6))
                painter.drawPolygon(shape)
            self._hatch_shared(painter, area, peak)
        self._draw_foot(painter, area)
        painter.end()

    def _hatch_shared(self, painter: QPainter, area: QRectF, peak: float) -> None:
        if len(self._profiles) > 1:
            shared = np.minimum.reduce([each.weights for each in self._profiles])
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QBrush(self._theme.colour("text"), Qt.BrushStyle.BDiagPattern))
            painter.drawPolygon(_steps(shared / peak, area))

    def _draw_foot(self, painter: QPainter, area: QRectF) -> None:
        foot = QRectF(0, area.bottom(), area.width(), em(FOOT_EM))
        painter.setFont(font(SMALL))
        painter.setPen(self._theme.colour("muted"))
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(foot, middle | Qt.AlignmentFlag.AlignLeft, tr("near"))
        painter.drawText(foot, middle | Qt.AlignmentFlag.AlignRight, tr("far"))

        painter.setFont(font(SMALL, bold=True))
        measure = painter.fontMetrics()
        widths = [measure.horizontalAdvance(each.name) + em(0.8) for each in self._profiles]
        foot.setLeft(foot.center().x() - sum(widths) / 2)
        for each, width in zip(self._profiles, widths, strict=True):
            painter.setPen(self._theme.mention(each.hue))
            painter.drawText(foot, middle | Qt.AlignmentFlag.AlignLeft, each.name)
            foot.setLeft(foot.left() + width)


def _steps(heights: npt.NDArray[np.float64], area: QRectF) -> QPolygonF:
    """Return the outline of a histogram, heights in shares of the area."""
    width = area.width() / len(heights)
    points = [area.bottomLeft()]
    for place, height in enumerate(heights.tolist()):
        y = area.bottom() - HEADROOM * height * area.height()
        points += [QPointF(place * width, y), QPointF((place + 1) * width, y)]
    return QPolygonF([*points, area.bottomRight()])
