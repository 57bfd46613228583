"""The workspace Evaluate: a picture is judged, and the evidence looked at."""

from PySide6.QtWidgets import QWidget

from spatialstudio.ui.commands.frame import EVALUATE_WORKSPACE, OPEN_PICTURE
from spatialstudio.ui.panel_api import WindowContext
from spatialstudio.ui.panels.evaluate.judges_panel import JudgesPanel
from spatialstudio.ui.panels.evaluate.stability_panel import StabilityPanel
from spatialstudio.ui.panels.evaluate.what_if_panel import WhatIfPanel
from spatialstudio.ui.widgets.basic.dock_column import DockColumn
from spatialstudio.ui.widgets.stage.picture_layers import PLAIN_LAYERS, Layer
from spatialstudio.ui.workspaces.shared_docks import PROMPT, VERDICT
from spatialstudio.ui.workspaces.workspace import BOTTOM, DockPlan, Workspace

HEIGHT_EM = 16


def make_what_if(context: WindowContext) -> QWidget:
    """Return thresholds and instances to try."""
    return DockColumn(WhatIfPanel(context))


def make_judges(context: WindowContext) -> QWidget:
    """Return both judges' answers."""
    return DockColumn(JudgesPanel(context))


def make_stability(context: WindowContext) -> QWidget:
    """Return how the answer bears small changes."""
    return DockColumn(StabilityPanel(context))


WHAT_IF = DockPlan(
    id="what_if",
    title=WhatIfPanel.title,
    area=BOTTOM,
    size_em=HEIGHT_EM,
    make=make_what_if,
    can_wait=True,
    breadth_em=26,
)
JUDGES = DockPlan(
    id="judges",
    title=JudgesPanel.title,
    area=BOTTOM,
    size_em=HEIGHT_EM,
    make=make_judges,
    can_wait=True,
    breadth_em=20,
)
STABILITY = DockPlan(
    id="stability",
    title=StabilityPanel.title,
    area=BOTTOM,
    size_em=HEIGHT_EM,
    make=make_stability,
    in_simple=False,
    can_wait=True,
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
