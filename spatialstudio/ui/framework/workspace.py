"""The workspace data type: docks, tools, layers and overlays around the stage."""

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
"""Id of the dock that other features' docks share a tab bar with."""

DockArea: TypeAlias = Qt.DockWidgetArea


READY_TO_GENERATE = "Ready. Enter a prompt, then press {generate}."


@frozen
class DockPlan:
    """A dock: its content and default position.

    Attributes:
        id: Key in stored layouts; a dock shared by two workspaces is one plan in both.
        title: Title of the dock, untranslated.
        area: Which side of the stage.
        size_em: Its width at the sides, its height at the bottom.
        make: Builds the content, once; all ``Panel``s within it receive the studio's events.
        in_simple: Whether it is visible at the simple density.
        can_wait: Whether it is built shortly after the window is shown; then ``make`` does its own
            imports, and the window opens sooner.
        tab_of: Id of the dock that it shares a tab bar with; empty to stand alone.
        breadth_em: Its width in a row at the bottom; 0 for the remaining width.
        is_across: Whether it spans its side below the docks before it, low and without a title.
        plugin: Name of the plugin that it comes from; empty for the program's own docks.
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
    plugin: str = ""


@frozen
class Workspace:
    """A named arrangement of docks, tools and layers for one task.

    Attributes:
        id: Key in the settings.
        command: Selects it.
        docks: In creation order.
        tools: Commands with a toolbar button while it is selected.
        layers: Initial layers of the stage; later the user's choice is kept.
        shows_words: Whether the prompt's words are shown above the picture.
        shows_ending: Whether the finished picture is shown, regardless of the picked step.
        ready: Shown at the foot while no run is open, untranslated; {generate} stands for the keys
            of that command.
        begins_at_prompt: Whether selecting it focuses the prompt; otherwise the centre is focused.
        make_overlays: Builds the overlays of the picture, once.
        make_centre: Builds the widget that replaces the stage, once; None for the stage itself.
        prepare: Slow preparations for docks and centre; each runs in a separate turn of the event
            loop beforehand, to keep the window responsive.
    """

    id: str
    command: Command
    docks: tuple[DockPlan, ...]
    tools: tuple[Command, ...] = ()
    layers: frozenset[Layer] = PLAIN_LAYERS
    shows_words: bool = False
    shows_ending: bool = False
    ready: str = READY_TO_GENERATE
    begins_at_prompt: bool = False
    make_overlays: Callable[[WindowContext], tuple[StageOverlay, ...]] = lambda _context: ()
    make_centre: Callable[[WindowContext], Panel] | None = None
    prepare: tuple[Callable[[WindowContext], object], ...] = ()
