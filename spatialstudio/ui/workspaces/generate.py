"""The workspace Generate: a prompt is written and drawn."""

from dataclasses import replace

from PySide6.QtWidgets import QWidget

from spatialstudio.ui.commands.frame import GENERATE_WORKSPACE
from spatialstudio.ui.panel_api import WindowContext
from spatialstudio.ui.widgets.basic.dock_column import DockRoom
from spatialstudio.ui.workspaces.shared_docks import ATTENTION, GRAPH, PROMPT, TIME, VERDICT
from spatialstudio.ui.workspaces.workspace import BOTTOM, RIGHT, DockPlan, Workspace


def make_queue(context: WindowContext) -> QWidget:
    """Return what waits to be drawn."""
    from spatialstudio.ui.panels.run.queue_panel import QueuePanel

    return DockRoom(QueuePanel(context))


def make_results(context: WindowContext) -> QWidget:
    """Return the film strip of this session."""
    from spatialstudio.ui.panels.run.results_panel import ResultsPanel

    return ResultsPanel(context)


QUEUE = DockPlan(
    id="queue",
    title="Queue",
    area=RIGHT,
    size_em=19,
    make=make_queue,
    in_simple=False,
    tab_of=VERDICT.id,
)
RESULTS = DockPlan(
    id="results",
    title="Results",
    area=BOTTOM,
    size_em=7.2,
    make=make_results,
    is_across=True,
)

CALM = tuple(replace(plan, size_em=15.5, in_simple=False) for plan in (ATTENTION, TIME))
"""Docks that the simple window leaves to Inspect, so that the picture has the room; over the film
strip they stand a little lower than there."""

GENERATE = Workspace(
    id="generate",
    command=GENERATE_WORKSPACE,
    docks=(PROMPT, VERDICT, QUEUE, GRAPH, *CALM, RESULTS),
    begins_at_prompt=True,
)
