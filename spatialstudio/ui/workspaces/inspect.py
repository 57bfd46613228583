"""The workspace Inspect: where the model looked, step by step."""

from PySide6.QtWidgets import QWidget

from spatialstudio.ui.commands.frame import INSPECT_WORKSPACE
from spatialstudio.ui.panel_api import WindowContext
from spatialstudio.ui.texts import tr
from spatialstudio.ui.widgets.basic.dock_column import DockColumn, DockRoom, section
from spatialstudio.ui.widgets.stage.picture_layers import Layer
from spatialstudio.ui.workspaces.shared_docks import GRAPH, TIME, VERDICT
from spatialstudio.ui.workspaces.workspace import BOTTOM, LEFT, DockPlan, Workspace


def make_maps(context: WindowContext) -> QWidget:
    """Return how maps are drawn, what they say, and which layers they are the mean of."""
    from spatialstudio.ui.panels.inspect.blocks_panel import BlocksPanel
    from spatialstudio.ui.panels.inspect.maps_panel import MapsPanel

    blocks = BlocksPanel(context)
    return DockColumn(MapsPanel(context), section(tr(BlocksPanel.title), blocks))


def make_numbers(context: WindowContext) -> QWidget:
    """Return the table of all numbers."""
    from spatialstudio.ui.panels.inspect.numbers_panel import NumbersPanel

    return DockRoom(NumbersPanel(context))


def make_board(context: WindowContext) -> QWidget:
    """Return the storyboard."""
    from spatialstudio.ui.panels.inspect.board_panel import BoardPanel

    return DockRoom(BoardPanel(context))


MAPS = DockPlan(id="maps", title="Attention maps", area=LEFT, size_em=19, make=make_maps)

NUMBERS = DockPlan(
    id="numbers",
    title="Numbers",
    area=BOTTOM,
    size_em=TIME.size_em,
    make=make_numbers,
    in_simple=False,
    tab_of=TIME.id,
)

BOARD = DockPlan(
    id="storyboard",
    title="Storyboard",
    area=BOTTOM,
    size_em=TIME.size_em,
    make=make_board,
    in_simple=False,
    tab_of=TIME.id,
)

INSPECT = Workspace(
    id="inspect",
    command=INSPECT_WORKSPACE,
    docks=(MAPS, VERDICT, GRAPH, TIME, NUMBERS, BOARD),
    layers=frozenset({Layer.PICTURE, Layer.MAPS, Layer.MARGINALS}),
    shows_words=True,
)
