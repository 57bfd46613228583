"""All workspaces, in the order of their buttons."""

from spatialstudio.ui.workspaces.evaluate import EVALUATE
from spatialstudio.ui.workspaces.gallery import GALLERY
from spatialstudio.ui.workspaces.generate import GENERATE
from spatialstudio.ui.workspaces.inspect import INSPECT

WORKSPACES = (GENERATE, INSPECT, EVALUATE, GALLERY)
