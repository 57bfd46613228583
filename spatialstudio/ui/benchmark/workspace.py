"""The benchmark workspace and its docks."""

from spatialstudio.ui.benchmark import commands
from spatialstudio.ui.framework.commands import BENCHMARK_WORKSPACE
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.framework.workspace import Workspace


def make_cells(context: WindowContext) -> Panel:
    """Build the main panel of the workspace."""
    from spatialstudio.ui.benchmark.benchmark_panel import BenchmarkPanel

    return BenchmarkPanel(context)


BENCHMARK = Workspace(
    id="benchmark",
    command=BENCHMARK_WORKSPACE,
    docks=(),
    tools=(commands.OPEN,),
    make_centre=make_cells,
)
