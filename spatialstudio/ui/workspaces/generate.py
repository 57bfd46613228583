"""The workspace Generate: a prompt is written and drawn."""

from spatialstudio.ui.commands.frame import GENERATE_WORKSPACE
from spatialstudio.ui.workspaces.shared_docks import ATTENTION, PROMPT, TIME, VERDICT
from spatialstudio.ui.workspaces.workspace import Workspace

GENERATE = Workspace(
    id="generate", command=GENERATE_WORKSPACE, docks=(PROMPT, VERDICT, ATTENTION, TIME)
)
