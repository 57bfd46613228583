"""The workspaces Generate, Inspect, Evaluate and Gallery: their docks, layers and tools."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from operator import attrgetter

from PySide6.QtWidgets import QWidget

from spatialstudio.plugin_api import PanelEntry
from spatialstudio.ui.compose.layouts_panel import LayoutsPanel
from spatialstudio.ui.compose.prompt_panel import PromptPanel
from spatialstudio.ui.framework.commands import (
    EVALUATE_WORKSPACE,
    GALLERY_WORKSPACE,
    GENERATE_WORKSPACE,
    INSPECT_WORKSPACE,
    OPEN_PICTURE,
)
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.framework.workspace import (
    BOTTOM,
    LEFT,
    RIGHT,
    DockPlan,
    Workspace,
)
from spatialstudio.ui.gallery.commands import COMPARE, EXPORT
from spatialstudio.ui.run.generation_panel import GenerationPanel
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.widgets.dock_column import (
    DockColumn,
    DockRoom,
    over,
    section,
)
from spatialstudio.ui.widgets.picture_layers import PLAIN_LAYERS, Layer
from spatialstudio.ui.widgets.text_label import TextLabel, Tone
from spatialstudio.ui.widgets.texts import tr

log = logging.getLogger(__name__)


def make_prompt(context: WindowContext) -> QWidget:
    """Return the prompt, layouts, the settings of the run, and the buttons at the foot."""
    column, generation = DockColumn(), GenerationPanel(context)
    whole = over(column, generation.buttons)
    column.add(PromptPanel(context), LayoutsPanel(context), generation)
    return whole


def make_verdict(context: WindowContext) -> QWidget:
    """Return the verdicts, the layers and the details of the open run."""
    from spatialstudio.ui.evaluate.evaluation_panel import EvaluationPanel
    from spatialstudio.ui.run.details_panel import DetailsPanel
    from spatialstudio.ui.stage.layers_panel import LayersPanel

    return DockColumn(
        EvaluationPanel(context),
        section(tr(LayersPanel.title), LayersPanel(context)),
        section(tr(DetailsPanel.title), DetailsPanel(context)),
    )


def make_graph(context: WindowContext) -> QWidget:
    """Return the relations as a graph."""
    from spatialstudio.ui.compose.graph_panel import GraphPanel

    return DockRoom(GraphPanel(context))


def make_attention(context: WindowContext) -> QWidget:
    """Return the maps of the words."""
    from spatialstudio.ui.inspect.attention_panel import AttentionPanel

    return DockRoom(AttentionPanel(context))


def make_time(context: WindowContext) -> QWidget:
    """Return the curves over the steps."""
    from spatialstudio.ui.inspect.time_panel import TimePanel

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


def make_queue(context: WindowContext) -> QWidget:
    """Return what waits to be drawn."""
    from spatialstudio.ui.run.queue_panel import QueuePanel

    return DockRoom(QueuePanel(context))


def make_results(context: WindowContext) -> QWidget:
    """Return the film strip of this session."""
    from spatialstudio.ui.run.results_panel import ResultsPanel

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


def make_maps(context: WindowContext) -> QWidget:
    """Return how maps are drawn, what they say, and which layers they are the mean of."""
    from spatialstudio.ui.inspect.blocks_panel import BlocksPanel
    from spatialstudio.ui.inspect.maps_panel import MapsPanel

    blocks = BlocksPanel(context)
    return DockColumn(MapsPanel(context), section(tr(BlocksPanel.title), blocks))


def make_numbers(context: WindowContext) -> QWidget:
    """Return the table of all numbers."""
    from spatialstudio.ui.inspect.numbers_panel import NumbersPanel

    return DockRoom(NumbersPanel(context))


def make_board(context: WindowContext) -> QWidget:
    """Return the storyboard."""
    from spatialstudio.ui.inspect.board_panel import BoardPanel

    return DockRoom(BoardPanel(context))


MAPS = DockPlan(id="maps", title="Attention maps", area=LEFT, size_em=19, make=make_maps)

NUMBERS = DockPlan(
    id="numbers",
    title="Numbers",
    area=BOTTOM,
    size_em=TIME.size_em,
    make=make_numbers,
    in_simple=False,
    tab_of=TIME.id,
)

BOARD = DockPlan(
    id="storyboard",
    title="Storyboard",
    area=BOTTOM,
    size_em=TIME.size_em,
    make=make_board,
    in_simple=False,
    tab_of=TIME.id,
)

INSPECT = Workspace(
    id="inspect",
    command=INSPECT_WORKSPACE,
    docks=(MAPS, VERDICT, GRAPH, TIME, NUMBERS, BOARD),
    layers=frozenset({Layer.PICTURE, Layer.MAPS, Layer.MARGINALS}),
    shows_words=True,
)


HEIGHT_EM = 16


def make_what_if(context: WindowContext) -> QWidget:
    """Return what a verdict would be otherwise, scrolled where there is too little room."""
    from spatialstudio.ui.evaluate.what_if_panel import WhatIfPanel

    return DockColumn(WhatIfPanel(context))


def make_judges(context: WindowContext) -> QWidget:
    """Return two judges side by side and a detector's second opinion, scrolled likewise."""
    from spatialstudio.ui.evaluate.judges_panel import JudgesPanel
    from spatialstudio.ui.evaluate.second_detector_panel import SecondDetectorPanel

    return DockColumn(JudgesPanel(context), SecondDetectorPanel(context))


def make_stability(context: WindowContext) -> QWidget:
    """Return changed pictures and depths, scrolled likewise."""
    from spatialstudio.ui.evaluate.stability_panel import StabilityPanel

    return DockColumn(StabilityPanel(context))


WHAT_IF = DockPlan(
    id="what_if",
    title="What if",
    area=BOTTOM,
    size_em=HEIGHT_EM,
    make=make_what_if,
    breadth_em=26,
)
JUDGES = DockPlan(
    id="judges",
    title="Judges",
    area=BOTTOM,
    size_em=HEIGHT_EM,
    make=make_judges,
    breadth_em=20,
)
STABILITY = DockPlan(
    id="stability",
    title="Stability and depth",
    area=BOTTOM,
    size_em=HEIGHT_EM,
    make=make_stability,
    in_simple=False,
    breadth_em=18,
)

EVALUATE = Workspace(
    id="evaluate",
    command=EVALUATE_WORKSPACE,
    docks=(PROMPT, VERDICT, WHAT_IF, JUDGES, STABILITY),
    tools=(OPEN_PICTURE,),
    layers=PLAIN_LAYERS - {Layer.MAPS} | {Layer.BAND},
    shows_ending=True,
)


NARROWEST_EM = 12
FILES = ("studio.storage.metadata", "studio.storage.store", "studio.library")
"""What reads kept runs; each stands on those before it."""


def load_grid(_: WindowContext) -> None:
    """Load what shows the kept runs."""
    import spatialstudio.ui.gallery.gallery_panel  # noqa: F401 - needed a moment later


def make_searches(context: WindowContext) -> QWidget:
    """Return the searches and days of the library."""
    from spatialstudio.ui.gallery.searches_panel import SearchesPanel

    return DockRoom(SearchesPanel(context))


def make_details(context: WindowContext) -> QWidget:
    """Return the chosen run, scrolled when there is too little room."""
    from spatialstudio.ui.gallery.gallery_details_panel import GalleryDetailsPanel

    details = DockColumn(GalleryDetailsPanel(context))
    details.setMinimumWidth(em(NARROWEST_EM))
    return details


def make_grid(context: WindowContext) -> Panel:
    """Return the kept runs."""
    from spatialstudio.ui.gallery.gallery_panel import GalleryPanel

    return GalleryPanel(context)


SEARCHES = DockPlan(
    id="searches", title="Library", area=LEFT, size_em=13, make=make_searches, in_simple=False
)
DETAILS = DockPlan(id="chosen_run", title="Run", area=RIGHT, size_em=17, make=make_details)

GALLERY = Workspace(
    id="gallery",
    command=GALLERY_WORKSPACE,
    docks=(SEARCHES, DETAILS),
    tools=(COMPARE, EXPORT),
    make_centre=make_grid,
    prepare=(*map(attrgetter, FILES), load_grid),
)


WORKSPACES = (GENERATE, INSPECT, EVALUATE, GALLERY)

AREAS = {"left": LEFT, "right": RIGHT, "bottom": BOTTOM}


def with_panels(panels: Sequence[PanelEntry]) -> tuple[Workspace, ...]:
    """Return the workspaces with the docks of plugins, each the last of its workspace."""
    return tuple(
        replace(
            workspace,
            docks=(
                *workspace.docks,
                *(
                    _dock_of(panel, workspace.docks)
                    for panel in panels
                    if panel.workspace == workspace.id
                ),
            ),
        )
        for workspace in WORKSPACES
    )


def _dock_of(panel: PanelEntry, others: tuple[DockPlan, ...]) -> DockPlan:
    area = AREAS[panel.area]
    beside = [
        plan.id for plan in others if plan.area is area and not (plan.tab_of or plan.is_across)
    ]
    return DockPlan(
        id=f"plugin-{panel.id}",
        title=panel.title,
        area=area,
        size_em=panel.size_em,
        make=partial(make_plugin_panel, panel),
        tab_of=next(iter(beside), ""),
    )


def make_plugin_panel(panel: PanelEntry, context: WindowContext) -> QWidget:
    """Return a plugin's panel; a message in its place where it cannot be made."""
    module, _, name = panel.make.partition(":")
    try:
        made: object = getattr(import_module(module), name)(context)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a plugin raises concerns its own dock alone
        log.info("A plugin's panel cannot be shown.", exc_info=True)
        return _problem(f"{type(error).__name__}: {error}")
    if not isinstance(made, Panel):
        return _problem(f"{panel.make} is not a Panel.")
    return DockRoom(made)


def _problem(reason: str) -> QWidget:
    message = tr("This panel of a plugin cannot be shown. {reason}").format(reason=reason)
    return DockRoom(TextLabel(message, Tone.MUTED))
