"""The axis of the denoising steps below a plot."""

import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtWidgets import QGraphicsScene, QGraphicsSimpleTextItem

from spatialstudio.ui.theme.theme import SMALL, Theme, em, plot_font
from spatialstudio.ui.widgets.plot import place_text
from spatialstudio.ui.widgets.plot_range import PlotRange
from spatialstudio.ui.widgets.plot_row import CACHED
from spatialstudio.ui.widgets.texts import tr

MOST_TICKS = 9
TICK_EM = 2
"""Minimum distance of two labels."""


class StepAxis(pg.AxisItem):  # type: ignore[misc]
    """Numbers the steps in view from 1, with its name to the left.

    Args:
        scene: Where it is shown.
        box: The field whose steps it numbers.
    """

    def __init__(self, scene: QGraphicsScene, box: pg.ViewBox) -> None:
        super().__init__("bottom")
        self._labels: list[tuple[int, str]] | None = None
        self._name = QGraphicsSimpleTextItem(tr("step"))
        self.setCacheMode(CACHED)
        self.linkToView(box)
        for item in (self, self._name):
            scene.addItem(item)

    def show_steps(self, view: PlotRange, count: int) -> None:
        """Label the visible ones of a number of steps."""
        most = int(self.geometry().width() / em(TICK_EM))
        ticks = step_ticks(view, count, min(max(most, 1), MOST_TICKS))
        labels = [(step, str(step + 1)) for step in ticks]
        if labels != self._labels:  # pyqtgraph draws the axis again for equal ones
            self._labels = labels
            self.setTicks([labels])

    def place(self, area: QRectF, gap: float) -> None:
        """Fill a rectangle, pixels of the surface, with a gap between the name and its left."""
        self.setHeight(area.height())
        self.setGeometry(area)
        self._name.setFont(plot_font(SMALL))
        place_text(self._name, QPointF(area.left() - gap, area.top()), (1, 0))

    def dress(self, theme: Theme) -> None:
        """Apply the theme's colours."""
        colour = theme.colour("muted")
        self.setStyle(tickFont=plot_font(SMALL), tickLength=0, tickTextOffset=0)
        self.setPen(None)
        self.setTickPen(None)
        self.setTextPen(colour)
        self._name.setBrush(colour)


def step_ticks(view: PlotRange, count: int, most: int = MOST_TICKS) -> tuple[int, ...]:
    """Return the labelled steps of a view, evenly spaced but for the last step of all.

    Args:
        view: Visible range.
        count: Number of all steps, counted from 0.
        most: Maximum number of labels.
    """
    stride = max(-(-int(view.length + 1) // most), 1)
    first, last = view.first - 1e-6, view.last + 1e-6
    steps = [step for step in range(0, count, stride) if first <= step <= last]
    if len(steps) > 1 and steps[-1] < count - 1 <= last:
        steps[-1] = count - 1
    return tuple(steps)
