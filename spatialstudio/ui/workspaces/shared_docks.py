"""Docks that stand in more than one workspace.

Panels are imported by what makes them, and made once the window is in sight: only the prompt, which
can be typed into at once, is there from the start.
"""

from PySide6.QtWidgets import QWidget

from spatialstudio.ui.panel_api import WindowContext
from spatialstudio.ui.panels.compose.layouts_panel import LayoutsPanel
from spatialstudio.ui.panels.compose.prompt_panel import PromptPanel
from spatialstudio.ui.panels.run.generation_panel import GenerationPanel
from spatialstudio.ui.texts import tr
from spatialstudio.ui.widgets.basic.dock_column import DockColumn, DockRoom, over, section
from spatialstudio.ui.workspaces.workspace import BOTTOM, LEFT, RIGHT, DockPlan


def make_prompt(context: WindowContext) -> QWidget:
    """Return the prompt, layouts, the settings of the run, and the buttons at the foot."""
    column, generation = DockColumn(), GenerationPanel(context)
    whole = over(column, generation.buttons)
    column.add(PromptPanel(context), LayoutsPanel(context), generation)
    return whole


def make_verdict(context: WindowContext) -> QWidget:
    """Return the verdicts, the layers and the details of the open run."""
    from spatialstudio.ui.panels.evaluate.evaluation_panel import EvaluationPanel
    from spatialstudio.ui.panels.stage.details_panel import DetailsPanel
    from spatialstudio.ui.panels.stage.layers_panel import LayersPanel

    return DockColumn(
        EvaluationPanel(context),
        section(tr(LayersPanel.title), LayersPanel(context)),
        section(tr(DetailsPanel.title), DetailsPanel(context)),
    )


def make_graph(context: WindowContext) -> QWidget:
    """Return the relations as a graph."""
    from spatialstudio.ui.panels.compose.graph_panel import GraphPanel

    return DockRoom(GraphPanel(context))


def make_attention(context: WindowContext) -> QWidget:
    """Return the maps of the words."""
    from spatialstudio.ui.panels.inspect.attention_panel import AttentionPanel

    return DockRoom(AttentionPanel(context))


def make_time(context: WindowContext) -> QWidget:
    """Return the curves over the steps."""
    from spatialstudio.ui.panels.inspect.time_panel import TimePanel

    return DockRoom(TimePanel(context))


PROMPT = DockPlan(
    id="prompt", title="Prompt", area=LEFT, size_em=19, make=make_prompt, can_wait=False
)
VERDICT = DockPlan(id="verdict", title="Verdict", area=RIGHT, size_em=19, make=make_verdict)
GRAPH = DockPlan(
    id="graph",
    title="Relation graph",
    area=RIGHT,
    size_em=19,
    make=make_graph,
    in_simple=False,
    tab_of=VERDICT.id,
)
ATTENTION = DockPlan(
    id="attention",
    title="Attention of the words",
    area=BOTTOM,
    size_em=17.5,
    make=make_attention,
)
TIME = DockPlan(
    id="time",
    title="PoS over the steps",
    area=BOTTOM,
    size_em=17.5,
    make=make_time,
    breadth_em=38,
)
