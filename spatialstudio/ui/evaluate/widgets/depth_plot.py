"""The plot of depth histograms: its curves are made once and then only take other values."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QFontMetricsF

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.theme.metrics import (
    SMALL,
    em,
    font,
)
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.texts import tr

Weights: TypeAlias = npt.NDArray[np.float64]
"""(slices,), one value a slice."""


@frozen(eq=False, kw_only=False)
class DepthProfile:
    """How one thing's pixels are spread over depth.

    Attributes:
        name: Of the thing.
        hue: Of its word.
        weights: (slices,) nearest first, sums to 1.
    """

    name: str
    hue: int
    weights: Weights


FILL = 0.28
HEADROOM = 1.06
GAP_EM = 0.2
ENDS = ("near", "far")
QUARTERS = (0.25, 0.5, 0.75)
LINE_WIDTH = 1.6

pg.setConfigOption("exitCleanup", False)  # Qt takes its items down by itself; twice is a crash


class DepthPlot(pg.PlotWidget):  # type: ignore[misc]
    """Shows one stepped curve a thing over a common axis; what all share is hatched.

    Args:
        theme: The look.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(enableMenu=False)
        self._theme = theme
        self._profiles: tuple[DepthProfile, ...] = ()
        self._curves: list[pg.PlotCurveItem] = []
        self._shared = self._new_curve()
        self._shared.setZValue(1)
        self.hideAxis("left")
        self.hideButtons()
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        theme.changed.connect(self._dress)
        self.getViewBox().sigResized.connect(self._leave_room)
        self._dress()

    def show_profiles(self, profiles: Sequence[DepthProfile]) -> None:
        """Give the curves these values."""
        self._profiles = tuple(profiles)
        while len(self._curves) < len(profiles):
            self._curves.append(self._new_curve())
        for curve, profile in zip_longest(self._curves, profiles):
            _show(curve, None if profile is None else profile.weights)
        weights = [each.weights for each in profiles]
        _show(self._shared, np.minimum.reduce(weights) if len(weights) > 1 else None)
        peak = max((float(each.max()) for each in weights), default=0.0)
        self.setYRange(0, peak * HEADROOM or 1.0, padding=0)
        self._colour_curves()

    def _leave_room(self) -> None:
        """Leave room beside the axis for the words at its ends."""
        measure = QFontMetricsF(font(SMALL))
        words = max(measure.horizontalAdvance(tr(end)) for end in ENDS)
        margin = words / 2 + em(GAP_EM)
        share = margin / max(self.width() - 2 * margin, 1.0)
        self.setXRange(-share, 1 + share, padding=0)

    def _new_curve(self) -> pg.PlotCurveItem:
        """Return one more curve of the plot, kept as long as the plot is."""
        curve = pg.PlotCurveItem([0, 1], [0], stepMode="center", fillLevel=0, pen=None)
        self.addItem(curve)
        return curve

    def _dress(self) -> None:
        """Take the theme's colours."""
        self.setBackground(self._theme.colour("sunken"))
        axis = self.getAxis("bottom")
        axis.setStyle(tickFont=font(SMALL), tickTextOffset=em(GAP_EM), tickLength=em(GAP_EM))
        axis.setPen(self._theme.colour("line"))
        axis.setTextPen(self._theme.colour("muted"))
        ends = [(place, tr(end)) for place, end in enumerate(ENDS)]
        axis.setTicks([ends, [(place, "") for place in QUARTERS]])
        self._shared.setBrush(QBrush(self._theme.colour("text"), Qt.BrushStyle.BDiagPattern))
        self._colour_curves()

    def _colour_curves(self) -> None:
        for curve, profile in zip(self._curves, self._profiles, strict=False):
            curve.setPen(pg.mkPen(self._theme.mention(profile.hue), width=LINE_WIDTH))
            curve.setBrush(self._theme.mention(profile.hue, FILL))


def _show(curve: pg.PlotCurveItem, weights: Weights | None) -> None:
    """Give a curve its values, from 0, the nearest, to 1; None hides it."""
    curve.setVisible(weights is not None)
    if weights is not None:
        curve.setData(np.linspace(0, 1, len(weights) + 1), weights)
