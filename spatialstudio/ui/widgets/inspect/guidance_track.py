"""What guidance did over the steps: how far it moved the latents, and the loss before."""

import pyqtgraph as pg  # type: ignore[import-untyped]

from spatialstudio.ui.texts import tr
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.inspect.pos_curve import GuidanceMark
from spatialstudio.ui.widgets.inspect.step_plot import CLOCK_EM, StepPlot

TRACK_EM = 1.8
GAP_EM = 0.5
BAR = 0.55
REST_HEIGHT = 0.15


class GuidanceTrack(StepPlot):
    """A bar as high as the step length, a piece a pass; a ring where guidance rested; the loss.

    Args:
        theme: Its colours.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._loss_name = self.add_caption((0.94, 0.5), 0, 0.8)
        self._length_name = self.add_caption((0.94, 0.5), 0, 0.25)
        self.plot.getAxis("left").setTicks([])
        self.use_values(0, 1, 0.08)

    def show_marks(self, marks: tuple[GuidanceMark, ...]) -> None:
        """Show what guidance did; the highest bar and loss fill the track."""
        self.dress(top_em=GAP_EM, has_clock=True)
        self.plot.setFixedHeight(em(TRACK_EM + GAP_EM + CLOCK_EM))
        self._loss_name.setText(tr("loss"), self._theme.colour("bad"))
        self._length_name.setText(tr("length"), self._theme.colour("muted"))
        self.clear()
        self._draw_bars([mark for mark in marks if mark.length is not None])
        rests = [mark.step for mark in marks if mark.length is None]
        ring = pg.mkPen(self._theme.colour("muted"), width=1.2)
        self._draw_dots(rests, [REST_HEIGHT] * len(rests), em(0.4), pen=ring, brush=None)
        losses = {mark.step: mark.loss for mark in marks if mark.loss is not None}
        highest = max(losses.values(), default=0) or 1
        steps, heights = list(losses), [loss / highest for loss in losses.values()]
        ink = self._theme.colour("bad")
        line = pg.PlotCurveItem(steps, heights, pen=pg.mkPen(ink, width=1.4), antialias=True)
        self.field.addItem(line)
        self._draw_dots(steps, heights, em(0.28), pen=None, brush=ink)

    def _draw_bars(self, marks: list[GuidanceMark]) -> None:
        longest = max((mark.length or 0 for mark in marks), default=0) or 1
        pieces = [
            (mark.step, number * height, height)
            for mark in marks
            for height in [(mark.length or 0) / longest / max(mark.passes, 1)]
            for number in range(max(mark.passes, 1))
        ]
        steps, feet, heights = zip(*pieces, strict=True) if pieces else ((), (), ())
        # A rim in the colour of the ground parts the pieces.
        rim, fill = self._theme.colour("surface"), self._theme.colour("faint")
        bars = pg.BarGraphItem(x=steps, y0=feet, height=heights, width=BAR, pen=rim, brush=fill)
        self.field.addItem(bars)

    def _draw_dots(self, steps: list[int], heights: list[float], size: int, **look: object) -> None:
        self.field.addItem(pg.ScatterPlotItem(steps, heights, size=size, antialias=True, **look))
