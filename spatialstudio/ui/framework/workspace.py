"""What a workspace is: docks, tools, layers and overlays around the one stage."""

from collections.abc import Callable
from typing import TypeAlias

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.framework.command import Command
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.widgets.picture_layers import PLAIN_LAYERS, Layer
from spatialstudio.ui.widgets.stage_overlay import StageOverlay

LEFT = Qt.DockWidgetArea.LeftDockWidgetArea
RIGHT = Qt.DockWidgetArea.RightDockWidgetArea
BOTTOM = Qt.DockWidgetArea.BottomDockWidgetArea

VERDICT_DOCK = "verdict"
"""Id of the dock that docks of other features are tabs of."""

DockArea: TypeAlias = Qt.DockWidgetArea


@frozen
class DockPlan:
    """A dock: what it holds, and where it stands until the user moves it.

    Attributes:
        id: Names it in stored layouts; a dock of two workspaces is one plan in both.
        title: Over it, untranslated.
        area: Which side of the stage.
        size_em: Its width at the sides, its height at the bottom.
        make: Builds the content, once; all ``Panel``s within it follow the studio's events.
        in_simple: Whether the simple window has it in sight.
        can_wait: Whether it is filled a moment after the window is shown; then ``make`` imports
            what it needs by itself, and the window opens sooner.
        tab_of: Id of the dock that it is a tab of; empty to stand alone.
        breadth_em: Its width at the bottom beside others; 0 for what they leave.
        is_across: Whether it stands across its side, low and without a title, under the docks
            before it.
    """

    id: str
    title: str
    area: DockArea
    size_em: float
    make: Callable[[WindowContext], QWidget]
    in_simple: bool = True
    can_wait: bool = True
    tab_of: str = ""
    breadth_em: float = 0.0
    is_across: bool = False


@frozen
class Workspace:
    """One way to look at the work.

    Attributes:
        id: Names it in the settings.
        command: Chooses it.
        docks: In the order in which they are put up.
        tools: Commands with a button at the top, while it is chosen.
        layers: On the stage when it is first chosen; then the user's own choice holds.
        shows_words: Whether the prompt's words stand over the picture.
        shows_ending: Whether the finished picture is seen, whichever step is picked.
        begins_at_prompt: Whether the prompt has the keyboard when it is chosen; else what stands in
            the middle has it.
        make_overlays: Builds what lies over the picture, once.
        make_centre: Builds what stands in the stage's place, once; None for the stage itself.
        prepare: What the docks and the centre need and takes its time: each is done in a turn of
            its own before they are made, so that none of them keeps the user's hand waiting.
    """

    id: str
    command: Command
    docks: tuple[DockPlan, ...]
    tools: tuple[Command, ...] = ()
    layers: frozenset[Layer] = PLAIN_LAYERS
    shows_words: bool = False
    shows_ending: bool = False
    begins_at_prompt: bool = False
    make_overlays: Callable[[WindowContext], tuple[StageOverlay, ...]] = lambda _context: ()
    make_centre: Callable[[WindowContext], Panel] | None = None
    prepare: tuple[Callable[[WindowContext], object], ...] = ()
