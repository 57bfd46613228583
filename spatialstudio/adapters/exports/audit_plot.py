"""Figures of audits for papers: the risk-coverage curve and the reliability diagram."""

from collections.abc import Callable, Iterator, Sequence
from math import ceil
from pathlib import Path

from spatialstudio.adapters.exports.agreement_plot import agreement_drawing
from spatialstudio.adapters.exports.figure_parts import (
    LARGE,
    LINE_HEIGHT,
    MARGIN,
    SMALL,
    with_caption,
)
from spatialstudio.adapters.exports.paper_figure import ticks_up_to
from spatialstudio.adapters.exports.write_figure import figure_file
from spatialstudio.domain.audit_figures import AgreementFigure, ReliabilityBin, RiskPoint
from spatialstudio.domain.drawing import Anchor, Drawing, Item, Line, Point, Text, box
from spatialstudio.domain.export import ExportFile, ExportLook, FigureCaption
from spatialstudio.domain.ports import Surroundings

SIDE = 200.0
"""Side of the square field, points."""
LABELS = 34.0
"""Room for the labels of the vertical axis."""
TICKS = 5
DOT = 2.0
KEY = 66.0
"""Distance of the key's dot from the right edge, points."""
BAR_OPACITY = 0.35
HIGHEST_RISK = 0.1
"""Least range of the risk axis."""


def build(surroundings: Surroundings) -> "AuditPlots":
    """Create the drawer of figures."""
    return AuditPlots(surroundings.resources / "fonts")


class AuditPlots:
    """Draws figures of audits; implements ``AuditFigures``."""

    id = "files"

    def __init__(self, fonts: Path) -> None:
        self._fonts = fonts

    def risk_coverage(
        self,
        curve: Sequence[RiskPoint],
        threshold: float | None,
        caption: FigureCaption,
        look: ExportLook,
        ending: str,
    ) -> ExportFile:
        """Draw risk over coverage; see ``AuditFigures``."""
        drawing = risk_coverage_drawing(curve, threshold, caption, look)
        return figure_file(drawing, look, ending, self._fonts)

    def reliability(
        self,
        bins: Sequence[ReliabilityBin],
        caption: FigureCaption,
        look: ExportLook,
        ending: str,
    ) -> ExportFile:
        """Draw accuracy over confidence; see ``AuditFigures``."""
        return figure_file(reliability_drawing(bins, caption, look), look, ending, self._fonts)

    def agreement(self, figure: AgreementFigure, look: ExportLook, ending: str) -> ExportFile:
        """Draw a matrix and intervals; see ``AuditFigures``."""
        return figure_file(agreement_drawing(figure, look), look, ending, self._fonts)


def risk_coverage_drawing(
    curve: Sequence[RiskPoint],
    threshold: float | None,
    caption: FigureCaption,
    look: ExportLook,
) -> Drawing:
    """Draw risk over coverage as a step curve, with the operating point of a threshold."""
    colours = look.palette.colours
    covered = sorted((point for point in curve if point.covered), key=lambda each: each.coverage)
    most = _round_limit(max([HIGHEST_RISK, *(point.risk for point in covered)]))
    place = _placer(most)
    steps: list[Point] = []
    for before, point in zip([None, *covered], covered, strict=False):
        steps.append(place(before.coverage if before else 0.0, point.risk))
        steps.append(place(point.coverage, point.risk))
    items: list[Item] = [*_axes("Coverage", "Risk", most, look)]
    if len(steps) > 1:
        items.append(Line(points=tuple(steps), colour=colours["accent"], width=1.5))
    chosen = [point for point in covered if point.threshold == threshold]
    for point in chosen:
        right, top = place(1.0, most)
        for x, y in (place(point.coverage, point.risk), (right - KEY, top - 8)):
            dot = box(x - DOT, y - DOT, 2 * DOT, 2 * DOT)
            items.append(Line(points=dot, fill=colours["text"], is_closed=True))
        label = f"threshold {point.threshold:.2f}"
        at = (right, top - 6)
        items.append(Text(at=at, text=label, colour=colours["text"], size=SMALL, anchor=Anchor.END))
    return _captioned(items, caption, look)


def reliability_drawing(
    bins: Sequence[ReliabilityBin], caption: FigureCaption, look: ExportLook
) -> Drawing:
    """Draw the accuracy of each bin of confidence, and the diagonal of perfect calibration."""
    colours, place = look.palette.colours, _placer(1.0)
    items: list[Item] = [*_axes("Confidence", "Share confirmed by people", 1.0, look)]
    for each in bins:
        left, top = place(each.low, each.accuracy)
        right, bottom = place(each.high, 0.0)
        bar = box(left, top, right - left, bottom - top)
        items.append(
            Line(
                points=bar,
                colour=colours["accent"],
                fill=colours["accent"],
                opacity=BAR_OPACITY,
                width=0.5,
                is_closed=True,
            )
        )
        middle = (left + right) / 2
        count = Text(
            at=(middle, bottom - 4),
            text=str(each.count),
            colour=colours["text"],
            size=SMALL,
            anchor=Anchor.MIDDLE,
        )
        items.append(count)
    diagonal = (place(0.0, 0.0), place(1.0, 1.0))
    items.append(Line(points=diagonal, colour=colours["muted"], width=0.8, is_dashed=True))
    return _captioned(items, caption, look)


def _placer(most: float) -> Callable[[float, float], Point]:
    """Return a function from values to points; the vertical axis ends at ``most``."""

    def place(x: float, y: float) -> Point:
        return MARGIN + LABELS + SIDE * x, MARGIN + LINE_HEIGHT + SIDE * (1 - y / most)

    return place


def _round_limit(most: float) -> float:
    """Return the next tick at or above a positive value."""
    spacing = ticks_up_to(most, TICKS)[1]
    return spacing * ceil(most / spacing - 1e-9)


def _axes(across: str, down: str, most: float, look: ExportLook) -> Iterator[Item]:
    colours, place = look.palette.colours, _placer(most)
    left, top = place(0.0, most)
    frame = box(left, top, SIDE, SIDE)
    yield Line(points=frame, colour=colours["line"], width=0.5, is_closed=True)
    yield Text(at=(left, top - 6), text=down, colour=colours["text"], size=LARGE)
    for share in ticks_up_to(1.0, TICKS):
        x, foot = place(share, 0.0)
        yield Line(points=((x, foot), (x, foot + 3)), colour=colours["line"], width=0.5)
        yield Text(
            at=(x, foot + LINE_HEIGHT),
            text=f"{share:g}",
            colour=colours["muted"],
            size=SMALL,
            anchor=Anchor.MIDDLE,
        )
    for value in ticks_up_to(most, TICKS):
        _, y = place(0.0, value)
        yield Line(points=((left - 3, y), (left, y)), colour=colours["line"], width=0.5)
        yield Text(
            at=(left - 5, y + 3),
            text=f"{value:g}",
            colour=colours["muted"],
            size=SMALL,
            anchor=Anchor.END,
        )
    at = (left + SIDE, top + SIDE + 2 * LINE_HEIGHT)
    yield Text(at=at, text=across, colour=colours["text"], size=LARGE, anchor=Anchor.END)


def _captioned(items: Sequence[Item], caption: FigureCaption, look: ExportLook) -> Drawing:
    width, height = 2 * MARGIN + LABELS + SIDE, MARGIN + SIDE + 3 * LINE_HEIGHT
    return with_caption(items, caption, look, width, height)
