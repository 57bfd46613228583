"""PoS of every relation over the denoising steps, and a second run on the same clock."""

from dataclasses import replace
from itertools import pairwise

import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QVBoxLayout, QWidget

from spatialstudio.ui.texts import tr
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.inspect.curve_lane import DIFFERENCE, CurveLane, LaneContents
from spatialstudio.ui.widgets.inspect.guidance_track import GuidanceTrack
from spatialstudio.ui.widgets.inspect.pos_curve import GuidanceMark, Lanes, TimeContents
from spatialstudio.ui.widgets.inspect.step_plot import Span

DIFFERENCE_SHARE = 0.8
FEWEST_IN_SIGHT = 4
ZOOM = 1.25
SHIFT = Qt.KeyboardModifier.ShiftModifier
CONTROL = Qt.KeyboardModifier.ControlModifier


class PosChart(QWidget):
    """Shows the curves in lanes, what guidance did under them, the clock, and the playhead.

    Emits ``step_picked`` when the user clicks, drags or turns the wheel, and ``span_picked`` with
    first and last step, or None, when a range is brushed with Shift.

    Args:
        theme: Its colours.
    """

    step_picked = Signal(int)
    span_picked = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._contents = TimeContents()
        self._lanes = Lanes.TOGETHER
        self._step = 0
        self._span: Span | None = None
        self._brushed_from: int | None = None
        self._upper, self._lower = CurveLane(theme), CurveLane(theme)
        self._track = GuidanceTrack(theme)
        self._plots = (self._upper, self._lower, self._track)
        self._steps = self._upper.front
        self._lay_out()
        self.setAccessibleName(tr("PoS over the steps"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self._redraw)
        self._show_count()
        self._redraw()

    def sizeHint(self) -> QSize:
        """Ask for a wide, low field."""
        return QSize(em(26), em(9))

    def minimumSizeHint(self) -> QSize:
        """Never too small to read; two lanes take more."""
        return QSize(em(16), em(9.5 if len(self._shown()) > 1 else 7))

    @property
    def is_zoomed(self) -> bool:
        """Whether only some of the steps are in sight."""
        low, high = self._steps.viewRange()[0]
        return bool(high - low < self._contents.step_count - 0.5)

    def show_contents(self, contents: TimeContents) -> None:
        """Show a run, and the one beside it."""
        if contents == self._contents:
            return
        before, self._contents = self._contents, contents
        if contents.step_count != before.step_count:
            self._show_count()
        if (before.second is None) is not (contents.second is None):
            self.updateGeometry()
        self._redraw()

    def show_lanes(self, lanes: Lanes) -> None:
        """Show both runs in one lane, in two, or their difference as well."""
        if lanes is not self._lanes:
            self._lanes = lanes
            self.updateGeometry()
            self._redraw()

    def show_step(self, step: int) -> None:
        """Move the playhead; a zoomed chart follows it."""
        if step == self._step:
            return
        self._step = step
        low, high = self._steps.viewRange()[0]
        self._steps.translateBy(x=min(step - 0.5 - low, 0) + max(step + 0.5 - high, 0))
        self._draw_step()

    def show_span(self, span: Span | None) -> None:
        """Mark a range of steps, both ends inclusive."""
        if span != self._span:
            self._span = span
            for each in self._plots:
                each.show_span(span)

    def zoom(self, factor: float, around: float | None = None) -> None:
        """Show ``factor`` times as many steps; ``around`` is the place that stays, in pixels."""
        kept = self._step if around is None else self._place_of(QPointF(around, 0))
        self._steps.scaleBy(x=factor, center=(kept, 0))

    def show_all_steps(self) -> None:
        """Show every step again."""
        self._steps.setXRange(-0.5, self._steps_drawn - 0.5, padding=0)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Pick the step under the pointer; with Shift begin a range there."""
        here = self._step_at(event.position())
        self._brushed_from = here if event.modifiers() & SHIFT and here is not None else None
        if self._brushed_from is None:
            self._pick(here)
        else:
            self._brush_to(here)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Follow the pointer while the button is down."""
        here = self._step_at(event.position())
        if self._brushed_from is None:
            self._pick(here)
        else:
            self._brush_to(here)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: ARG002 - Qt's signature
        """End the range; one of a single step is none."""
        if self._brushed_from is not None and self._span is not None:
            self._brushed_from = None
            if self._span[0] == self._span[1]:
                self._take_span(None)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Go one step on or back; with Ctrl zoom around the pointer."""
        turned = event.angleDelta().y()
        if event.modifiers() & CONTROL:
            self.zoom(1 / ZOOM if turned > 0 else ZOOM, event.position().x())
        elif self._contents.step_count:
            step = self._step + (1 if turned < 0 else -1)
            self._pick(min(max(step, 0), self._contents.step_count - 1))
        event.accept()

    def event(self, event: QEvent) -> bool:
        """Tell the numbers of the step under a pointer that rests."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            step = self._step_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), "" if step is None else self._told(step), self)
            return True
        return super().event(event)

    def _lay_out(self) -> None:
        view = pg.GraphicsLayoutWidget()
        view.setBackground(None)
        view.viewport().setAutoFillBackground(False)
        view.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        view.ci.layout.setContentsMargins(0, 0, 0, 0)
        view.ci.layout.setSpacing(0)
        self._rows = view.ci.layout
        for row, each in enumerate(self._plots):
            view.addItem(each.plot, row, 0)
        for above, below in pairwise(self._plots):
            below.plot.setXLink(above.plot)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(view)

    @property
    def _steps_drawn(self) -> int:
        """How many steps have room: a plot of none cannot be drawn."""
        return max(self._contents.step_count, 1)

    def _show_count(self) -> None:
        count = self._steps_drawn
        fewest = min(FEWEST_IN_SIGHT, count)
        self._steps.setLimits(xMin=-0.5, xMax=count - 0.5, minXRange=fewest, maxXRange=count)
        self.show_all_steps()

    def _shown(self) -> tuple[LaneContents, ...]:
        """Return what the lanes show, one above the other."""
        first, second, goal = self._contents.first, self._contents.second, self._contents.goal
        guided = first.guided_steps
        upper = LaneContents(curves=first.curves, guided=guided, goal=goal)
        if second is None:
            return (upper,)
        if self._lanes is Lanes.APART:
            upper = replace(upper, name=first.name)
            return upper, replace(upper, name=second.name, curves=(), second=second.curves)
        upper = replace(upper, second=second.curves)
        if self._lanes is Lanes.TOGETHER:
            return (upper,)
        told = tr("{first} less {second}").format(first=first.name, second=second.name)
        lower = LaneContents(
            scale=DIFFERENCE, name=told, curves=self._contents.differences, guided=guided
        )
        return upper, lower

    def _redraw(self) -> None:
        marks, shown = self._contents.first.marks, self._shown()
        self._rows.setRowStretchFactor(0, 100)
        share = DIFFERENCE_SHARE if self._lanes is Lanes.DIFFERENCE else 1.0
        self._rows.setRowStretchFactor(1, round(100 * share) if len(shown) > 1 else 0)
        for plot, is_wanted in (
            (self._lower.plot, len(shown) > 1),
            (self._track.plot, bool(marks)),
        ):
            self._place(plot, is_wanted=is_wanted)
        for lane, contents in zip((self._upper, self._lower), shown, strict=False):
            lane.show_contents(contents, has_clock=contents is shown[-1] and not marks)
        self._track.show_marks(marks)
        self._draw_step()

    def _place(self, plot: pg.PlotItem, *, is_wanted: bool) -> None:
        """Give a plot a row of its own, or none: a hidden one would keep its room."""
        if plot.isVisible() and not is_wanted:
            self._rows.removeItem(plot)
        elif is_wanted and not plot.isVisible():
            self._rows.addItem(plot, [each.plot for each in self._plots].index(plot), 0)
        plot.setVisible(is_wanted)

    def _draw_step(self) -> None:
        for each in self._plots:
            each.show_step(self._step)
        self._describe()

    def _place_of(self, place: QPointF) -> float:
        """Return which step lies under a place; may lie between two."""
        return float(self._steps.mapSceneToView(place).x())

    def _step_at(self, place: QPointF) -> int | None:
        count = self._contents.step_count
        return min(max(round(self._place_of(place)), 0), count - 1) if count else None

    def _pick(self, step: int | None) -> None:
        if step is not None and step != self._step:
            self.show_step(step)
            self.step_picked.emit(step)

    def _brush_to(self, step: int | None) -> None:
        if step is not None and self._brushed_from is not None:
            low, high = sorted((self._brushed_from, step))
            self._take_span((low, high))

    def _take_span(self, span: Span | None) -> None:
        if span != self._span:
            self.show_span(span)
            self.span_picked.emit(span)

    def _describe(self) -> None:
        self.setAccessibleDescription(self._told(self._step) if self._contents.step_count else "")

    def _told(self, step: int) -> str:
        """Say all numbers of a step, a line each."""
        lines = [
            tr("Step {step} of {count}").format(step=step + 1, count=self._contents.step_count)
        ]
        for line in (self._contents.first, self._contents.second):
            for curve in () if line is None else line.curves:
                if (value := curve.at(step)) is not None:
                    named = f"{curve.name}, {line.name}" if line and line.name else curve.name
                    lines.append(f"{named}: {value:.2f}{ties_in_words(curve.bounds_at(step))}")
        marks = {mark.step: mark for mark in self._contents.first.marks}
        if (mark := marks.get(step)) is not None:
            lines.append(mark_in_words(mark))
        return "\n".join(lines)


def ties_in_words(bounds: tuple[float, float] | None) -> str:
    """Say what ties may change, where they change anything."""
    if bounds is None:
        return ""
    strict, inclusive = bounds
    told = tr(" (strict {strict:.2f}, with ties in full {inclusive:.2f})")
    return told.format(strict=strict, inclusive=inclusive)


def mark_in_words(mark: GuidanceMark) -> str:
    """Say what guidance did on a step."""
    if mark.length is None:
        return tr("Guidance rested: every relation was sure enough")
    told = [tr("guidance moved by {length:.2f}").format(length=mark.length)]
    if mark.loss is not None:
        told.append(tr("loss {loss:.3g}").format(loss=mark.loss))
    told.append(tr("passes: {count}").format(count=mark.passes))
    return ", ".join(told)
