"""The docks of the inspect workspace: maps, curves, numbers and the storyboard."""

from PySide6.QtWidgets import QWidget

from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.framework.workspace import (
    BOTTOM,
    LEFT,
    DockPlan,
)
from spatialstudio.ui.widgets.dock_column import (
    DockColumn,
    DockRoom,
    section,
)
from spatialstudio.ui.widgets.texts import tr


def make_attention(context: WindowContext) -> QWidget:
    """Build the attention maps dock."""
    from spatialstudio.ui.inspect.attention_panel import AttentionPanel

    return DockRoom(AttentionPanel(context))


def make_time(context: WindowContext) -> QWidget:
    """Build the dock of curves over the steps."""
    from spatialstudio.ui.inspect.time_panel import TimePanel

    return DockRoom(TimePanel(context))


def make_maps(context: WindowContext) -> QWidget:
    """Build the dock of map settings, readings, and averaged layers."""
    from spatialstudio.ui.inspect.blocks_panel import BlocksPanel
    from spatialstudio.ui.inspect.maps_panel import MapsPanel

    blocks = BlocksPanel(context)
    return DockColumn(MapsPanel(context), section(tr(BlocksPanel.title), blocks))


def make_numbers(context: WindowContext) -> QWidget:
    """Build the dock of numbers."""
    from spatialstudio.ui.inspect.numbers_panel import NumbersPanel

    return DockRoom(NumbersPanel(context))


def make_layer_steps(context: WindowContext) -> QWidget:
    """Build the dock of recorded layers over the steps."""
    from spatialstudio.ui.inspect.layer_steps_panel import LayerStepsPanel

    return DockRoom(LayerStepsPanel(context))


def make_self_attention(context: WindowContext) -> QWidget:
    """Build the dock of self-attention."""
    from spatialstudio.ui.inspect.self_attention_panel import SelfAttentionPanel

    return DockRoom(SelfAttentionPanel(context))


def make_board(context: WindowContext) -> QWidget:
    """Build the storyboard dock."""
    from spatialstudio.ui.inspect.board_panel import BoardPanel

    return DockRoom(BoardPanel(context))


ATTENTION = DockPlan(
    id="attention",
    title="Attention maps of the words",
    area=BOTTOM,
    size_em=17.5,
    make=make_attention,
)


TIME = DockPlan(
    id="time",
    title="PoS over the steps",
    area=BOTTOM,
    size_em=17.5,
    make=make_time,
    breadth_em=38,
)


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


LAYER_STEPS = DockPlan(
    id="layer_steps",
    title="Layers over the steps",
    area=BOTTOM,
    size_em=22,
    make=make_layer_steps,
    in_simple=False,
    tab_of=TIME.id,
)


SELF_ATTENTION = DockPlan(
    id="self_attention",
    title="Self-attention",
    area=BOTTOM,
    size_em=TIME.size_em,
    make=make_self_attention,
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
