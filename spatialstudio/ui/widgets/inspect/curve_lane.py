"""One lane of the chart over the steps: PoS of one run or two, or their difference."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import Qt

from spatialstudio.ui.theme.metrics import SMALL, em, font
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.inspect.pos_curve import PosCurve
from spatialstudio.ui.widgets.inspect.step_plot import StepPlot

SHADE = 0.08
TIES_SHADE = 0.22
DIFFERENCE_SHADE = 0.14
CURVE_WIDTH, SECOND_WIDTH = 2.2, 1.6
TOP_EM, NAMED_TOP_EM = 0.5, 1.25
DOT_EM = 0.55
LINE_EM = 1.05
MARGIN = 0.04
ASIDE = 0.65
"""How far above its dot the open run's value stands, in its heights; the second's as far below."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The values of a lane, lowest and highest, and those that have a line."""

    low: float
    high: float
    levels: tuple[tuple[float, str], ...]

    @property
    def middle(self) -> float:
        """The level that tells nothing: even PoS, no difference."""
        return (self.low + self.high) / 2


POS = Scale(0.0, 1.0, ((0.0, "0"), (0.5, "0.5"), (1.0, "1")))
DIFFERENCE = Scale(-1.0, 1.0, ((-1.0, "−1"), (0.0, "0"), (1.0, "+1")))  # noqa: RUF001 - a minus


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneContents:
    """What a lane shows.

    Attributes:
        scale: Its values.
        name: Stands over it; empty for none.
        curves: Of the open run, or its differences.
        second: Curves of the run beside it.
        guided: The steps on which guidance acted.
        goal: PoS at which guidance rests; None for none.
    """

    scale: Scale = POS
    name: str = ""
    curves: tuple[PosCurve, ...] = ()
    second: tuple[PosCurve, ...] = ()
    guided: tuple[int, ...] = ()
    goal: float | None = None


class CurveLane(StepPlot):
    """Shows curves, the steps that were guided, and the values at the playhead.

    Args:
        theme: Its colours.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._contents = LaneContents()
        self._step = 0
        self._dots = pg.ScatterPlotItem(antialias=True)
        self._dots.setZValue(1)
        self.front.addItem(self._dots)
        # Labels that are not needed wait, empty, for the next step.
        self._labels: list[pg.TextItem] = []
        for moved in (self.front.sigResized, self.front.sigRangeChanged):
            moved.connect(self._draw_values)

    def show_contents(self, contents: LaneContents, *, has_clock: bool) -> None:
        """Draw everything anew, in the theme's colours."""
        self._contents = contents
        top_em = NAMED_TOP_EM if contents.name else TOP_EM
        self.dress(name=contents.name, top_em=top_em, has_clock=has_clock)
        scale = contents.scale
        self.use_values(scale.low, scale.high, MARGIN * (scale.high - scale.low))
        self.plot.getAxis("left").setTicks([scale.levels])
        self.clear()
        self._draw_levels()
        for curve in contents.second:
            self._draw_curve(curve, SECOND_WIDTH, Qt.PenStyle.DashLine)
        for curve in contents.curves:
            self._draw_ties(curve)
            self._draw_curve(curve, CURVE_WIDTH, Qt.PenStyle.SolidLine)
        self._draw_values()

    def show_step(self, step: int) -> None:
        """Move the playhead, and write the values there."""
        super().show_step(step)
        self._step = step
        self._draw_values()

    def _draw_levels(self) -> None:
        contents, shade = self._contents, self._theme.colour("text", SHADE)
        for first, last in stretches(contents.guided):
            ends = (first - 0.5, last + 0.5)
            region = pg.LinearRegionItem(ends, movable=False, brush=shade, pen=pg.mkPen(None))
            self.field.addItem(region)
        for value, _ in contents.scale.levels:
            is_even = value == contents.scale.middle
            style = Qt.PenStyle.DotLine if is_even else Qt.PenStyle.SolidLine
            self.draw_level(value, "faint" if is_even else "line", style)
        if contents.goal is not None:
            self.draw_level(contents.goal, "good", Qt.PenStyle.DashLine, 1.2)

    def _draw_curve(self, curve: PosCurve, width: float, style: Qt.PenStyle) -> None:
        pen = pg.mkPen(self._theme.mention(curve.hue), width=width, style=style)
        steps, values = np.reshape(curve.points, (-1, 2)).T
        line = pg.PlotCurveItem(steps, values, pen=pen, antialias=True)
        if self._contents.scale is DIFFERENCE:
            line.setFillLevel(0)
            line.setBrush(self._theme.mention(curve.hue, DIFFERENCE_SHADE))
        self.field.addItem(line)

    def _draw_ties(self, curve: PosCurve) -> None:
        """Shade what ties may change."""
        if curve.bounds:
            steps, low, high = np.array(curve.bounds).T
            brush = self._theme.mention(curve.hue, TIES_SHADE)
            ends = (pg.PlotCurveItem(steps, values) for values in (low, high))
            self.field.addItem(pg.FillBetweenItem(*ends, brush=brush))

    def _draw_values(self) -> None:
        """Put a dot on each curve, and write as many values as have room, the open run's first."""
        both = ((self._contents.curves, False), (self._contents.second, True))
        here = [
            (value, is_second, self._theme.mention(curve.hue))
            for curves, is_second in both
            for curve in curves
            if self.sees_playhead and (value := curve.at(self._step)) is not None
        ]
        self._dots.setData(
            x=[self._step] * len(here),
            y=[value for value, *_ in here],
            size=em(DOT_EM),
            pen=[pg.mkPen(hue, width=2) for *_, hue in here],
            brush=[self._theme.colour("raised") if hollow else hue for _, hollow, hue in here],
        )
        self._write_values([(value, is_second) for value, is_second, _ in here])

    def _write_values(self, here: list[tuple[float, bool]]) -> None:
        scale = self._contents.scale
        pixel_width, pixel_height = self.front.viewPixelSize()
        line = em(LINE_EM) * pixel_height
        room = int((scale.high - scale.low) / line) + 1
        wanted = sorted(
            (value + (-line if is_second else line) * ASIDE, is_second, value)
            for value, is_second in here[:room]
        )
        places = spread(np.array([place for place, *_ in wanted]), line, scale.low, scale.high)
        while len(self._labels) < len(wanted):
            self._labels.append(pg.TextItem(anchor=(0, 0.5)))
            self.front.addItem(self._labels[-1])
        for label in self._labels[len(wanted) :]:
            label.setText("")
        signed = "+.2f" if scale is DIFFERENCE else ".2f"
        x = self._step + em(DOT_EM / 2) * pixel_width
        for label, place, (_, is_second, value) in zip(self._labels, places, wanted, strict=False):
            label.setFont(font(SMALL, bold=not is_second))
            ink = self._theme.colour("muted" if is_second else "text")
            label.setText(format(value, signed), ink)
            label.setPos(x, place)


def stretches(steps: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return first and last of all steps in a row, in order."""
    found: list[tuple[int, int]] = []
    for step in steps:
        first = found.pop()[0] if found and found[-1][1] == step - 1 else step
        found.append((first, step))
    return found


def spread(
    wanted: npt.NDArray[np.float64], gap: float, lowest: float, highest: float
) -> npt.NDArray[np.float64]:
    """Move places apart until neighbours keep a gap, within their bounds.

    Args:
        wanted: (n,) in rising order.
        gap: From one place to the next, at least.
        lowest: Bound of the first.
        highest: Bound of the last; there is room for all.
    """
    stairs = gap * np.arange(len(wanted))
    raised = np.maximum.accumulate(np.maximum(wanted, lowest) - stairs) + stairs
    placed: npt.NDArray[np.float64] = np.minimum(raised, highest - stairs[::-1])
    return placed
