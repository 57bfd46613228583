"""A chart of every relation's PoS over the denoising steps, with an optional second run."""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QGraphicsLineItem, QSizePolicy

from spatialstudio.ui.inspect.widgets.pos_curve import (
    GuidanceMark,
    Lanes,
    PosCurve,
    TimeContents,
    TimeLine,
)
from spatialstudio.ui.inspect.widgets.pos_lanes import (
    DASHES,
    DIFFERENCE,
    LABEL_GAP_EM,
    PLAYHEAD_Z,
    POS,
    SHADE,
    TIES_SHADE,
    VALUE_ROOM_EM,
    GuidanceTrack,
    LaneCurve,
    PosLane,
    legend_colour,
)
from spatialstudio.ui.inspect.widgets.step_axis import StepAxis
from spatialstudio.ui.theme.theme import Theme, em
from spatialstudio.ui.widgets.plot import CONTROL, Plot, PlotKey, PlotTable
from spatialstudio.ui.widgets.plot_range import PlotRange
from spatialstudio.ui.widgets.texts import tr

LEVELS_EM = 4.6
TOP_EM = 0.6
TRACK_EM = 1.8
AXIS_EM = 1.2
GAP_EM = 0.75
LEAST_WIDTH_EM = 11
DIFFERENCE_SHARE = 0.8
FEWEST_IN_VIEW = 3.0
SHIFT = Qt.KeyboardModifier.ShiftModifier

Span = tuple[int, int]


class PosChart(Plot):
    """Shows PoS curves in lanes, the guidance track below them, the step axis and the playhead.

    Emits ``step_picked`` when the user clicks, drags or turns the wheel, and ``span_picked`` with
    first and last step, or None, when a range is selected with Shift.

    Args:
        theme: Its colours.
    """

    step_picked = Signal(int)
    span_picked = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("PoS over the steps"))
        self._contents = TimeContents()
        self._lanes = Lanes.TOGETHER
        self._step = 0
        self._span: Span | None = None
        self._brushed_from: int | None = None
        self._upper, self._lower = PosLane(self, POS), PosLane(self, POS)
        self._differing = PosLane(self, DIFFERENCE)
        self._track = GuidanceTrack(self)
        self._axis = StepAxis(self.surface.scene(), self._upper.row.box)
        self._playhead = QGraphicsLineItem()
        self._playhead.setZValue(PLAYHEAD_Z)
        self.surface.scene().addItem(self._playhead)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._arrangement: tuple[object, ...] = ()
        self._show_lanes()
        self.refresh()

    def sizeHint(self) -> QSize:
        return QSize(em(26), em(9))

    def minimumSizeHint(self) -> QSize:
        """Return a legible minimum size; two lanes need more."""
        return QSize(em(LEAST_WIDTH_EM), em(9.5 if self._has_two_lanes else 7))

    def show_contents(self, contents: TimeContents, step: int | None = None) -> None:
        """Show a run and the second run, with the playhead at a step; None keeps the playhead."""
        if contents == self._contents:
            self.show_step(self._step if step is None else step)
            return
        self._step = self._step if step is None else step
        before, self._contents = self._contents, contents
        if contents.step_count != before.step_count:
            last = max(contents.step_count - 1, 1)
            self.range = PlotRange(high=last, least=FEWEST_IN_VIEW)
        self.range = self.range.showing(self._step)
        if (before.second is None) is not (contents.second is None):
            self.updateGeometry()
        self._show_lanes()

    def show_lanes(self, lanes: Lanes) -> None:
        """Show both runs in one lane, in two, or with a lane of their difference."""
        if lanes is not self._lanes:
            self._lanes = lanes
            self.updateGeometry()
            self._show_lanes()

    def show_step(self, step: int) -> None:
        """Move the playhead; a zoomed chart follows it."""
        if step == self._step:
            return
        self._step = step
        moved = self.range.showing(step)
        if moved != self.range:
            self.show_range(moved)
        self._show_step()

    def show_span(self, span: Span | None) -> None:
        """Mark a range of steps, both ends inclusive."""
        if span != self._span:
            self._span = span
            for row in self._rows_of_steps:
                row.show_span(span)
            self.paint_soon()

    def zoom(self, factor: float, around: float | None = None) -> None:
        """Zoom around a position, by default the playhead."""
        super().zoom(factor, self._step if around is None else around)

    def show_range(self, view: PlotRange) -> None:
        """Label the visible steps and fit the bars to their width."""
        super().show_range(view)
        self._axis.show_steps(view, self._contents.step_count)
        self._track.draw_bars()
        self._show_step()

    def lay_out(self, room: QRectF) -> None:
        """Stack lanes, guidance track and step axis."""
        axis_top = room.bottom() - em(AXIS_EM)
        field = QRectF(em(LEVELS_EM), em(TOP_EM), 1, 1)
        field.setRight(max(room.right() - em(VALUE_ROOM_EM), field.left() + 1))
        has_marks = bool(self._contents.first.marks)
        foot = axis_top - em(0.5) - (em(TRACK_EM) + em(0.5) if has_marks else 0)
        field.setBottom(max(foot, field.top() + 1))
        self._track.place(
            QRectF(field.left(), field.bottom() + em(0.5), field.width(), em(TRACK_EM))
        )
        for lane, area in zip(self._shown_lanes, self._areas(field), strict=True):
            lane.place(area)
        box = self._upper.row.box.geometry()
        gap = box.left() - field.left() + em(LABEL_GAP_EM)
        self._axis.place(QRectF(box.left(), axis_top, box.width(), em(AXIS_EM)), gap)

    def dress(self) -> None:
        """Apply the theme's colours."""
        for row in self._rows_of_steps:
            row.dress()
        self._axis.dress(self.theme)
        self._playhead.setPen(QPen(self.theme.colour("accent"), 2))
        self._show_step()

    def snapped(self, place: float) -> float:
        """Return the nearest step."""
        return min(max(round(place), 0), max(self._contents.step_count - 1, 0))

    def stride(self) -> float:
        """Return the distance between steps, 1."""
        return 1.0

    def text_at(self, place: float) -> str:
        """Return all values at a step, one per line."""
        if not self._contents.step_count:
            return ""
        step = round(place)
        lines = [
            tr("Step {step} of {count}").format(step=step + 1, count=self._contents.step_count)
        ]
        for line, curve in self._all_curves():
            if (value := curve.at(step)) is not None:
                named = f"{curve.name}, {line.name}" if line.name else curve.name
                lines.append(f"{named}: {value:.2f}{ties_in_words(curve.bounds_at(step))}")
        marks = {mark.step: mark for mark in self._contents.first.marks}
        if (mark := marks.get(step)) is not None:
            lines.append(mark_in_words(mark))
        return "\n".join(lines)

    def keys(self) -> Sequence[PlotKey]:
        """Return the legend entries: curves, second run, goal, guided steps and ties."""
        contents = self._contents
        keys = [
            PlotKey(name=c.name, colour=self.theme.mention(c.hue)) for c in contents.first.curves
        ]
        if contents.second is not None:
            colour = legend_colour(contents.second, self.theme)
            keys.append(PlotKey(name=contents.second.name, colour=colour, style=DASHES))
        for goal in contents.goals:
            named = tr("goal {goal:g}").format(goal=goal)
            keys.append(PlotKey(name=named, colour=self.theme.colour("good"), style=DASHES))
        return [*keys, *self._area_keys()]

    def _area_keys(self) -> Iterator[PlotKey]:
        """Yield the legend entries of shaded areas."""
        first = self._contents.first
        if first.guided_steps:
            shade = self.theme.colour("text", SHADE)
            yield PlotKey(name=tr("guided steps"), colour=shade, is_area=True)
        tied = [curve for curve in first.curves if curve.bounds]
        if tied:
            shade = self.theme.mention(tied[0].hue, TIES_SHADE)
            yield PlotKey(name=tr("strict to inclusive PoS"), colour=shade, is_area=True)

    def table(self) -> PlotTable:
        """Return a row for each step: PoS of each relation of both runs, and guidance."""
        named = [
            (", ".join(filter(None, (c.name, line.name))), c) for line, c in self._all_curves()
        ]
        marks = {mark.step: mark for mark in self._contents.first.marks}
        rows = []
        for step in range(self._contents.step_count):
            mark = marks.get(step, GuidanceMark(step=step, loss=None, step_size=None, passes=0))
            values = [curve.at(step) for _, curve in named]
            guided = mark.loss, mark.step_size, mark.passes, mark.clipped
            rows.append((step + 1, *values, *guided))
        columns = ("step", *(name for name, _ in named), "loss", "step size", "passes", "clipped")
        return PlotTable(columns, tuple(rows))

    def claims(self, event: QKeyEvent) -> bool:
        """Return True if the chart handles a key; arrows belong to the steps."""
        is_arrow = event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right)
        return not is_arrow and super().claims(event)

    def go_by(self, strides: int) -> None:
        """Move the playhead by a number of steps."""
        self._pick(self._bounded(self._step + strides))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Pick the step under the pointer; with Shift start a range there."""
        if event.button() is not Qt.MouseButton.LeftButton:
            super().mousePressEvent(event)
            return
        here = self._step_at(event.position())
        self._brushed_from = here if event.modifiers() & SHIFT and here is not None else None
        self._follow(here)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag while the button is down, else update the readout."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._follow(self._step_at(event.position()))
        else:
            super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Finish the range; a single step clears it."""
        super().mouseReleaseEvent(event)
        if self._brushed_from is not None and self._span is not None:
            self._brushed_from = None
            if self._span[0] == self._span[1]:
                self._take_span(None)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Move one step; with Ctrl zoom around the pointer."""
        turned = event.angleDelta().y()
        if event.modifiers() & CONTROL or not turned:
            super().wheelEvent(event)
        elif self._contents.step_count:
            self._pick(self._bounded(self._step + (1 if turned < 0 else -1)))

    def point(self, position: QPointF) -> None:
        """Update the readout for the step under the pointer, if there is a run."""
        if self._contents.step_count:
            super().point(position)

    @property
    def _has_two_lanes(self) -> bool:
        return self._contents.second is not None and self._lanes is not Lanes.TOGETHER

    @property
    def _shown_lanes(self) -> tuple[PosLane, ...]:
        return tuple(self._names_of_lanes())

    @property
    def _rows_of_steps(self) -> tuple[PosLane | GuidanceTrack, ...]:
        return (self._upper, self._lower, self._differing, self._track)

    def _areas(self, field: QRectF) -> tuple[QRectF, ...]:
        """Return the rectangles of the lanes, stacked, with room for a title above each."""
        if not self._has_two_lanes:
            return (field,)
        gap = em(GAP_EM) + em(0.5)
        share = DIFFERENCE_SHARE if self._lanes is Lanes.DIFFERENCE else 1.0
        upper, lower = QRectF(field), QRectF(field)
        upper.setTop(field.top() + em(0.3))
        upper.setHeight(max((upper.height() - gap) / (1 + share), 1.0))
        lower.setTop(min(upper.bottom() + gap, field.bottom() - 1))
        return (upper, lower)

    def _show_lanes(self) -> None:
        """Update the curves of each visible lane."""
        contents, names = self._contents, self._names_of_lanes()
        for lane in names:
            run = self._run_of(lane)
            goals = [run.goal] if self._has_two_lanes else [*contents.goals]
            goal = None if lane is self._differing else next(iter(goals), None)
            lane.show_guided(run.guided_steps)
            lane.show_levels(self.range.high, goal)
            lane.show_curves(self._curves_of(lane))
        self._track.show_marks(contents.first.marks)
        arrangement = (self.range, bool(contents.first.marks), names)
        if arrangement == self._arrangement:
            self._show_step()
            return
        self._arrangement = arrangement
        for lane in (self._upper, self._lower, self._differing):
            lane.show(is_shown=lane in names, name=names.get(lane, ""))
            lane.hide_values()
        self.arrange()

    def _run_of(self, lane: PosLane) -> TimeLine:
        """Return the run whose guidance a lane shows."""
        second = self._contents.second
        return second if lane is self._lower and second is not None else self._contents.first

    def _curves_of(self, lane: PosLane) -> list[LaneCurve]:
        """Return the curves of a lane, in back-to-front order."""
        first, second = self._contents.first, self._contents.second
        if lane is self._differing:
            return [LaneCurve(curve) for curve in self._contents.differences]
        own = [LaneCurve(curve) for curve in first.curves]
        others = [LaneCurve(curve, is_second=True) for curve in (second.curves if second else ())]
        if self._lanes is Lanes.APART and second is not None:
            return others if lane is self._lower else own
        return [*others, *own]

    def _names_of_lanes(self) -> dict[PosLane, str]:
        """Return the visible lanes and their titles."""
        first, second = self._contents.first, self._contents.second
        if second is None or self._lanes is Lanes.TOGETHER:
            return {self._upper: ""}
        if self._lanes is Lanes.APART:
            return {self._upper: first.name, self._lower: second.name}
        named = tr("{first} minus {second}").format(first=first.name, second=second.name)
        return {self._upper: "", self._differing: named}

    def _show_step(self) -> None:
        self._playhead.setVisible(bool(self._contents.step_count))
        self._playhead.setLine(self.line_at(self._step))
        for lane in self._shown_lanes:
            lane.show_values(self._step)
        self.describe(self.text_at(self._step))
        self.paint_soon()

    def _all_curves(self) -> list[tuple[TimeLine, PosCurve]]:
        lines = (self._contents.first, self._contents.second)
        return [(line, curve) for line in lines if line is not None for curve in line.curves]

    def _step_at(self, position: QPointF) -> int | None:
        if not self._contents.step_count:
            return None
        return self._bounded(round(self.place_at(position)))

    def _bounded(self, step: int) -> int:
        return min(max(step, 0), max(self._contents.step_count - 1, 0))

    def _follow(self, step: int | None) -> None:
        """Use the step under the pointer as the end of the range, or for the playhead."""
        if step is None:
            return
        if self._brushed_from is None:
            self._pick(step)
        else:
            low, high = sorted((self._brushed_from, step))
            self._take_span((low, high))

    def _pick(self, step: int) -> None:
        if self._contents.step_count and step != self._step:
            self.show_step(step)
            self.step_picked.emit(step)

    def _take_span(self, span: Span | None) -> None:
        if span != self._span:
            self.show_span(span)
            self.span_picked.emit(span)


def ties_in_words(bounds: tuple[float, float] | None) -> str:
    """Describe the effect of ties on PoS; empty where they have none."""
    if bounds is None:
        return ""
    strict, inclusive = bounds
    label = tr(" (strict {strict:.2f}, inclusive {inclusive:.2f})")
    return label.format(strict=strict, inclusive=inclusive)


def mark_in_words(mark: GuidanceMark) -> str:
    """Describe what guidance did on a step."""
    if mark.step_size is None:
        return tr("Guidance paused: every relation has reached the PoS goal")
    label = [tr("step size {size:.2f}").format(size=mark.step_size)]
    if mark.loss is not None:
        label.append(tr("loss {loss:.3g}").format(loss=mark.loss))
    label.append(tr("refinement passes: {count}").format(count=mark.passes))
    if mark.clipped:
        label.append(
            tr("updates clipped to the gradient limit: {count}").format(count=mark.clipped)
        )
    return ", ".join(label)
