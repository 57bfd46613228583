"""The workspace Evaluate: a picture is judged, and the evidence looked at."""

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from spatialstudio.ui.commands.frame import EVALUATE_WORKSPACE, OPEN_PICTURE
from spatialstudio.ui.panel_api import Panel, WindowContext
from spatialstudio.ui.panels.evaluate.judges_panel import JudgesPanel
from spatialstudio.ui.panels.evaluate.stability_panel import StabilityPanel
from spatialstudio.ui.panels.evaluate.what_if_panel import WhatIfPanel
from spatialstudio.ui.widgets.basic.dock_column import DockColumn
from spatialstudio.ui.widgets.stage.picture_layers import PLAIN_LAYERS, Layer
from spatialstudio.ui.workspaces.shared_docks import PROMPT, VERDICT
from spatialstudio.ui.workspaces.workspace import BOTTOM, DockPlan, Workspace

HEIGHT_EM = 16


def _in_column(kind: Callable[[WindowContext], Panel]) -> Callable[[WindowContext], QWidget]:
    """Build a panel in a column that scrolls where there is too little room."""
    return lambda context: DockColumn(kind(context))


WHAT_IF = DockPlan(
    id="what_if",
    title=WhatIfPanel.title,
    area=BOTTOM,
    size_em=HEIGHT_EM,
    make=_in_column(WhatIfPanel),
    can_wait=True,
    breadth_em=26,
)
JUDGES = DockPlan(
    id="judges",
    title=JudgesPanel.title,
    area=BOTTOM,
    size_em=HEIGHT_EM,
    make=_in_column(JudgesPanel),
    can_wait=True,
    breadth_em=20,
)
STABILITY = DockPlan(
    id="stability",
    title=StabilityPanel.title,
    area=BOTTOM,
    size_em=HEIGHT_EM,
    make=_in_column(StabilityPanel),
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
