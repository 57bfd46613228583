"""The plot of a study: mean and interval of a number in each group."""

from collections.abc import Sequence
from math import isnan

import numpy as np
import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import QMarginsF, QRectF, QSizeF, Qt
from PySide6.QtGui import QFontMetricsF

from spatialstudio.ui.gallery.widgets.study_contents import StudyPoint
from spatialstudio.ui.theme.theme import SMALL, Theme, em, plot_font
from spatialstudio.ui.widgets.plot import Plot, PlotTable
from spatialstudio.ui.widgets.plot_range import PlotRange
from spatialstudio.ui.widgets.plot_row import CACHED
from spatialstudio.ui.widgets.texts import tr

AXIS_EM, SIDE_EM, TOP_EM = 3.0, 4.8, 0.5
GAP_EM = 0.2
DOT_EM, CAP, LINE_WIDTH = 0.55, 0.12, 1.5
HEADROOM = 0.08
"""Room above and below the values, as a share of their range."""
LEAST_SIZE = QSizeF(1, 1)


class StudyPlot(Plot):
    """Shows a dot with its interval for each group.

    Args:
        theme: Colours and icons.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Means of the groups"))
        self.points: tuple[StudyPoint, ...] = ()
        self._number = self._by = ""
        self._row = self.add_row()
        self._bars = pg.ErrorBarItem()
        self._dots = pg.ScatterPlotItem(symbol="s", pxMode=True, useCache=False)
        self._row.add(self._bars)
        self._row.add(self._dots, z=1)
        self._axes = {side: pg.AxisItem(side) for side in ("left", "bottom")}
        for axis in self._axes.values():
            axis.setCacheMode(CACHED)
            axis.enableAutoSIPrefix(False)
            axis.linkToView(self._row.box)
            self.surface.scene().addItem(axis)
        self.refresh()

    def show_points(
        self,
        names: tuple[str, str],
        points: Sequence[StudyPoint],
        bounds: tuple[float, float] | None,
    ) -> None:
        """Set the groups.

        Args:
            names: Of the number, and of the settings that form the groups.
            points: The groups, in order.
            bounds: Range that the axis contains at least; None for that of the values.
        """
        (self._number, self._by), self.points = names, tuple(points)
        ends = [end for p in points for end in (p.value, p.low, p.high) if not isnan(end)]
        ends += [] if bounds is None else bounds
        low, high = min(ends, default=0.0), max(ends, default=1.0)
        room = (high - low) * HEADROOM or 0.5
        self._row.low, self._row.high = low - room, high + room
        self.range = PlotRange(low=-0.5, high=max(len(points), 1) - 0.5, least=1.0)
        self.place = None
        self.describe("\n".join(f"{each.name}: {each.said}" for each in points))
        self.refresh()

    def lay_out(self, room: QRectF) -> None:
        """Reserve room for both axes."""
        area = room.adjusted(em(SIDE_EM), em(TOP_EM), -em(GAP_EM), -em(AXIS_EM))
        area = QRectF(area.topLeft(), area.size().expandedTo(LEAST_SIZE))
        self._row.place(area, QMarginsF())
        self._axes["left"].setWidth(em(SIDE_EM))
        self._axes["left"].setGeometry(
            QRectF(area.left() - em(SIDE_EM), area.top(), em(SIDE_EM), area.height())
        )
        self._axes["bottom"].setHeight(em(AXIS_EM))
        self._axes["bottom"].setGeometry(
            QRectF(area.left(), area.bottom(), area.width(), em(AXIS_EM))
        )

    def dress(self) -> None:
        """Apply the theme's colours."""
        for axis in self._axes.values():
            axis.setStyle(
                tickFont=plot_font(SMALL), tickTextOffset=em(GAP_EM), tickLength=em(GAP_EM)
            )
            axis.setPen(self.theme.colour("line"))
            axis.setTextPen(self.theme.colour("muted"))
        size = {"font-size": f"{plot_font(SMALL).pointSizeF():g}pt"}
        for side, name in (("left", self._number), ("bottom", self._by)):
            self._axes[side].label.setFont(plot_font(SMALL))
            self._axes[side].setLabel(name, color=self.theme.colour("muted").name(), **size)
        self._axes["bottom"].setTicks([list(enumerate(self._names()))])
        text = self.theme.colour("text")
        known = [(x, p) for x, p in enumerate(self.points) if not isnan(p.value)]
        barred = [(x, p) for x, p in known if not isnan(p.low)]
        self._bars.setData(
            x=np.array([x for x, _ in barred], float),
            y=np.array([p.value for _, p in barred]),
            top=np.array([p.high - p.value for _, p in barred]),
            bottom=np.array([p.value - p.low for _, p in barred]),
            beam=CAP,
            pen=pg.mkPen(text, width=LINE_WIDTH),
        )
        self._dots.setData(
            x=[x for x, _ in known],
            y=[p.value for _, p in known],
            size=em(DOT_EM),
            brush=self.theme.colour("accent"),
            pen=None,
        )

    def stride(self) -> float:
        """Return the distance of two groups."""
        return 1.0

    def snapped(self, place: float) -> float:
        """Return the nearest group."""
        return float(min(max(round(place), 0), max(len(self.points) - 1, 0)))

    def text_at(self, place: float) -> str:
        """Return the group's settings and values."""
        if not self.points:
            return ""
        point = self.points[int(self.snapped(place))]
        return f"{point.name}\n{point.said}"

    def table(self) -> PlotTable:
        """Return the groups with their bounds."""
        columns = (tr("group"), self._number, tr("low"), tr("high"))
        return PlotTable(
            columns,
            tuple((p.name, *map(_known, (p.value, p.low, p.high))) for p in self.points),
        )

    def _names(self) -> list[str]:
        """Return the names of the groups, each as long as there is room."""
        measure = QFontMetricsF(plot_font(SMALL))
        room = self._row.area.width() / max(self.range.length, 1) - em(GAP_EM)
        elide = Qt.TextElideMode.ElideRight
        return [measure.elidedText(each.name, elide, room) for each in self.points]


def _known(value: float) -> float | None:
    return None if isnan(value) else value
