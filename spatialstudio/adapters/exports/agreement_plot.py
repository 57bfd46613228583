"""Figures of agreement for papers: a matrix as a heat map, and figures with their intervals."""

from collections.abc import Callable, Iterator, Sequence
from math import isnan

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
from spatialstudio.domain.audit_figures import AgreementFigure, HeatMap, IntervalGroup
from spatialstudio.domain.drawing import Anchor, Drawing, Item, Line, Point, Text, box
from spatialstudio.domain.export import ExportLook
from spatialstudio.domain.interval import Interval

WIDTH = 360.0
"""Least room for matrix and intervals between the margins, points."""
MOST_LABEL = 120.0
VALUE = 92.0
"""Room for the values of intervals."""
CELL_HEIGHT, LARGEST_CELL = 24.0, 72.0
STRONGEST = 0.6
"""Opacity of a cell of strength 1: texts stay legible."""
DOT, CAP, GAP = 2.2, 3.0, 6.0
TICKS = 5
AXIS = 2 * LINE_HEIGHT


def agreement_drawing(figure: AgreementFigure, look: ExportLook) -> Drawing:
    """Draw the matrix above the intervals, and the caption below."""
    matrix = figure.heat_map
    labels = [*(matrix.rows if matrix else ()), *_names(figure.groups)]
    room = min(max((width_of(each, SMALL) for each in labels), default=0.0), MOST_LABEL)
    items: list[Item] = []
    top, width = MARGIN, WIDTH
    if matrix is not None:
        cell = _cell_width(matrix, room)
        width = max(WIDTH, room + GAP + cell * len(matrix.columns))
        items += _matrix(matrix, look, (MARGIN, top), (room, cell))
        top += 3 * LINE_HEIGHT + CELL_HEIGHT * len(matrix.rows)
    if figure.groups:
        items += _intervals(figure.groups, look, (MARGIN, top), room)
        top += LINE_HEIGHT * (sum(len(each.rows) + 2 for each in figure.groups)) + AXIS
    return with_caption(items, figure.caption, look, 2 * MARGIN + width, top)


def _names(groups: Sequence[IntervalGroup]) -> Iterator[str]:
    return (name for group in groups for name, _ in group.rows)


def _cell_width(matrix: HeatMap, room: float) -> float:
    """Return the width of a cell, in which the name of its column fits if possible."""
    widest = max((width_of(each, SMALL) for each in matrix.columns), default=0.0) + GAP
    equal = (WIDTH - room - GAP) / max(len(matrix.columns), 1)
    return min(max(min(equal, LARGEST_CELL), widest), MOST_LABEL)


def _matrix(
    matrix: HeatMap, look: ExportLook, at: Point, widths: tuple[float, float]
) -> Iterator[Item]:
    (room, width), colours = widths, look.palette.colours
    left, top = at[0] + room + GAP, at[1] + 2 * LINE_HEIGHT
    yield Text(at=(at[0], at[1] + 4), text=matrix.heading, colour=colours["text"], size=LARGE)
    for place, name in enumerate(matrix.columns):
        at_name = (left + width * (place + 0.5), top - 4)
        yield _text(elided(name, width, SMALL), at_name, colours["muted"])
    for number, (name, texts, shades) in enumerate(
        zip(matrix.rows, matrix.texts, matrix.shades, strict=True)
    ):
        y = top + CELL_HEIGHT * number
        at_name = (at[0], y + CELL_HEIGHT / 2 + 3)
        label = elided(name, room, SMALL)
        yield Text(at=at_name, text=label, colour=colours["muted"], size=SMALL)
        for place, (text, shade) in enumerate(zip(texts, shades, strict=True)):
            x = left + width * place
            frame = box(x, y, width, CELL_HEIGHT)
            fill = colours["good" if shade >= 0 else "bad"]
            opacity = STRONGEST * min(abs(shade), 1.0)
            yield Line(points=frame, fill=fill, opacity=opacity, width=0, is_closed=True)
            yield Line(points=frame, colour=colours["line"], width=0.5, is_closed=True)
            middle = (x + width / 2, y + CELL_HEIGHT / 2 + 3)
            yield _text(text, middle, colours["text"], NORMAL)


def _intervals(
    groups: Sequence[IntervalGroup], look: ExportLook, at: Point, room: float
) -> Iterator[Item]:
    colours = look.palette.colours
    left, right = at[0] + room + GAP, at[0] + WIDTH - VALUE
    ends = [end for each in groups for _, one in each.rows for end in (one.value, one.low)]
    low = -1.0 if min((end for end in ends if not isnan(end)), default=0.0) < 0 else 0.0

    def x_of(value: float) -> float:
        return left + (right - left) * (value - low) / (1 - low)

    y = at[1]
    for group in groups:
        y += 2 * LINE_HEIGHT
        title = (at[0], y - LINE_HEIGHT / 2)
        yield Text(at=title, text=group.title, colour=colours["text"], size=NORMAL)
        for name, figure in group.rows:
            y += LINE_HEIGHT
            label = elided(name, room, SMALL)
            yield Text(at=(at[0], y), text=label, colour=colours["muted"], size=SMALL)
            value = (at[0] + WIDTH, y)
            yield Text(
                at=value, text=figure.text, colour=colours["text"], size=SMALL, anchor=Anchor.END
            )
            if not isnan(figure.value):
                yield from _whisker(figure, y - 3, colours["text"], x_of)
    foot = y + LINE_HEIGHT / 2
    yield Line(points=((left, foot), (right, foot)), colour=colours["line"], width=0.5)
    if low < 0:
        zero = ((x_of(0), at[1] + LINE_HEIGHT), (x_of(0), foot))
        yield Line(points=zero, colour=colours["line"], width=0.5, is_dashed=True)
    shown = ticks_up_to(1.0, TICKS if low == 0 else TICKS // 2)
    for tick in (*shown, *(-each for each in shown if each and low < 0)):
        x = x_of(tick)
        yield Line(points=((x, foot), (x, foot + 3)), colour=colours["line"], width=0.5)
        yield _text(f"{tick:g}", (x, foot + LINE_HEIGHT), colours["muted"])


def _whisker(
    figure: Interval, y: float, colour: str, x_of: Callable[[float], float]
) -> Iterator[Item]:
    if not isnan(figure.low):
        low, high = x_of(figure.low), x_of(figure.high)
        yield Line(points=((low, y), (high, y)), colour=colour, width=1)
        for x in (low, high):
            yield Line(points=((x, y - CAP), (x, y + CAP)), colour=colour, width=1)
    dot = box(x_of(figure.value) - DOT, y - DOT, 2 * DOT, 2 * DOT)
    yield Line(points=dot, fill=colour, is_closed=True)


def _text(text: str, at: Point, colour: str, size: float = SMALL) -> Text:
    return Text(at=at, text=text, colour=colour, size=size, anchor=Anchor.MIDDLE)
