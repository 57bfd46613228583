"""The benchmark workspace and its docks."""

from PySide6.QtWidgets import QWidget

from spatialstudio.ui.benchmark import commands
from spatialstudio.ui.framework.commands import BENCHMARK_WORKSPACE
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.framework.workspace import LEFT, DockPlan, Workspace
from spatialstudio.ui.widgets.dock_column import DockColumn


def make_cells(context: WindowContext) -> Panel:
    """Build the main panel of the workspace."""
    from spatialstudio.ui.benchmark.benchmark_panel import BenchmarkPanel

    return BenchmarkPanel(context)


def make_run(context: WindowContext) -> QWidget:
    """Build the dock of the process, scrolled where there is too little room."""
    from spatialstudio.ui.benchmark.run_panel import RunPanel

    return DockColumn(RunPanel(context))


RUN = DockPlan(id="benchmark_run", title="Benchmark run", area=LEFT, size_em=15, make=make_run)

BENCHMARK = Workspace(
    id="benchmark",
    command=BENCHMARK_WORKSPACE,
    docks=(RUN,),
    tools=(commands.NEW, commands.OPEN),
    make_centre=make_cells,
)
