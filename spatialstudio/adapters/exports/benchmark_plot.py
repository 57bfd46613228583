"""Figures of benchmarks for papers: bars of rates, curves of the best of N, the choice (OPSE)."""

from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import Path

import numpy as np

from spatialstudio.adapters.exports.figure_parts import (
    LARGE,
    LINE_HEIGHT,
    MARGIN,
    NORMAL,
    SMALL,
    with_caption,
)
from spatialstudio.adapters.exports.lettering import elided, width_of
from spatialstudio.adapters.exports.paper_figure import ticks_up_to
from spatialstudio.adapters.exports.write_figure import figure_file
from spatialstudio.domain.benchmark_figures import (
    Floats,
    MethodRates,
    RaceCurves,
    ScalingCurves,
)
from spatialstudio.domain.drawing import Anchor, Drawing, Item, Line, Point, Text, box
from spatialstudio.domain.export import ExportFile, ExportLook, FigureCaption
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.interval import Interval
from spatialstudio.domain.ports import Surroundings

DPI = 300
BAR_WIDTH, BAR_HEIGHT, ROW = 220.0, 8.0, 14.0
WIDEST_NAME, VALUES = 130.0, 114.0
"""Room for the names left of bars, and for the numbers right of them, points."""
BAR_OPACITY = 0.55
PLOT_WIDTH, PLOT_HEIGHT, LOW_HEIGHT = 320.0, 120.0, 70.0
SIDE = 30.0
"""Room for the labels of the vertical axis."""
CAP, DOT = 2.5, 2.0
DODGE = 3.0
"""Distance of the curves' points at one N, so that their intervals are seen, points."""
TICKS = 5
SWATCH = 14.0
MOST_POINTS = 400
LEAST_LEAD = 0.1


def build(surroundings: Surroundings) -> "BenchmarkPlots":
    """Create the drawer of figures."""
    return BenchmarkPlots(surroundings.resources / "fonts")


class BenchmarkPlots:
    """Draws figures of benchmarks; implements ``BenchmarkFigures``."""

    id = "files"

    def __init__(self, fonts: Path) -> None:
        self._fonts = fonts

    def rates(
        self,
        groups: Sequence[MethodRates],
        caption: FigureCaption,
        look: ExportLook,
        ending: str,
    ) -> ExportFile:
        """Draw bars with intervals; see ``BenchmarkFigures``."""
        return self._file(rates_drawing(groups, caption, look), look, ending)

    def best_of_n(
        self,
        panels: Sequence[ScalingCurves],
        caption: FigureCaption,
        look: ExportLook,
        ending: str,
    ) -> ExportFile:
        """Draw means over N; see ``BenchmarkFigures``."""
        return self._file(best_of_n_drawing(panels, caption, look), look, ending)

    def race(
        self, curves: RaceCurves, caption: FigureCaption, look: ExportLook, ending: str
    ) -> ExportFile:
        """Draw a choice; see ``BenchmarkFigures``."""
        return self._file(race_drawing(curves, caption, look), look, ending)

    def _file(self, drawing: Drawing, look: ExportLook, ending: str) -> ExportFile:
        return figure_file(drawing, look, ending, self._fonts, DPI)


def rates_drawing(
    groups: Sequence[MethodRates], caption: FigureCaption, look: ExportLook
) -> Drawing:
    """Draw a bar with its interval for each method of each group, with value and n beside it."""
    names = list(groups[0].rates)
    widest = max(width_of(name, NORMAL) for name in names)
    left = MARGIN + min(widest, WIDEST_NAME) + 8
    items, top = list[Item](), MARGIN
    for group in groups:
        text = look.palette.colours["text"]
        at = (MARGIN, top + LARGE)
        items.append(Text(at=at, text=group.title, colour=text, size=LARGE, is_bold=True))
        top += LARGE + 8
        foot = top + ROW * len(group.rates)
        items += _share_grid(left, top, foot, look)
        for name, rate in group.rates.items():
            items += _bar(name, rate, look.palette.mention(names.index(name)), (left, top), look)
            top += ROW
        top += LINE_HEIGHT
    items += _share_labels(left, top - 3, look)
    width = left + BAR_WIDTH + VALUES + MARGIN
    return with_caption(items, caption, look, width, top + 4)


def _share_grid(left: float, top: float, foot: float, look: ExportLook) -> Iterator[Item]:
    line = look.palette.colours["line"]
    for share in ticks_up_to(1.0, TICKS):
        x = left + BAR_WIDTH * share
        yield Line(points=((x, top - 2), (x, foot)), colour=line, width=0.5)


def _share_labels(left: float, y: float, look: ExportLook) -> Iterator[Item]:
    muted = look.palette.colours["muted"]
    for share in ticks_up_to(1.0, TICKS):
        at = (left + BAR_WIDTH * share, y)
        label = f"{100 * share:.0f} %"
        yield Text(at=at, text=label, colour=muted, size=SMALL, anchor=Anchor.MIDDLE)


def _bar(name: str, rate: Interval, hue: str, at: Point, look: ExportLook) -> Iterator[Item]:
    colours, (left, top) = look.palette.colours, at
    middle, base = top + ROW / 2, top + ROW / 2 + 3
    label = elided(name, WIDEST_NAME, NORMAL)
    yield Text(at=(left - 6, base), text=label, colour=colours["text"], anchor=Anchor.END)
    after = left + BAR_WIDTH + 8
    if not isfinite(rate.value):
        yield Text(at=(after, base), text="none (n = 0)", colour=colours["muted"], size=SMALL)
        return
    bar = box(left, middle - BAR_HEIGHT / 2, BAR_WIDTH * rate.value, BAR_HEIGHT)
    yield Line(points=bar, colour=hue, fill=hue, opacity=BAR_OPACITY, width=0.5, is_closed=True)
    low, high = (left + BAR_WIDTH * end for end in (rate.low, rate.high))
    yield from _whisker((low, middle), (high, middle), colours["text"])
    low, value, high = (100 * each for each in (rate.low, rate.value, rate.high))
    words = f"{value:.1f} [{low:.1f}, {high:.1f}] %, n = {rate.n}"
    yield Text(at=(after, base), text=words, colour=colours["muted"], size=SMALL)


def _whisker(start: Point, end: Point, colour: str) -> Iterator[Item]:
    """Draw an interval with a cap at each end, across or upright."""
    yield Line(points=(start, end), colour=colour, width=0.9)
    across, down = (0.0, CAP) if start[1] == end[1] else (CAP, 0.0)
    for x, y in (start, end):
        cap = ((x - across, y - down), (x + across, y + down))
        yield Line(points=cap, colour=colour, width=0.9)


@frozen
class _Field:
    """A field with axes: its place in points, and the values at its edges."""

    left: float
    top: float
    height: float
    x_low: float
    x_high: float
    y_low: float
    y_high: float

    def at(self, x: float, y: float) -> Point:
        """Return the point of a pair of values."""
        across = (x - self.x_low) / (self.x_high - self.x_low)
        up = (y - self.y_low) / (self.y_high - self.y_low)
        return self.left + PLOT_WIDTH * across, self.top + self.height * (1 - up)

    @property
    def foot(self) -> float:
        """Its lower edge."""
        return self.top + self.height


def best_of_n_drawing(
    panels: Sequence[ScalingCurves], caption: FigureCaption, look: ExportLook
) -> Drawing:
    """Draw the mean of the best of N by method, with intervals; N on a logarithmic axis."""
    names = list(dict.fromkeys(name for panel in panels for name in panel.curves))
    items, top = _legend(names, look)
    counts = sorted({n for panel in panels for curve in panel.curves.values() for n in curve})
    ends = (-0.5, len(counts) - 0.5)
    for panel in panels:
        field = _Field(
            left=MARGIN + SIDE,
            top=top + LINE_HEIGHT,
            height=PLOT_HEIGHT,
            x_low=ends[0],
            x_high=ends[1],
            y_low=0.0,
            y_high=1.0,
        )
        items += _axes(field, f"Mean of the best by {panel.value}", ticks_up_to(1.0, TICKS), look)
        for place, n in enumerate(counts):
            items += _tick_across(field, place, str(n), look)
        for name, curve in panel.curves.items():
            number = names.index(name)
            shift = DODGE * (number - (len(names) - 1) / 2)
            placed = {place: curve[n] for place, n in enumerate(counts) if n in curve}
            items += _scaling_curve(placed, field, look.palette.mention(number), shift)
        top = field.foot + 2 * LINE_HEIGHT
    items.append(_axis_name("N, pictures of a prompt", top, look))
    return with_caption(items, caption, look, 2 * MARGIN + SIDE + PLOT_WIDTH, top + 4)


def _scaling_curve(
    curve: dict[int, Interval], field: _Field, hue: str, shift: float
) -> Iterator[Item]:
    known = {place: each for place, each in curve.items() if isfinite(each.value)}

    def shifted(place: int, value: float) -> Point:
        x, y = field.at(place, min(max(value, field.y_low), field.y_high))
        return x + shift, y

    points = tuple(shifted(place, each.value) for place, each in known.items())
    if len(points) > 1:
        yield Line(points=points, colour=hue, width=1.4)
    for place, each in known.items():
        if isfinite(each.low):
            yield from _whisker(shifted(place, each.low), shifted(place, each.high), hue)
    for x, y in points:
        dot = box(x - DOT, y - DOT, 2 * DOT, 2 * DOT)
        yield Line(points=dot, fill=hue, is_closed=True)


def race_drawing(curves: RaceCurves, caption: FigureCaption, look: ExportLook) -> Drawing:
    """Draw the lead of the best method over each with its lower bound, and the scores read.

    A method is dropped where its bound (dashed) rises above 0.
    """
    items, top = _legend(curves.names, look)
    steps = len(curves.pulls)
    chosen = np.unique(np.linspace(0, steps - 1, min(MOST_POINTS, steps)).astype(int))
    if curves.leads.size:
        field = _lead_field(curves, top)
        title = "Lead of the best method, and its lower bound (dashed)"
        ticks = [each for each in (-1.0, -0.5, 0.0, 0.5, 1.0) if field.y_low <= each]
        items += _axes(field, title, [each for each in ticks if each <= field.y_high], look)
        zero = (field.at(0, 0), field.at(field.x_high, 0))
        items.append(Line(points=zero, colour=look.palette.colours["muted"], width=0.6))
        bounds = curves.leads - curves.radii
        for arm in range(len(curves.names)):
            hue = look.palette.mention(arm)
            items += _course(chosen, curves.leads[chosen, arm], field, hue)
            items += _course(chosen, bounds[chosen, arm], field, hue, is_dashed=True)
        top = field.foot + LINE_HEIGHT
    field = _field(top + LINE_HEIGHT, LOW_HEIGHT, steps, (0.0, float(curves.pulls.max())))
    unit = "Scores read" if curves.leads.size else "Pulls"
    items += _axes(field, unit, ticks_up_to(field.y_high, TICKS), look)
    for arm in range(len(curves.names)):
        hue = look.palette.mention(arm)
        items += _course(chosen, curves.pulls[chosen, arm], field, hue)
    for tick in ticks_up_to(float(field.x_high), TICKS):
        items += _tick_across(field, tick, f"{tick:g}", look)
    top = field.foot + 2 * LINE_HEIGHT
    across = "prompts and seeds" if curves.leads.size else "pulls of all methods"
    items.append(_axis_name(across, top, look))
    return with_caption(items, caption, look, 2 * MARGIN + SIDE + PLOT_WIDTH, top + 4)


def _lead_field(curves: RaceCurves, top: float) -> _Field:
    bounds = curves.leads - curves.radii
    highest = max(LEAST_LEAD, float(np.nanmax(curves.leads)))
    lowest = max(float(np.nanmin(bounds, initial=0.0)), -1.0)
    return _field(top + LINE_HEIGHT, PLOT_HEIGHT, len(curves.pulls), (lowest, min(highest, 1.0)))


def _field(top: float, height: float, steps: int, ends: tuple[float, float]) -> _Field:
    return _Field(
        left=MARGIN + SIDE,
        top=top,
        height=height,
        x_low=0.0,
        x_high=float(max(steps, 1)),
        y_low=ends[0],
        y_high=max(ends[1], ends[0] + LEAST_LEAD),
    )


def _course(
    steps: np.ndarray, values: Floats, field: _Field, hue: str, *, is_dashed: bool = False
) -> Iterator[Item]:
    """Draw the known values over the steps, clipped to the field."""
    clipped = np.clip(values, field.y_low, field.y_high)
    known = np.isfinite(values)
    points = [
        field.at(float(x) + 1, float(y)) for x, y in zip(steps[known], clipped[known], strict=True)
    ]
    if len(points) > 1:
        width = 0.8 if is_dashed else 1.4
        yield Line(points=tuple(points), colour=hue, width=width, is_dashed=is_dashed)


def _legend(names: Sequence[str], look: ExportLook) -> tuple[list[Item], float]:
    """Return the legend of methods in rows, and the height where it ends."""
    items, x, y = list[Item](), MARGIN, MARGIN + NORMAL
    for number, name in enumerate(names):
        label = elided(name, PLOT_WIDTH / 2, NORMAL)
        needed = SWATCH + 4 + width_of(label, NORMAL)
        if x > MARGIN and x + needed > MARGIN + SIDE + PLOT_WIDTH:
            x, y = MARGIN, y + LINE_HEIGHT + 2
        line = ((x, y - 3), (x + SWATCH, y - 3))
        items.append(Line(points=line, colour=look.palette.mention(number), width=2))
        at = (x + SWATCH + 4, y)
        items.append(Text(at=at, text=label, colour=look.palette.colours["text"]))
        x += needed + 12
    return items, y + LINE_HEIGHT


def _axes(field: _Field, title: str, ticks: Sequence[float], look: ExportLook) -> Iterator[Item]:
    colours = look.palette.colours
    frame = box(field.left, field.top, PLOT_WIDTH, field.height)
    yield Line(points=frame, colour=colours["line"], width=0.5, is_closed=True)
    at = (field.left, field.top - 4)
    yield Text(at=at, text=title, colour=colours["text"], size=NORMAL)
    for value in ticks:
        _, y = field.at(field.x_low, value)
        yield Line(points=((field.left - 3, y), (field.left, y)), colour=colours["line"], width=0.5)
        label = Text(
            at=(field.left - 5, y + 3),
            text=f"{value:g}",
            colour=colours["muted"],
            size=SMALL,
            anchor=Anchor.END,
        )
        yield label


def _tick_across(field: _Field, value: float, label: str, look: ExportLook) -> Iterator[Item]:
    x, foot = field.at(value, field.y_low)
    colours = look.palette.colours
    yield Line(points=((x, foot), (x, foot + 3)), colour=colours["line"], width=0.5)
    at = (x, foot + LINE_HEIGHT)
    yield Text(at=at, text=label, colour=colours["muted"], size=SMALL, anchor=Anchor.MIDDLE)


def _axis_name(name: str, y: float, look: ExportLook) -> Text:
    at = (MARGIN + SIDE + PLOT_WIDTH, y)
    return Text(at=at, text=name, colour=look.palette.colours["text"], anchor=Anchor.END)
