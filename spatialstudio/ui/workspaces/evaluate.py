"""The workspace Evaluate: a picture is judged, and the evidence looked at."""

from spatialstudio.ui.commands.frame import EVALUATE_WORKSPACE, OPEN_PICTURE
from spatialstudio.ui.workspaces.shared_docks import PROMPT, VERDICT
from spatialstudio.ui.workspaces.workspace import Workspace

EVALUATE = Workspace(
    id="evaluate", command=EVALUATE_WORKSPACE, docks=(PROMPT, VERDICT), tools=(OPEN_PICTURE,)
)
