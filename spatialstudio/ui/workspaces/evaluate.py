"""The workspace Evaluate: a picture is judged, and the evidence looked at."""

from PySide6.QtWidgets import QWidget

from spatialstudio.ui.commands.frame import EVALUATE_WORKSPACE, OPEN_PICTURE
from spatialstudio.ui.panel_api import WindowContext
from spatialstudio.ui.widgets.basic.dock_column import DockColumn
from spatialstudio.ui.widgets.stage.picture_layers import PLAIN_LAYERS, Layer
from spatialstudio.ui.workspaces.shared_docks import PROMPT, VERDICT
from spatialstudio.ui.workspaces.workspace import BOTTOM, DockPlan, Workspace

HEIGHT_EM = 16


def make_what_if(context: WindowContext) -> QWidget:
    """Return what a verdict would be otherwise, scrolled where there is too little room."""
    from spatialstudio.ui.panels.evaluate.what_if_panel import WhatIfPanel

    return DockColumn(WhatIfPanel(context))


def make_judges(context: WindowContext) -> QWidget:
    """Return two judges side by side and a detector's second opinion, scrolled likewise."""
    from spatialstudio.ui.panels.evaluate.judges_panel import JudgesPanel
    from spatialstudio.ui.panels.evaluate.second_detector_panel import SecondDetectorPanel

    return DockColumn(JudgesPanel(context), SecondDetectorPanel(context))


def make_stability(context: WindowContext) -> QWidget:
    """Return changed pictures and depths, scrolled likewise."""
    from spatialstudio.ui.panels.evaluate.stability_panel import StabilityPanel

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
