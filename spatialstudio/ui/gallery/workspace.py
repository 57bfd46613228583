"""The gallery workspace and its docks."""

from operator import attrgetter

from PySide6.QtWidgets import QWidget

from spatialstudio.ui.framework.commands import (
    GALLERY_WORKSPACE,
)
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.framework.workspace import (
    BOTTOM,
    LEFT,
    RIGHT,
    DockPlan,
    Workspace,
)
from spatialstudio.ui.gallery.commands import COMPARE, EXPORT
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.dock_column import (
    DockColumn,
    DockRoom,
)

NARROWEST_EM = 12


FILES = ("studio.storage.metadata", "studio.storage.store", "studio.library")
"""Modules that read stored runs; each depends on those before it."""


def load_grid(_: WindowContext) -> None:
    """Import the gallery panel ahead of its use."""
    import spatialstudio.ui.gallery.gallery_panel  # noqa: F401 - needed a moment later


def make_searches(context: WindowContext) -> QWidget:
    """Build the dock of searches and days."""
    from spatialstudio.ui.gallery.searches_panel import SearchesPanel

    return DockRoom(SearchesPanel(context))


def make_details(context: WindowContext) -> QWidget:
    """Build the dock of the current run, scrolled where there is too little room."""
    from spatialstudio.ui.gallery.gallery_details_panel import GalleryDetailsPanel

    details = DockColumn(GalleryDetailsPanel(context))
    details.setMinimumWidth(em(NARROWEST_EM))
    return details


def make_metric_table(context: WindowContext) -> QWidget:
    """Build the dock that compares metrics."""
    from spatialstudio.ui.gallery.metric_table_panel import MetricTablePanel

    return DockRoom(MetricTablePanel(context))


def make_grid(context: WindowContext) -> Panel:
    """Build the gallery's main panel."""
    from spatialstudio.ui.gallery.gallery_panel import GalleryPanel

    return GalleryPanel(context)


SEARCHES = DockPlan(
    id="searches", title="Library", area=LEFT, size_em=13, make=make_searches, in_simple=False
)


DETAILS = DockPlan(id="chosen_run", title="Run", area=RIGHT, size_em=17, make=make_details)


METRIC_TABLE = DockPlan(
    id="metric_table",
    title="Metric against metric",
    area=BOTTOM,
    size_em=16,
    make=make_metric_table,
    in_simple=False,
)


GALLERY = Workspace(
    id="gallery",
    command=GALLERY_WORKSPACE,
    docks=(SEARCHES, DETAILS, METRIC_TABLE),
    tools=(COMPARE, EXPORT),
    make_centre=make_grid,
    ready="Ready. Select a run to open, compare or export it.",
    prepare=(*map(attrgetter, FILES), load_grid),
)
