"""Depth histograms of the objects' pixels on a common axis."""

from collections.abc import Sequence
from html import escape
from itertools import zip_longest
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import QMarginsF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetricsF
from PySide6.QtWidgets import QSizePolicy, QWidget

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.theme.theme import (
    SMALL,
    Theme,
    em,
    font,
    plot_font,
)
from spatialstudio.ui.widgets.builders import column, grow
from spatialstudio.ui.widgets.plot import Plot, PlotKey, PlotTable
from spatialstudio.ui.widgets.plot_range import PlotRange
from spatialstudio.ui.widgets.plot_row import CACHED, PlotLine
from spatialstudio.ui.widgets.texts import PlainLabel, tr

Weights: TypeAlias = npt.NDArray[np.float64]
"""(slices,), one value per slice."""


@frozen(eq=False, kw_only=False)
class DepthProfile:
    """Histogram of one object's pixels over depth.

    Attributes:
        name: Name of the object.
        hue: Hue of its word.
        weights: (slices,) nearest first, sums to 1.
    """

    name: str
    hue: int
    weights: Weights


FILL = 0.28
HEADROOM = 1.06
GAP_EM = 0.2
AXIS_EM = 1.2
ENDS = ("near", "far")
QUARTERS = (0.25, 0.5, 0.75)
LINE_WIDTH = 1.6
LEAST_SIZE = QSizeF(1, 1)
CLOSEST = 1 / 16
"""The smallest depth range that can be zoomed to."""


class DepthPlot(Plot):
    """Shows a stepped curve for each object on a common axis; the common overlap is hatched.

    Args:
        theme: Colours and icons.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Depth of the objects"))
        self._profiles: tuple[DepthProfile, ...] = ()
        self._curves: list[pg.PlotCurveItem] = []
        self._row = self.add_row()
        self._shared = self._new_curve(z=1)
        self._axis = pg.AxisItem("bottom")
        self._axis.setCacheMode(CACHED)
        self._axis.linkToView(self._row.box)
        self.surface.scene().addItem(self._axis)
        self.range = PlotRange(least=CLOSEST)
        self.refresh()

    def show_profiles(self, profiles: Sequence[DepthProfile]) -> None:
        """Set the values of the curves."""
        self._profiles = tuple(profiles)
        while len(self._curves) < len(profiles):
            self._curves.append(self._new_curve())
        for curve, profile in zip_longest(self._curves, profiles):
            _show(curve, None if profile is None else profile.weights)
        weights = [each.weights for each in profiles]
        _show(self._shared, np.minimum.reduce(weights) if len(weights) > 1 else None)
        peak = max((float(each.max()) for each in weights), default=0.0)
        self._row.high = peak * HEADROOM or 1.0
        self.refresh()

    def lay_out(self, room: QRectF) -> None:
        """Reserve room for the labels at the ends of the axis."""
        measure = QFontMetricsF(plot_font(SMALL))
        margin = max(measure.horizontalAdvance(tr(end)) for end in ENDS) / 2 + em(GAP_EM)
        area = room.adjusted(margin, 0, -margin, -em(AXIS_EM))
        sides = QMarginsF(margin, 0, margin, 0)
        self._row.place(QRectF(area.topLeft(), area.size().expandedTo(LEAST_SIZE)), sides)
        box = self._row.box.geometry()
        self._axis.setHeight(em(AXIS_EM))
        self._axis.setGeometry(QRectF(box.left(), box.bottom(), box.width(), em(AXIS_EM)))

    def dress(self) -> None:
        """Apply the theme's colours."""
        self._axis.setStyle(
            tickFont=plot_font(SMALL), tickTextOffset=em(GAP_EM), tickLength=em(GAP_EM)
        )
        self._axis.setPen(self.theme.colour("line"))
        self._axis.setTextPen(self.theme.colour("muted"))
        ends = [(place, tr(end)) for place, end in enumerate(ENDS)]
        self._axis.setTicks([ends, [(place, "") for place in QUARTERS]])
        self._shared.setBrush(QBrush(self.theme.colour("text"), Qt.BrushStyle.BDiagPattern))
        for curve, profile in zip(self._curves, self._profiles, strict=False):
            curve.setPen(pg.mkPen(self.theme.mention(profile.hue), width=LINE_WIDTH))
            curve.setBrush(self.theme.mention(profile.hue, FILL))

    def ground(self) -> QColor:
        """Return the background colour of the histograms."""
        return self.theme.colour("sunken")

    def stride(self) -> float:
        """Return the depth of a slice."""
        return 1 / self._slices

    def snapped(self, place: float) -> float:
        """Return the centre of the nearest slice."""
        return (self._slice_at(place) + 0.5) / self._slices

    def text_at(self, place: float) -> str:
        """Return the share of each object's pixels at a depth, one per line."""
        if not self._profiles:
            return ""
        number = self._slice_at(place)
        lines = [tr("depth {depth:.2f}, from near to far").format(depth=self.snapped(place))]
        lines += [f"{each.name}: {each.weights[number]:.1%}" for each in self._profiles]
        return "\n".join(lines)

    def keys(self) -> Sequence[PlotKey]:
        """Return the legend entries: the objects."""
        return [
            PlotKey(name=each.name, colour=self.theme.mention(each.hue)) for each in self._profiles
        ]

    def table(self) -> PlotTable:
        """Return a row for each depth slice: its centre, and the share of each object's pixels."""
        depths = ((number + 0.5) / self._slices for number in range(self._slices))
        shares = zip(*(each.weights.tolist() for each in self._profiles), strict=True)
        rows = tuple((depth, *values) for depth, values in zip(depths, shares, strict=False))
        return PlotTable(("depth", *(each.name for each in self._profiles)), rows)

    @property
    def _slices(self) -> int:
        return len(self._profiles[0].weights) if self._profiles else 1

    def _slice_at(self, place: float) -> int:
        return min(max(int(place * self._slices), 0), self._slices - 1)

    def _new_curve(self, z: int = 0) -> pg.PlotCurveItem:
        """Return another curve of the plot, with the plot's lifetime."""
        curve = PlotLine([0, 1], [0], stepMode="center", fillLevel=0, pen=None)
        self._row.add(curve, z)
        return curve


def _show(curve: pg.PlotCurveItem, weights: Weights | None) -> None:
    """Set a curve's values, from 0, the nearest, to 1; None hides it."""
    curve.setVisible(weights is not None)
    if weights is not None:
        curve.setData(np.linspace(0, 1, len(weights) + 1), weights)


SIZE_EM = (14, 6.5)


class DepthHistogram(QWidget):
    """Shows histograms over depth; their common overlap is hatched.

    Args:
        theme: Colours and icons.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(
            sizePolicy=QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        )
        self._theme = theme
        self.plot = DepthPlot(theme)
        self._profiles: tuple[DepthProfile, ...] = ()
        self._names = PlainLabel()
        self._names.setTextFormat(Qt.TextFormat.RichText)  # every name is escaped
        self._names.setFont(font(SMALL, bold=True))
        self._names.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column(self._names, grow(self.plot), within=self, gap=0)
        theme.changed.connect(self._show_names)

    def sizeHint(self) -> QSize:
        return QSize(*(em(side) for side in SIZE_EM))

    def show_profiles(self, profiles: Sequence[DepthProfile], words: str) -> None:
        """Show these histograms and their description."""
        self._profiles = tuple(profiles)
        self.plot.show_profiles(profiles)
        self.plot.describe(words)
        self._show_names()

    def _show_names(self) -> None:
        """Label each object in the hue of its curve."""
        words = '<span style="color: {hue}">{name}</span>'
        names = (
            words.format(hue=self._theme.mention(each.hue).name(), name=escape(each.name))
            for each in self._profiles
        )
        self._names.setText(" &nbsp; ".join(names))
