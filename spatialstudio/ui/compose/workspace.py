"""The docks for composing a prompt."""

from PySide6.QtWidgets import QWidget

from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.framework.workspace import (
    RIGHT,
    VERDICT_DOCK,
    DockPlan,
)
from spatialstudio.ui.widgets.dock_column import (
    DockRoom,
)


def make_graph(context: WindowContext) -> QWidget:
    """Build the relation graph dock."""
    from spatialstudio.ui.compose.graph_panel import GraphPanel

    return DockRoom(GraphPanel(context))


GRAPH = DockPlan(
    id="graph",
    title="Relation graph",
    area=RIGHT,
    size_em=19,
    make=make_graph,
    in_simple=False,
    tab_of=VERDICT_DOCK,
)
