"""The workspace Inspect: where the model looked, step by step."""

from spatialstudio.ui.commands.frame import INSPECT_WORKSPACE
from spatialstudio.ui.workspaces.shared_docks import ATTENTION, TIME, VERDICT
from spatialstudio.ui.workspaces.workspace import Workspace

INSPECT = Workspace(id="inspect", command=INSPECT_WORKSPACE, docks=(VERDICT, ATTENTION, TIME))
