"""A plot over the denoising steps: its field is clipped, what follows the playhead is not."""

import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import Qt

from spatialstudio.ui.texts import tr
from spatialstudio.ui.theme.metrics import SMALL, em, font
from spatialstudio.ui.theme.theme import Theme

AXIS_EM = 2.8
VALUE_EM = 2.6
CLOCK_EM = 1.4
MOST_TICKS = 9

Span = tuple[int, int]


class StepPlot:
    """Has room for values at its right, a clock of the steps below, playhead and marked range.

    Args:
        theme: Its colours.
    """

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self.plot = pg.PlotItem(enableMenu=False)
        self.plot.hideButtons()
        self.plot.layout.removeItem(self.plot.titleLabel)
        for outer in (0, 1, 3):
            self.plot.layout.setRowStretchFactor(outer, 0)
        self.plot.layout.setColumnStretchFactor(0, 0)
        self.front = self.plot.vb
        self.front.setFlag(self.front.GraphicsItemFlag.ItemClipsChildrenToShape, False)
        self.field = pg.ViewBox(parent=self.front, enableMenu=False)
        self.field.setZValue(-1)
        self.field.setXLink(self.front)
        self._playhead = pg.InfiniteLine()
        self._span = pg.LinearRegionItem(movable=False)
        self._captions: list[tuple[pg.TextItem, float, float]] = []
        self._name = self.add_caption((1, 1), 1, 1)
        self._clock_name = self.add_caption((1, 0), 0, 0)
        self.front.addItem(self._playhead)
        self.front.sigResized.connect(self._fit)
        self.front.sigRangeChanged.connect(self._place_words)
        self.show_span(None)

    @property
    def sees_playhead(self) -> bool:
        """Whether the step looked at is one of those in sight."""
        low, high = self.front.viewRange()[0]
        return bool(low <= self._playhead.value() <= high)

    def use_values(self, low: float, high: float, margin: float) -> None:
        """Take the values at foot and top; ``margin`` is kept free at both, in values."""
        for view in (self.front, self.field):
            view.setYRange(low - margin, high + margin, padding=0)

    def show_step(self, step: int) -> None:
        """Move the playhead."""
        self._playhead.setValue(step)
        self._playhead.setVisible(self.sees_playhead)

    def show_span(self, span: Span | None) -> None:
        """Mark a range of steps, both ends inclusive."""
        self._span.setVisible(span is not None)
        if span is not None:
            self._span.setRegion((span[0] - 0.5, span[1] + 0.5))

    def dress(self, *, name: str = "", top_em: float, has_clock: bool) -> None:
        """Take the theme's colours and the sizes of its font; ``top_em`` is left free above.

        Args:
            name: Stands above, at the right.
            top_em: How much is left free above.
            has_clock: Whether the steps are named below.
        """
        ink = self._theme.colour("muted")
        for side in ("left", "bottom"):
            axis = self.plot.getAxis(side)
            axis.setStyle(tickFont=font(SMALL), tickLength=0, tickTextOffset=em(0.3))
            axis.setStyle(hideOverlappingLabels=False, tickAlpha=0)
            axis.setPen(None)
            axis.setTextPen(ink)
        self.plot.getAxis("left").setWidth(em(AXIS_EM))
        self.plot.getAxis("bottom").setHeight(em(CLOCK_EM))
        self.plot.showAxis("bottom", has_clock)
        self.plot.layout.setContentsMargins(0, em(top_em), em(VALUE_EM), 0)
        self._clock_name.setText(tr("step") if has_clock else "", ink)
        self._name.setText(name, ink)
        for caption, *_ in self._captions:
            caption.setFont(font(SMALL))
        self._playhead.setPen(self._theme.colour("accent"), width=2)
        self._span.setBrush(self._theme.colour("good", 0.12))
        for line in self._span.lines:
            line.setPen(self._theme.colour("good"))
        self._fit()

    def clear(self) -> None:
        """Take everything out of the field but the marked range."""
        self.field.clear()
        self.field.addItem(self._span)

    def draw_level(self, value: float, role: str, style: Qt.PenStyle, width: float = 1) -> None:
        """Draw a line across the field."""
        pen = pg.mkPen(self._theme.colour(role), width=width, style=style)
        self.field.addItem(pg.InfiniteLine(value, angle=0, pen=pen))

    def add_caption(self, anchor: tuple[float, float], x: float, y: float) -> pg.TextItem:
        """Return a text that keeps its place in the plot: 0 at the left and foot, 1 opposite."""
        caption = pg.TextItem(anchor=anchor)
        self._captions.append((caption, x, y))
        self.front.addItem(caption)
        return caption

    def _fit(self) -> None:
        """Lay the field into the plot; the playhead reaches up to the plot above."""
        self.field.setGeometry(self.front.rect())
        self._playhead.setSpan(0, 1 + self.front.y() / max(self.front.height(), 1))

    def _place_words(self) -> None:
        self._playhead.setVisible(self.sees_playhead)
        seen = self.front.viewRect()
        for caption, x, y in self._captions:
            caption.setPos(seen.left() + x * seen.width(), seen.top() + y * seen.height())
        low, high = (round(end + 0.5) for end in self.front.viewRange()[0])
        stride = max(-(-(high - low) // MOST_TICKS), 1)
        steps = range(-(-low // stride) * stride, high, stride)
        self.plot.getAxis("bottom").setTicks([[(step, str(step + 1)) for step in steps]])
