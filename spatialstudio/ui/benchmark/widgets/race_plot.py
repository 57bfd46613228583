"""The plot of an online choice: scores read from each method, and how far each is behind."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtWidgets import QGraphicsSimpleTextItem

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.theme.theme import SMALL, Theme, em, plot_font
from spatialstudio.ui.widgets.plot import Plot, PlotKey, PlotTable, place_text
from spatialstudio.ui.widgets.plot_range import PlotRange
from spatialstudio.ui.widgets.plot_row import CACHED, PlotLine
from spatialstudio.ui.widgets.texts import tr

SIDE_EM, AXIS_EM, TOP_EM, GAP_EM = 3.2, 1.6, 1.5, 2.0
RIGHT_EM = 0.8
PULLS_SHARE = 0.35
"""Height of the lower field."""
LINE_WIDTH = 1.8
MOST_POINTS = 2000
STYLES = (
    Qt.PenStyle.SolidLine,
    Qt.PenStyle.DashLine,
    Qt.PenStyle.DotLine,
    Qt.PenStyle.DashDotLine,
)
Values = npt.NDArray[np.float64]


@frozen(eq=False)
class Race:
    """A choice between G methods in T steps.

    Attributes:
        names: G methods.
        pulls: (T, G) scores read from each.
        leads: (T, G) mean of the best minus that of each; NaN once it is dropped.
        radii: (T, G) half the width of the leads' confidence bounds.
    """

    names: tuple[str, ...]
    pulls: Values
    leads: Values
    radii: Values


class RacePlot(Plot):
    """Shows, above, the lead of the best method with its bounds, and below, the scores read.

    A method is dropped when the lower bound of the lead over it rises above 0.

    Args:
        theme: Colours.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Choice of the best method"))
        self._race: Race | None = None
        self._upper, self._lower = self.add_row(-0.5, 1.0), self.add_row(0.0, 1.0)
        self._curves: list[tuple[PlotLine, PlotLine, PlotLine]] = []
        self._zero = PlotLine([0, 1], [0, 0])
        titles = (tr("lead of the best, and its lower bound"), tr("scores read"))
        self._titles = [self._text(words) for words in titles]
        self._upper.add(self._zero)
        self._axes = [self._new_axis("left", self._upper), self._new_axis("left", self._lower)]
        self._axes.append(self._new_axis("bottom", self._lower))
        self.setMinimumHeight(em(16))
        self.refresh()

    def sizeHint(self) -> QSize:
        return QSize(em(18), em(18))

    def show_race(self, race: Race, words: str) -> None:
        """Show a choice, and describe it in words."""
        self._race = race
        steps = len(race.pulls)
        self.range = PlotRange(low=0.0, high=float(max(steps, 2)), least=4.0)
        bounds = np.concatenate([(race.leads + race.radii).ravel(), race.leads.ravel()])
        highest = float(np.nanmax(bounds)) if np.isfinite(bounds).any() else 1.0
        lowest = float(np.nanmin(race.leads - race.radii, initial=0.0))
        self._upper.low, self._upper.high = max(lowest, -1.0), min(max(highest, 0.1), 1.0)
        self._lower.high = float(max(race.pulls.max(initial=1), 1))
        for curves in self._curves:
            for curve, row in zip(curves, (self._upper, self._upper, self._lower), strict=True):
                row.box.removeItem(curve)
        self._curves = [self._new_curves(race, arm) for arm in range(len(race.names))]
        self._zero.setData([0, steps], [0, 0])
        self.refresh()
        self.describe(words)

    def lay_out(self, room: QRectF) -> None:
        """Place both fields, and their axes beside them."""
        whole = room.adjusted(em(SIDE_EM), em(TOP_EM), -em(RIGHT_EM), -em(AXIS_EM))
        low = whole.height() * PULLS_SHARE
        upper = whole.adjusted(0, 0, 0, -low - em(GAP_EM))
        lower = whole.adjusted(0, whole.height() - low, 0, 0)
        for row, area, axis in zip(
            (self._upper, self._lower), (upper, lower), self._axes, strict=False
        ):
            row.place(area)
            axis.setGeometry(
                QRectF(area.left() - em(SIDE_EM), area.top(), em(SIDE_EM), area.height())
            )
            axis.setWidth(em(SIDE_EM))
        for title, area in zip(self._titles, (upper, lower), strict=True):
            place_text(title, area.topLeft(), (0, 1))
        self._axes[2].setGeometry(QRectF(lower.left(), lower.bottom(), lower.width(), em(AXIS_EM)))
        self._axes[2].setHeight(em(AXIS_EM))

    def dress(self) -> None:
        """Apply the theme's colours."""
        for axis in self._axes:
            axis.setStyle(tickFont=plot_font(SMALL), tickTextOffset=em(0.2), tickLength=em(0.2))
            axis.setPen(self.theme.colour("line"))
            axis.setTextPen(self.theme.colour("muted"))
        for title in self._titles:
            title.setBrush(self.theme.colour("muted"))
        self._zero.setPen(pg.mkPen(self.theme.colour("faint"), width=1))
        for arm, (lead, bound, pulls) in enumerate(self._curves):
            style = STYLES[arm % len(STYLES)]
            colour = self.theme.mention(arm)
            for curve in (lead, pulls):
                curve.setPen(pg.mkPen(colour, width=LINE_WIDTH, style=style))
            bound.setPen(pg.mkPen(self.theme.mention(arm, 0.5), width=1, style=style))

    def snapped(self, place: float) -> float:
        """Return the nearest step."""
        return float(min(max(round(place), 1), max(self._steps, 1)))

    def stride(self) -> float:
        """Return the distance of two steps."""
        return max(round(self.range.length / 50), 1)

    def text_at(self, place: float) -> str:
        """Return the leads and the scores read at a step, a line each."""
        race = self._race
        if race is None or not self._steps:
            return ""
        step = int(self.snapped(place)) - 1
        lines = [tr("after {count} prompts and seeds").format(count=step + 1)]
        for arm, name in enumerate(race.names):
            lead, radius = race.leads[step, arm], race.radii[step, arm]
            if np.isnan(lead):
                lines.append(tr("{name}: dropped").format(name=name))
            else:
                words = tr("{name}: behind by {lead} ± {radius}, {pulls} scores")
                numbers = {"lead": f"{lead:.3f}", "radius": f"{radius:.3f}"}
                pulls = f"{race.pulls[step, arm]:.0f}"
                lines.append(words.format(name=name, pulls=pulls, **numbers))
        return "\n".join(lines)

    def keys(self) -> Sequence[PlotKey]:
        """Return the methods."""
        names = () if self._race is None else self._race.names
        return [
            PlotKey(name=name, colour=self.theme.mention(arm), style=STYLES[arm % len(STYLES)])
            for arm, name in enumerate(names)
        ]

    def table(self) -> PlotTable:
        """Return a row for each step and method."""
        race = self._race
        columns = ("step", "method", "scores", "lead", "radius")
        if race is None:
            return PlotTable(columns, ())
        rows = (
            (step + 1, name, int(race.pulls[step, arm]), *_numbers(race, step, arm))
            for step in range(self._steps)
            for arm, name in enumerate(race.names)
        )
        return PlotTable(columns, tuple(rows))

    @property
    def _steps(self) -> int:
        return 0 if self._race is None else len(self._race.pulls)

    def _new_axis(self, side: str, row: object) -> pg.AxisItem:
        axis = pg.AxisItem(side)
        axis.setCacheMode(CACHED)
        axis.linkToView(row.box)  # type: ignore[attr-defined]
        self.surface.scene().addItem(axis)
        return axis

    def _text(self, words: str) -> QGraphicsSimpleTextItem:
        item = QGraphicsSimpleTextItem(words)
        item.setFont(plot_font(SMALL))
        self.surface.scene().addItem(item)
        return item

    def _new_curves(self, race: Race, arm: int) -> tuple[PlotLine, PlotLine, PlotLine]:
        chosen = np.unique(np.linspace(0, len(race.pulls) - 1, MOST_POINTS).astype(int))
        steps = chosen + 1.0
        lead = race.leads[chosen, arm]
        curves = (
            PlotLine(steps, lead, connect="finite", antialias=True),
            PlotLine(steps, lead - race.radii[chosen, arm], connect="finite", antialias=True),
            PlotLine(steps, race.pulls[chosen, arm].astype(float), antialias=True),
        )
        for curve, row in zip(curves, (self._upper, self._upper, self._lower), strict=True):
            row.add(curve)
        return curves


def _numbers(race: Race, step: int, arm: int) -> tuple[float | None, float | None]:
    values = (float(race.leads[step, arm]), float(race.radii[step, arm]))
    return tuple(None if np.isnan(each) else each for each in values)  # type: ignore[return-value]
