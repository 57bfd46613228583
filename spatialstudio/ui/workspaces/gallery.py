"""The workspace Gallery: kept runs are found, marked, compared and taken along."""

from spatialstudio.ui.commands.frame import GALLERY_WORKSPACE
from spatialstudio.ui.panels.gallery_panel import GalleryPanel
from spatialstudio.ui.workspaces.workspace import Workspace

GALLERY = Workspace(
    id="gallery",
    command=GALLERY_WORKSPACE,
    docks=(),
    make_centre=GalleryPanel,
)
