"""The workspace Gallery: kept runs are found, marked, compared and taken along."""

from PySide6.QtWidgets import QWidget

from spatialstudio.ui.commands.frame import GALLERY_WORKSPACE
from spatialstudio.ui.commands.gallery import COMPARE, EXPORT
from spatialstudio.ui.panel_api import WindowContext
from spatialstudio.ui.panels.gallery.gallery_details_panel import GalleryDetailsPanel
from spatialstudio.ui.panels.gallery.gallery_panel import GalleryPanel
from spatialstudio.ui.panels.gallery.searches_panel import SearchesPanel
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.widgets.basic.dock_column import DockColumn
from spatialstudio.ui.workspaces.workspace import LEFT, RIGHT, DockPlan, Workspace

NARROWEST_EM = 12


def make_details(context: WindowContext) -> QWidget:
    """Return the chosen run, scrolled when there is too little room."""
    details = DockColumn(GalleryDetailsPanel(context))
    details.setMinimumWidth(em(NARROWEST_EM))
    return details


SEARCHES = DockPlan(
    id="searches", title="Library", area=LEFT, size_em=13, make=SearchesPanel, in_simple=False
)
DETAILS = DockPlan(id="chosen_run", title="Run", area=RIGHT, size_em=17, make=make_details)

GALLERY = Workspace(
    id="gallery",
    command=GALLERY_WORKSPACE,
    docks=(SEARCHES, DETAILS),
    tools=(COMPARE, EXPORT),
    make_centre=GalleryPanel,
)
