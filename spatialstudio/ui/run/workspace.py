"""The docks of the generate workspace: prompt and settings, queue, results."""

from PySide6.QtWidgets import QWidget

from spatialstudio.ui.compose.layouts_panel import LayoutsPanel
from spatialstudio.ui.compose.prompt_panel import PromptPanel
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.framework.workspace import (
    BOTTOM,
    LEFT,
    RIGHT,
    VERDICT_DOCK,
    DockPlan,
)
from spatialstudio.ui.run.generation_panel import GenerationPanel
from spatialstudio.ui.widgets.dock_column import (
    DockColumn,
    DockRoom,
    over,
)


def make_prompt(context: WindowContext) -> QWidget:
    """Build the dock of the prompt, layouts, run settings and footer."""
    column, generation = DockColumn(), GenerationPanel(context)
    whole = over(column, generation.buttons)
    column.add(PromptPanel(context), LayoutsPanel(context), generation)
    return whole


def make_queue(context: WindowContext) -> QWidget:
    """Build the queue dock."""
    from spatialstudio.ui.run.queue_panel import QueuePanel

    return DockRoom(QueuePanel(context))


def make_results(context: WindowContext) -> QWidget:
    """Build the film strip dock."""
    from spatialstudio.ui.run.results_panel import ResultsPanel

    return ResultsPanel(context)


PROMPT = DockPlan(
    id="prompt", title="Prompt", area=LEFT, size_em=19, make=make_prompt, can_wait=False
)


QUEUE = DockPlan(
    id="queue",
    title="Queue",
    area=RIGHT,
    size_em=19,
    make=make_queue,
    in_simple=False,
    tab_of=VERDICT_DOCK,
)


RESULTS = DockPlan(
    id="results",
    title="Results",
    area=BOTTOM,
    size_em=7.2,
    make=make_results,
    is_across=True,
)
