"""The dock of pass rates with intervals; a click on a bar finds its pictures."""

from functools import partial

from spatialstudio.application.benchmark.cell_rates import (
    RateBar,
    RateFigure,
    RateGroup,
    rate_bars,
)
from spatialstudio.application.benchmark.monitor import BenchmarkChanged, BenchmarkView
from spatialstudio.ui.benchmark import commands
from spatialstudio.ui.benchmark.widgets.rate_bars import Bar, RateBars
from spatialstudio.ui.framework.bridge import VisibleFrameClock
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.framework.plot_saving import save_plot
from spatialstudio.ui.widgets.builders import column, push_button
from spatialstudio.ui.widgets.segments import Segments
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr


class RatesPanel(Panel):
    """Shows rates of the open benchmark by method, relation, tag or reason."""

    title = "Pass rates"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        self._view: BenchmarkView | None = context.benchmark.view
        self._figure, self._group = RateFigure.PASS_ALL, RateGroup.METHOD
        self._figures = Segments(
            tr("Figure"),
            {
                RateFigure.PASS_ALL: (tr("PASS"), tr("PASS over all judged")),
                RateFigure.PASS_DECIDED: (tr("PASS of decided"), tr("PASS over decided")),
                RateFigure.COVERAGE: (tr("Coverage"), tr("Decided over all judged")),
                RateFigure.REASONS: (tr("Reasons"), tr("Abstentions by reason over all judged")),
            },
        )
        self._groups = Segments(
            tr("By"),
            {
                RateGroup.METHOD: (tr("Method"), tr("One bar per method")),
                RateGroup.RELATION: (tr("Relation"), tr("Methods side by side for each relation")),
                RateGroup.TAG: (tr("Difficulty"), tr("Methods side by side for each tag")),
            },
        )
        self._remark = TextLabel(tone=Tone.MUTED, small=True)
        self.bars = RateBars(context.theme)
        self.bars.bar_picked.connect(context.window_signals.cells_asked)
        self.bars.save_asked.connect(partial(save_plot, context.toasts))
        self._saving = push_button(
            tr("Save figure…"), partial(save_plot, context.toasts, self.bars), kind="quiet"
        )
        self._clock = VisibleFrameClock(self._draw, self)
        self._figures.show_choice(self._figure)
        self._groups.show_choice(self._group)
        self._figures.choice_picked.connect(self._use_figure)
        self._groups.choice_picked.connect(self._use_group)
        context.actions.bind(commands.SAVE_FIGURE, self._saving.click)
        parts = (self._figures, self._groups, self._remark, self.bars, self._saving)
        column(*parts, within=self, gap=0.5)
        self._draw()

    def handle(self, event: object) -> None:
        """Follow the open benchmark."""
        if isinstance(event, BenchmarkChanged):
            self._view = event.view
            self._clock.request()

    def _use_figure(self, figure: RateFigure) -> None:
        self._figure = figure
        self._groups.setVisible(figure is not RateFigure.REASONS)
        self._draw()

    def _use_group(self, group: RateGroup) -> None:
        self._group = group
        self._draw()

    def _draw(self) -> None:
        view = self._view
        made = () if view is None else rate_bars(view.table, self._figure, self._group)
        self.bars.setVisible(bool(made))
        self._saving.setVisible(bool(made))
        self._context.actions[commands.SAVE_FIGURE].setEnabled(bool(made))
        if view is None:
            self._remark.setText(tr("Open a benchmark to see its pass rates."))
        elif not made:
            self._remark.setText(tr("There is nothing to show: no group or no abstention."))
        else:
            self._remark.setText(tr("95 % Wilson intervals. Click a bar for its pictures."))
            names = {each: place for place, each in enumerate(view.table.grid.methods)}
            self.bars.show_bars(_title(self._figure), _bars(made, names))


def _title(figure: RateFigure) -> str:
    return {
        RateFigure.PASS_ALL: tr("PASS over all judged"),
        RateFigure.PASS_DECIDED: tr("PASS over decided"),
        RateFigure.COVERAGE: tr("Coverage"),
        RateFigure.REASONS: tr("Abstentions by reason"),
    }[figure]


def _bars(rates: tuple[RateBar, ...], hues: dict[str, int]) -> list[Bar]:
    bars, heading = [], ""
    for each in rates:
        is_new = each.group != heading
        heading = each.group
        bars.append(
            Bar(
                label=each.method,
                heading=each.group if is_new else "",
                hue=hues[each.method],
                rate=each.rate,
                key=each.line,
            )
        )
    return bars
