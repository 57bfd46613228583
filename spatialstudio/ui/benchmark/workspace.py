"""The benchmark workspace and its docks."""

from PySide6.QtWidgets import QWidget

from spatialstudio.ui.benchmark import commands
from spatialstudio.ui.framework.commands import BENCHMARK_WORKSPACE
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.framework.workspace import LEFT, RIGHT, DockPlan, Workspace
from spatialstudio.ui.widgets.dock_column import DockColumn

RATES_DOCK = "benchmark_rates"


def make_cells(context: WindowContext) -> Panel:
    """Build the main panel of the workspace."""
    from spatialstudio.ui.benchmark.benchmark_panel import BenchmarkPanel

    return BenchmarkPanel(context)


def make_run(context: WindowContext) -> QWidget:
    """Build the dock of the process, scrolled where there is too little room."""
    from spatialstudio.ui.benchmark.run_panel import RunPanel

    return DockColumn(RunPanel(context))


RUN = DockPlan(id="benchmark_run", title="Benchmark run", area=LEFT, size_em=15, make=make_run)


def make_rates(context: WindowContext) -> QWidget:
    """Build the scrolled dock of pass rates."""
    from spatialstudio.ui.benchmark.rates_panel import RatesPanel

    return DockColumn(RatesPanel(context))


def make_pairs(context: WindowContext) -> QWidget:
    """Build the scrolled dock of the comparison."""
    from spatialstudio.ui.benchmark.pairs_panel import PairsPanel

    return DockColumn(PairsPanel(context))


def make_race(context: WindowContext) -> QWidget:
    """Build the scrolled dock of the online choice."""
    from spatialstudio.ui.benchmark.race_panel import RacePanel

    return DockColumn(RacePanel(context))


RATES = DockPlan(id=RATES_DOCK, title="Pass rates", area=RIGHT, size_em=24, make=make_rates)
PAIRS = DockPlan(
    id="benchmark_pairs",
    title="Comparison of methods",
    area=RIGHT,
    size_em=24,
    make=make_pairs,
    tab_of=RATES_DOCK,
)
RACE = DockPlan(
    id="benchmark_race",
    title="Choice of the best method",
    area=RIGHT,
    size_em=24,
    make=make_race,
    in_simple=False,
    tab_of=RATES_DOCK,
)

BENCHMARK = Workspace(
    id="benchmark",
    command=BENCHMARK_WORKSPACE,
    docks=(RUN, RATES, PAIRS, RACE),
    tools=(commands.NEW, commands.EXPORT),
    make_centre=make_cells,
    ready="Ready. Plan a benchmark, or open one.",
)
