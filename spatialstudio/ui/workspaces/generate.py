"""The workspace Generate: a prompt is written and drawn."""

from spatialstudio.ui.commands.frame import GENERATE_WORKSPACE
from spatialstudio.ui.panels.compose.graph_panel import GraphPanel
from spatialstudio.ui.panels.run.queue_panel import QueuePanel
from spatialstudio.ui.panels.run.results_panel import ResultsPanel
from spatialstudio.ui.workspaces.shared_docks import ATTENTION, PROMPT, TIME, VERDICT
from spatialstudio.ui.workspaces.workspace import BOTTOM, RIGHT, DockPlan, Workspace

QUEUE = DockPlan(
    id="queue",
    title=QueuePanel.title,
    area=RIGHT,
    size_em=19,
    make=QueuePanel,
    in_simple=False,
    tab_of=VERDICT.id,
)
GRAPH = DockPlan(
    id="graph",
    title=GraphPanel.title,
    area=RIGHT,
    size_em=19,
    make=GraphPanel,
    in_simple=False,
    tab_of=VERDICT.id,
)
RESULTS = DockPlan(
    id="results",
    title=ResultsPanel.title,
    area=BOTTOM,
    size_em=1.6,
    make=ResultsPanel,
    is_across=True,
)

GENERATE = Workspace(
    id="generate",
    command=GENERATE_WORKSPACE,
    docks=(PROMPT, VERDICT, QUEUE, GRAPH, ATTENTION, TIME, RESULTS),
)
