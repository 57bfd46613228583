"""The workspaces, from Generate to Gallery, composed of the features' docks."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module

from PySide6.QtWidgets import QWidget

from spatialstudio.application.plugins import LoadedPlugin
from spatialstudio.domain.errors import ErrorReport, cause_of
from spatialstudio.plugin_api import PanelEntry
from spatialstudio.ui.audit.workspace import AUDIT
from spatialstudio.ui.benchmark.workspace import BENCHMARK, RATES
from spatialstudio.ui.compose.workspace import GRAPH
from spatialstudio.ui.evaluate.workspace import (
    JUDGES,
    QUESTIONS,
    SCENE_GRAPH,
    STABILITY,
    VERDICT,
    WHAT_IF,
)
from spatialstudio.ui.framework.commands import (
    EVALUATE_WORKSPACE,
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
from spatialstudio.ui.gallery.workspace import GALLERY, METRIC_TABLE
from spatialstudio.ui.inspect.workspace import (
    ATTENTION,
    BOARD,
    LAYER_STEPS,
    MAPS,
    NUMBERS,
    SELF_ATTENTION,
    TIME,
)
from spatialstudio.ui.refine.workspace import ASSERTIONS
from spatialstudio.ui.run.workspace import PROMPT, QUEUE, RESULTS
from spatialstudio.ui.widgets.dock_column import (
    DockRoom,
)
from spatialstudio.ui.widgets.picture_layers import PLAIN_LAYERS, Layer
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

log = logging.getLogger(__name__)

CALM = tuple(replace(plan, size_em=15.5, in_simple=False) for plan in (ATTENTION, TIME))
"""Docks that the simple density shows in Inspect only, with a lower height above the film strip."""

GENERATE = Workspace(
    id="generate",
    command=GENERATE_WORKSPACE,
    docks=(PROMPT, VERDICT, QUEUE, GRAPH, *CALM, RESULTS),
    begins_at_prompt=True,
)

INSPECT = Workspace(
    id="inspect",
    command=INSPECT_WORKSPACE,
    docks=(MAPS, VERDICT, GRAPH, TIME, LAYER_STEPS, SELF_ATTENTION, NUMBERS, BOARD),
    layers=frozenset({Layer.PICTURE, Layer.MAPS, Layer.MARGINALS}),
    shows_words=True,
    ready="Ready. Generate a picture, or open a run.",
)

EVALUATE = Workspace(
    id="evaluate",
    command=EVALUATE_WORKSPACE,
    docks=(PROMPT, VERDICT, WHAT_IF, SCENE_GRAPH, ASSERTIONS, QUESTIONS, JUDGES, STABILITY),
    tools=(OPEN_PICTURE,),
    layers=PLAIN_LAYERS - {Layer.MAPS} | {Layer.BAND},
    shows_ending=True,
)

METRICS_OF_BENCHMARK = replace(
    METRIC_TABLE, id="benchmark_metrics", area=RIGHT, size_em=RATES.size_em, tab_of=RATES.id
)

WORKSPACES = (
    GENERATE,
    INSPECT,
    EVALUATE,
    replace(BENCHMARK, docks=(*BENCHMARK.docks, METRICS_OF_BENCHMARK)),
    AUDIT,
    GALLERY,
)

AREAS = {"left": LEFT, "right": RIGHT, "bottom": BOTTOM}


def with_panels(plugins: Sequence[LoadedPlugin]) -> tuple[Workspace, ...]:
    """Return the workspaces, with the docks of plugins appended."""
    return tuple(
        replace(
            workspace,
            docks=(
                *workspace.docks,
                *(
                    _dock_of(panel, plugin.name, workspace.docks)
                    for plugin in plugins
                    for panel in plugin.plugin.panels
                    if panel.workspace == workspace.id
                ),
            ),
        )
        for workspace in WORKSPACES
    )


def _dock_of(panel: PanelEntry, plugin: str, others: tuple[DockPlan, ...]) -> DockPlan:
    area = AREAS[panel.area]
    neighbours = [
        plan.id for plan in others if plan.area is area and not (plan.tab_of or plan.is_across)
    ]
    return DockPlan(
        id=f"plugin-{panel.id}",
        title=panel.title,
        area=area,
        size_em=panel.size_em,
        make=partial(make_plugin_panel, panel, plugin),
        tab_of=next(iter(neighbours), ""),
        plugin=plugin,
    )


def make_plugin_panel(panel: PanelEntry, plugin: str, context: WindowContext) -> QWidget:
    """Return a plugin's panel, or an error message if it cannot be created."""
    module, _, name = panel.make.partition(":")
    try:
        made: object = getattr(import_module(module), name)(context)
        if isinstance(made, Panel):
            return DockRoom(made)
        cause = f"{panel.make} is not a Panel"
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # any plugin exception affects its dock only
        log.info("A plugin's panel cannot be shown.", exc_info=True)
        cause = cause_of(error)
    words = tr('This panel of the plugin "{plugin}" cannot be shown: {cause}.')
    return DockRoom(TextLabel(words.format(plugin=plugin, cause=cause), Tone.MUTED))


def disable_plugin_panel(panel: Panel, report: ErrorReport) -> None:
    """Show a report in place of a plugin's panel that failed."""
    room = panel.parentWidget()
    while room is not None and not isinstance(room, DockRoom):
        room = room.parentWidget()
    if room is not None:
        room.replace(TextLabel(f"{report.message} {report.hint}", Tone.MUTED))
