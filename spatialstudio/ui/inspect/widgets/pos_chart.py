"""PoS of every relation over the denoising steps, and a second run on the same clock."""

from collections.abc import Iterator
from dataclasses import replace

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.inspect.widgets.chart_painter import (
    DIFFERENCE,
    LABEL_GAP_EM,
    POS,
    RIGHT,
    ChartPainter,
    Scale,
)
from spatialstudio.ui.inspect.widgets.pos_curve import (
    GuidanceMark,
    Lanes,
    PosCurve,
    TimeContents,
    TimeLine,
)
from spatialstudio.ui.inspect.widgets.step_axis import StepAxis
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.text_label import plain_tip
from spatialstudio.ui.widgets.texts import tr

AXIS_EM = 3.2
VALUE_EM = 2.6
TOP_EM = 0.6
TRACK_EM = 1.8
CLOCK_EM = 1.2
GAP_EM = 0.75
LEAST_WIDTH_EM = 11
DIFFERENCE_SHARE = 0.8
ZOOM = 1.25
SHIFT = Qt.KeyboardModifier.ShiftModifier
CONTROL = Qt.KeyboardModifier.ControlModifier

Span = tuple[int, int]


@frozen(kw_only=False)
class Lane:
    """One field of the chart: whose curves it holds, on which scale, where."""

    area: QRectF
    scale: Scale
    name: str
    lines: tuple[TimeLine, ...]


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
        self._theme = theme
        self._contents = TimeContents()
        self._lanes = Lanes.TOGETHER
        self._axis = StepAxis()
        self._step = 0
        self._span: Span | None = None
        self._brushed_from: int | None = None
        self._ground: QPixmap | None = None
        self.setAccessibleName(tr("PoS over the steps"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self._redraw)

    def sizeHint(self) -> QSize:
        return QSize(em(26), em(9))

    def minimumSizeHint(self) -> QSize:
        """Never too small to read; two lanes take more."""
        return QSize(em(LEAST_WIDTH_EM), em(9.5 if len(self._places()) > 1 else 7))

    @property
    def is_zoomed(self) -> bool:
        """Whether only some of the steps are in sight."""
        return self._axis.is_zoomed

    def show_contents(self, contents: TimeContents) -> None:
        """Show a run, and the one beside it."""
        if contents == self._contents:
            return
        if contents.step_count != self._contents.step_count:
            self._axis = StepAxis(count=contents.step_count)
        had_second = self._contents.second is not None
        self._contents = contents
        if had_second is (contents.second is None):
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
        moved = self._axis.showing(step)
        if moved != self._axis:
            self._axis = moved
            self._ground = None
        self._describe()
        self.update()

    def show_span(self, span: Span | None) -> None:
        """Mark a range of steps, both ends inclusive."""
        if span != self._span:
            self._span = span
            self._redraw()

    def zoom(self, factor: float, around: float | None = None) -> None:
        """Show ``factor`` times as many steps; ``around`` is the place that stays, in pixels."""
        axis = self._placed(self._axis)
        kept = axis.x_of(self._step) if around is None else around
        self._axis = axis.zoomed(factor, kept)
        self._redraw()

    def show_all_steps(self) -> None:
        """Show every step again."""
        self._axis = StepAxis(count=self._contents.step_count)
        self._redraw()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Pick the step under the pointer; with Shift begin a range there."""
        here = self._step_at(event.position())
        self._brushed_from = here if event.modifiers() & SHIFT and here is not None else None
        if self._brushed_from is None:
            self._pick(here)
        else:
            self._brush_to(here)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
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
            QToolTip.showText(
                event.globalPos(), plain_tip("" if step is None else self._told(step)), self
            )
            return True
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: ARG002 - Qt's signature
        self._ground = None

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        if self._ground is None:
            self._ground = self._draw_ground()
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._ground)
        if self._contents.step_count:
            chart = ChartPainter(painter, self._theme, self._placed(self._axis))
            lanes = self._places()
            reach = self._field()
            reach.setBottom(self.height() - em(CLOCK_EM))
            chart.playhead(self._step, reach)
            for lane in lanes:
                chart.values(self._step, list(self._here(lane)), lane.area, lane.scale)
        painter.end()

    def _draw_ground(self) -> QPixmap:
        ratio = self.devicePixelRatioF()
        ground = QPixmap(self.size() * ratio)
        ground.setDevicePixelRatio(ratio)
        ground.fill(Qt.GlobalColor.transparent)
        painter = QPainter(ground)
        chart = ChartPainter(painter, self._theme, self._placed(self._axis))
        field, track = self._field(), self._track()
        contents = self._contents
        for lane in self._places():
            chart.guided(contents.first.guided_steps, lane.area)
            chart.levels(lane.area, lane.scale, None if lane.scale is DIFFERENCE else contents.goal)
            self._draw_curves(chart, lane)
        if self._span is not None:
            chart.span(self._span, field)
        if contents.first.marks:
            chart.marks(contents.first.marks, track)
            beside = QRectF(0, track.top(), track.left() - em(LABEL_GAP_EM), track.height() / 2)
            chart.text(beside, tr("loss"), "bad", RIGHT)
            beside.translate(0, track.height() / 2)
            chart.text(beside, tr("length"), "muted", RIGHT)
        clock = QRectF(0, self.height() - em(CLOCK_EM), self.width(), em(CLOCK_EM))
        chart.clock(clock)
        chart.text(
            QRectF(0, clock.top(), field.left() - em(LABEL_GAP_EM), clock.height()),
            tr("step"),
            "muted",
            RIGHT,
        )
        painter.end()
        return ground

    def _draw_curves(self, chart: ChartPainter, lane: Lane) -> None:
        if lane.scale is DIFFERENCE:
            for curve in self._contents.differences:
                chart.difference(curve, lane.area)
        for line in reversed(lane.lines):
            for curve in line.curves:
                is_second = line is self._contents.second
                chart.curve(curve, lane.area, lane.scale, is_second=is_second)
        if lane.name:
            above = QRectF(
                lane.area.left(), lane.area.top() - em(GAP_EM) - 2, lane.area.width(), em(GAP_EM)
            )
            chart.text(above, lane.name, "muted", RIGHT)

    def _here(self, lane: Lane) -> Iterator[tuple[PosCurve, float, bool]]:
        found = [
            (curve, line is self._contents.second) for line in lane.lines for curve in line.curves
        ]
        if lane.scale is DIFFERENCE:
            found = [(curve, False) for curve in self._contents.differences]
        for curve, is_second in found:
            if (value := curve.at(self._step)) is not None:
                yield curve, value, is_second

    def _field(self) -> QRectF:
        """Return where the lanes lie, one above the other."""
        left, top = em(AXIS_EM), em(TOP_EM)
        foot = em(CLOCK_EM) + em(0.5)
        if self._contents.first.marks:
            foot += em(TRACK_EM) + em(0.5)
        width = self.width() - left - em(VALUE_EM)
        return QRectF(left, top, max(width, 1.0), max(self.height() - top - foot, 1.0))

    def _track(self) -> QRectF:
        field = self._field()
        return QRectF(field.left(), field.bottom() + em(0.5), field.width(), em(TRACK_EM))

    def _places(self) -> tuple[Lane, ...]:
        field, first, second = self._field(), self._contents.first, self._contents.second
        both = (first,) if second is None else (first, second)
        if second is None or self._lanes is Lanes.TOGETHER:
            return (Lane(field, POS, "", both),)
        gap = em(GAP_EM) + em(0.5)
        field.setTop(field.top() + em(0.3))
        share = DIFFERENCE_SHARE if self._lanes is Lanes.DIFFERENCE else 1.0
        upper = QRectF(field)
        upper.setHeight((field.height() - gap) / (1 + share))
        lower = QRectF(field)
        lower.setTop(upper.bottom() + gap)
        if self._lanes is Lanes.DIFFERENCE:
            told = tr("{first} less {second}").format(first=first.name, second=second.name)
            return (Lane(upper, POS, "", both), Lane(lower, DIFFERENCE, told, ()))
        return (Lane(upper, POS, first.name, (first,)), Lane(lower, POS, second.name, (second,)))

    def _placed(self, axis: StepAxis) -> StepAxis:
        field = self._field()
        return replace(axis, left=field.left(), width=field.width())

    def _step_at(self, place: QPointF) -> int | None:
        return self._placed(self._axis).step_at(place.x()) if self._contents.step_count else None

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

    def _redraw(self) -> None:
        self._ground = None
        self._describe()
        self.update()

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
        return tr("Guidance paused: the attention was sure enough of every relation")
    told = [tr("guidance moved by {length:.2f}").format(length=mark.length)]
    if mark.loss is not None:
        told.append(tr("loss {loss:.3g}").format(loss=mark.loss))
    told.append(tr("passes: {count}").format(count=mark.passes))
    return ", ".join(told)
