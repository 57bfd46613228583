"""PoS of every relation over the denoising steps, guided beside baseline."""

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from spatialstudio.ui.theme.metrics import SMALL, em, font
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.pos_curve import PosCurve

EVEN = 0.5
LEVELS = ((0.0, "0"), (EVEN, "0.5"), (1.0, "1"))
MAX_LABELS = 9
SHADE = 0.08
DOT_EM = 0.55
VALUE_EM = 1.05
ASIDE = 0.65
"""How far above its dot a guided value stands, in its heights; a baseline's as far below."""


class PosChart(QWidget):
    """Shows the curves, the even line at 0.5, the guided steps shaded, and the playhead.

    Emits ``step_picked`` when the user clicks, drags or turns the wheel.
    """

    step_picked = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._curves: tuple[PosCurve, ...] = ()
        self._guided: tuple[int, ...] = ()
        self._count = 0
        self._step = 0
        self._plot = pg.PlotItem(enableMenu=False)
        self._legend = pg.LegendItem(colCount=3, horSpacing=em(0.2))
        self._unit = pg.LabelItem("PoS", justify="left")
        self._axis_name = pg.LabelItem("step", justify="left")
        self._levels = [pg.InfiniteLine(level, angle=0) for level, _ in LEVELS]
        self._bars = pg.BarGraphItem(x0=[], width=1, height=1, pen=None)
        self._playhead = pg.InfiniteLine()
        self._dots = pg.ScatterPlotItem(antialias=True)
        self._keys = [pg.PlotDataItem(), pg.PlotDataItem(), self._bars]
        # Lines and labels that are not needed wait, empty, for the next run.
        self._lines: list[pg.PlotDataItem] = []
        self._labels: list[pg.TextItem] = []
        self.setAccessibleName("PoS over the steps")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._lay_out()
        self._dress()
        theme.changed.connect(self._dress)
        self._plot.vb.sigResized.connect(self._draw_playhead)

    def sizeHint(self) -> QSize:
        """Ask for a wide, low field."""
        return QSize(em(26), em(8))

    def minimumSizeHint(self) -> QSize:
        """Never too small to read."""
        return QSize(em(20), em(6))

    def show_curves(
        self, curves: tuple[PosCurve, ...], guided_steps: tuple[int, ...], step_count: int
    ) -> None:
        """Show curves over ``step_count`` steps; ``guided_steps`` are those guidance acted on."""
        if (curves, guided_steps, step_count) == (self._curves, self._guided, self._count):
            return
        has_other_steps = step_count != self._count
        self._curves, self._guided, self._count = curves, guided_steps, step_count
        if has_other_steps:
            self._draw_steps()
        self._draw()

    def show_step(self, step: int) -> None:
        """Move the playhead."""
        if step != self._step:
            self._step = step
            self._draw_playhead()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Pick the step under the pointer."""
        self._pick_at(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Follow the pointer while the button is down."""
        self._pick_at(event.position())

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Go one step on or back."""
        self._pick(self._step + (1 if event.angleDelta().y() < 0 else -1))

    def _pick_at(self, place: QPointF) -> None:
        self._pick(round(self._plot.vb.mapSceneToView(place).x()))

    def _pick(self, step: int) -> None:
        if not self._count:
            return
        step = min(max(step, 0), self._count - 1)
        if step != self._step:
            self.show_step(step)
            self.step_picked.emit(step)

    def _lay_out(self) -> None:
        view = pg.PlotWidget(background=None, plotItem=self._plot)
        view.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)  # no pan, no zoom
        view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(view)
        self._plot.hideButtons()
        self._plot.setYRange(0, 1, padding=0)
        # What lies on the border is drawn whole, and the last value stands in the margin.
        self._plot.vb.setFlag(self._plot.vb.GraphicsItemFlag.ItemClipsChildrenToShape, False)
        grid = self._plot.layout
        grid.setContentsMargins(0, 0, em(2.4), 0)
        grid.setRowSpacing(0, em(0.8))
        grid.removeItem(self._plot.titleLabel)
        grid.addItem(self._unit, 0, 0)
        grid.addItem(self._legend, 0, 1, Qt.AlignmentFlag.AlignRight)
        grid.addItem(self._axis_name, 3, 0)
        self._plot.getAxis("left").setWidth(em(2.6))
        self._plot.getAxis("left").setTicks([LEVELS])
        self._draw_steps()
        self._lay_out_legend()
        for item in (self._bars, *self._levels, self._playhead, self._dots):
            self._plot.addItem(item)
        self._dots.setZValue(1)

    def _lay_out_legend(self) -> None:
        self._legend.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Maximum)
        self._legend.layout.setContentsMargins(0, 0, 0, 0)
        for column in (1, 3):
            self._legend.layout.setColumnSpacing(column, em(0.7))
        for key, name in zip(self._keys, ("guided", "baseline", "guided steps"), strict=True):
            self._legend.addItem(key, name)

    def _dress(self) -> None:
        """Take the theme's colours; apart from drawing, as it costs most and is rarely needed."""
        ink, size = self._theme.colour("muted"), f"{font(SMALL).pointSizeF()}pt"
        for side in ("left", "bottom"):
            axis = self._plot.getAxis(side)
            axis.setStyle(tickFont=font(SMALL), tickLength=0, tickTextOffset=em(0.3))
            axis.setStyle(hideOverlappingLabels=False)
            axis.setPen(None)
            axis.setTextPen(ink)
        for line in self._levels:
            is_even = line.value() == EVEN
            style = Qt.PenStyle.DotLine if is_even else Qt.PenStyle.SolidLine
            line.setPen(self._theme.colour("faint" if is_even else "line"), style=style)
        for label in (self._unit, self._axis_name, *(label for _, label in self._legend.items)):
            label.setText(label.text, color=ink, size=size)
        guided, baseline, _ = self._keys
        guided.setPen(ink, width=2)
        baseline.setPen(ink, width=2, style=Qt.PenStyle.DashLine)
        self._playhead.setPen(self._theme.colour("accent"), width=2)
        self._bars.setOpts(brush=self._theme.colour("text", SHADE))
        self._draw()

    def _draw(self) -> None:
        self._draw_legend()
        self._draw_guided()
        self._draw_curves()
        self._draw_playhead()

    def _draw_steps(self) -> None:
        stride = max(-(-self._count // MAX_LABELS), 1)
        steps = [(step, str(step + 1)) for step in range(0, self._count, stride)]
        self._plot.getAxis("bottom").setTicks([steps])
        self._plot.setXRange(0, self._last, padding=0)

    @property
    def _last(self) -> int:
        """The step at the right border; a field of no width cannot be drawn."""
        return max(self._count - 1, 1)

    def _draw_legend(self) -> None:
        has_baseline = any(curve.is_baseline for curve in self._curves)
        is_met = (has_baseline, has_baseline, bool(self._guided))
        for entry, is_shown in zip(self._legend.items, is_met, strict=True):
            for part in entry:
                part.setVisible(is_shown)

    def _draw_guided(self) -> None:
        borders = np.add.outer((-0.5, 0.5), self._guided).clip(0, self._last)
        self._bars.setOpts(x0=borders[0], width=borders[1] - borders[0])

    def _draw_curves(self) -> None:
        while len(self._lines) < len(self._curves):
            self._lines.append(pg.PlotDataItem(antialias=True))
            self._plot.addItem(self._lines[-1])
        for line in self._lines[len(self._curves) :]:
            line.setData([], [])
        for line, curve in zip(self._lines, self._curves, strict=False):
            style = Qt.PenStyle.DashLine if curve.is_baseline else Qt.PenStyle.SolidLine
            width = 1.6 if curve.is_baseline else 2.4
            pen = pg.mkPen(self._theme.mention(curve.hue), width=width, style=style)
            line.setData(np.reshape(curve.points, (-1, 2)), pen=pen)

    def _draw_playhead(self) -> None:
        self._describe()
        self._playhead.setVisible(self._count > 0)
        self._playhead.setValue(self._step)
        here = self._values_here()
        hues = [self._theme.mention(curve.hue) for curve, _ in here]
        hollow = self._theme.colour("surface")
        self._dots.setData(
            x=[self._step] * len(here),
            y=[pos for _, pos in here],
            size=em(DOT_EM),
            pen=[pg.mkPen(hue, width=2) for hue in hues],
            brush=[
                hollow if curve.is_baseline else hue
                for (curve, _), hue in zip(here, hues, strict=True)
            ],
        )
        self._draw_labels(here)

    def _draw_labels(self, here: list[tuple[PosCurve, float]]) -> None:
        """Write as many values as have room, guided ones first, none upon another."""
        line = em(VALUE_EM) / max(self._plot.vb.height(), 1)
        room = int(1 / line) + 1
        while len(self._labels) < min(room, len(here)):
            self._labels.append(pg.TextItem(anchor=(0, 0.5)))
            self._plot.addItem(self._labels[-1])
        for label in self._labels:
            label.setText("")
        wanted = sorted(
            (pos + (-line if curve.is_baseline else line) * ASIDE, curve.is_baseline, pos)
            for curve, pos in sorted(here, key=lambda value: value[0].is_baseline)[:room]
        )
        heights = spread(np.array([height for height, *_ in wanted]), line, line / 2, 1 + line / 2)
        x = self._step + em(0.15) * self._last / max(self._plot.vb.width(), 1)
        for label, height, (_, is_baseline, pos) in zip(
            self._labels, heights, wanted, strict=False
        ):
            label.setFont(font(SMALL, bold=not is_baseline))
            label.setText(f"{pos:.2f}", self._theme.colour("muted" if is_baseline else "text"))
            label.setPos(x, height)

    def _values_here(self) -> list[tuple[PosCurve, float]]:
        return [
            (curve, pos)
            for curve in self._curves
            for step, pos in curve.points
            if step == self._step
        ]

    def _describe(self) -> None:
        said = [
            f"{curve.name}, {'baseline' if curve.is_baseline else 'guided'}: {pos:.2f}"
            for curve, pos in self._values_here()
        ]
        self.setAccessibleDescription(f"Step {self._step + 1}. " + "; ".join(said))


def spread(
    wanted: npt.NDArray[np.float64], gap: float, lowest: float, highest: float
) -> npt.NDArray[np.float64]:
    """Move heights apart until neighbours keep a gap, within their bounds.

    Args:
        wanted: (n,) in rising order.
        gap: From one height to the next, at least.
        lowest: Bound of the first.
        highest: Bound of the last; there is room for all.
    """
    stairs = gap * np.arange(len(wanted))
    raised = np.maximum.accumulate(np.maximum(wanted, lowest) - stairs) + stairs
    placed: npt.NDArray[np.float64] = np.minimum(raised, highest - stairs[::-1])
    return placed
