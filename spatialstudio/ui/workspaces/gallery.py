"""The workspace Gallery: kept runs are found, marked, compared and taken along."""

from operator import attrgetter

from PySide6.QtWidgets import QWidget

from spatialstudio.ui.commands.frame import GALLERY_WORKSPACE
from spatialstudio.ui.commands.gallery import COMPARE, EXPORT
from spatialstudio.ui.panel_api import Panel, WindowContext
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.widgets.basic.dock_column import DockColumn, DockRoom
from spatialstudio.ui.workspaces.workspace import LEFT, RIGHT, DockPlan, Workspace

NARROWEST_EM = 12
FILES = ("studio.keeping.metadata", "studio.keeping.store", "studio.library")
"""What reads kept runs; each stands on those before it."""


def load_grid(_: WindowContext) -> None:
    """Load what shows the kept runs."""
    import spatialstudio.ui.panels.gallery.gallery_panel  # noqa: F401 - needed a moment later


def make_searches(context: WindowContext) -> QWidget:
    """Return the searches and days of the library."""
    from spatialstudio.ui.panels.gallery.searches_panel import SearchesPanel

    return DockRoom(SearchesPanel(context))


def make_details(context: WindowContext) -> QWidget:
    """Return the chosen run, scrolled when there is too little room."""
    from spatialstudio.ui.panels.gallery.gallery_details_panel import GalleryDetailsPanel

    details = DockColumn(GalleryDetailsPanel(context))
    details.setMinimumWidth(em(NARROWEST_EM))
    return details


def make_grid(context: WindowContext) -> Panel:
    """Return the kept runs."""
    from spatialstudio.ui.panels.gallery.gallery_panel import GalleryPanel

    return GalleryPanel(context)


SEARCHES = DockPlan(
    id="searches", title="Library", area=LEFT, size_em=13, make=make_searches, in_simple=False
)
DETAILS = DockPlan(id="chosen_run", title="Run", area=RIGHT, size_em=17, make=make_details)

GALLERY = Workspace(
    id="gallery",
    command=GALLERY_WORKSPACE,
    docks=(SEARCHES, DETAILS),
    tools=(COMPARE, EXPORT),
    make_centre=make_grid,
    prepare=(*map(attrgetter, FILES), load_grid),
)
