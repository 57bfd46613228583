"""Everything the user can do by menu or key: text, shortcut and icon, in one table."""

from dataclasses import dataclass
from enum import Enum, auto

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence

from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.picture_layers import Layer


class Command(Enum):
    """What the user can do."""

    OPEN_PICTURE = auto()
    OPEN_RUN = auto()
    SHOW_FOLDER = auto()
    QUIT = auto()
    GENERATE = auto()
    CANCEL = auto()
    BASELINE = auto()
    NEW_SEED = auto()
    PLAY = auto()
    PREVIOUS = auto()
    NEXT = auto()
    BACK_FIVE = auto()
    ON_FIVE = auto()
    FIRST = auto()
    LAST = auto()
    LIVE = auto()
    GENERATE_WORKSPACE = auto()
    INSPECT_WORKSPACE = auto()
    EVALUATE_WORKSPACE = auto()
    STAGE_ONLY = auto()
    FIT = auto()
    DARK = auto()
    SHOW_PICTURE = auto()
    SHOW_MAPS = auto()
    SHOW_MASKS = auto()
    SHOW_BOXES = auto()
    SHOW_MARGINALS = auto()
    SHORTCUTS = auto()


class Menu(Enum):
    """The menus, in order; the value is the title with its access key."""

    FILE = "&File"
    RUN = "&Run"
    REPLAY = "Re&play"
    VIEW = "&View"
    HELP = "&Help"


@dataclass(frozen=True, slots=True)
class ActionText:
    """How an action reads.

    Attributes:
        menu: Where it stands.
        text: In the menu.
        keys: Its shortcut; single letters rest while a text field has the focus.
        icon: Name of its icon; empty for none.
        is_switch: Whether it stays on or off.
        starts_group: Whether a line stands above it.
    """

    menu: Menu
    text: str
    keys: str = ""
    icon: str = ""
    is_switch: bool = False
    starts_group: bool = False


ACTIONS = {
    Command.OPEN_PICTURE: ActionText(Menu.FILE, "Judge a picture…", "Ctrl+O", "picture"),
    Command.OPEN_RUN: ActionText(Menu.FILE, "Open a run…", "Ctrl+Shift+O", "folder"),
    Command.SHOW_FOLDER: ActionText(Menu.FILE, "Show the run's folder", "Ctrl+Shift+F"),
    Command.QUIT: ActionText(Menu.FILE, "Quit", "Ctrl+Q", starts_group=True),
    Command.GENERATE: ActionText(Menu.RUN, "Generate", "Ctrl+Return", "generate"),
    Command.CANCEL: ActionText(Menu.RUN, "Cancel", "Esc, Esc", "cancel"),
    Command.BASELINE: ActionText(
        Menu.RUN, "Switch the baseline on or off", "Ctrl+B", starts_group=True
    ),
    Command.NEW_SEED: ActionText(Menu.RUN, "Roll another seed", "Ctrl+R", "dice"),
    Command.PLAY: ActionText(Menu.REPLAY, "Play or pause", "Space", "play"),
    Command.PREVIOUS: ActionText(Menu.REPLAY, "Previous step", "Left", "previous"),
    Command.NEXT: ActionText(Menu.REPLAY, "Next step", "Right", "next"),
    Command.BACK_FIVE: ActionText(Menu.REPLAY, "Five steps back", "Shift+Left"),
    Command.ON_FIVE: ActionText(Menu.REPLAY, "Five steps on", "Shift+Right"),
    Command.FIRST: ActionText(Menu.REPLAY, "First step", "Home", "first"),
    Command.LAST: ActionText(Menu.REPLAY, "Last step", "End", "last"),
    Command.LIVE: ActionText(Menu.REPLAY, "Follow the newest step", "L", "live"),
    Command.GENERATE_WORKSPACE: ActionText(Menu.VIEW, "Generate", "Ctrl+1", is_switch=True),
    Command.INSPECT_WORKSPACE: ActionText(Menu.VIEW, "Inspect", "Ctrl+2", is_switch=True),
    Command.EVALUATE_WORKSPACE: ActionText(Menu.VIEW, "Evaluate", "Ctrl+3", is_switch=True),
    Command.STAGE_ONLY: ActionText(Menu.VIEW, "Stage only", "F", "stage", is_switch=True),
    Command.FIT: ActionText(Menu.VIEW, "Fit the picture", "Z", "zoom_fit"),
    Command.SHOW_PICTURE: ActionText(Menu.VIEW, "Show picture", "1", starts_group=True),
    Command.SHOW_MAPS: ActionText(Menu.VIEW, "Show attention maps", "2"),
    Command.SHOW_MASKS: ActionText(Menu.VIEW, "Show masks", "3"),
    Command.SHOW_BOXES: ActionText(Menu.VIEW, "Show boxes", "4"),
    Command.SHOW_MARGINALS: ActionText(Menu.VIEW, "Show marginals", "5"),
    Command.DARK: ActionText(
        Menu.VIEW, "Dark colours", "Ctrl+Shift+D", "moon", is_switch=True, starts_group=True
    ),
    Command.SHORTCUTS: ActionText(Menu.HELP, "Keys and shortcuts", "?", "help"),
}

LAYER_COMMANDS = {
    Command.SHOW_PICTURE: Layer.PICTURE,
    Command.SHOW_MAPS: Layer.MAPS,
    Command.SHOW_MASKS: Layer.MASKS,
    Command.SHOW_BOXES: Layer.BOXES,
    Command.SHOW_MARGINALS: Layer.MARGINALS,
}


class Actions(QObject):
    """Makes one ``QAction`` for each command and keeps its icon in the theme's ink.

    The keys of the replay menu work on the stage and the attention dock only: arrows and Space
    belong to other controls elsewhere.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._actions = {command: self._made(text) for command, text in ACTIONS.items()}
        theme.changed.connect(self._dress)
        self._dress()

    def __getitem__(self, command: Command) -> QAction:
        return self._actions[command]

    def of_menu(self, menu: Menu) -> tuple[tuple[Command, QAction], ...]:
        """Return a menu's actions in order."""
        return tuple(
            (command, action)
            for command, action in self._actions.items()
            if ACTIONS[command].menu is menu
        )

    def _made(self, text: ActionText) -> QAction:
        action = QAction(text.text, self)
        action.setShortcut(QKeySequence(text.keys))
        action.setCheckable(text.is_switch)
        if text.menu is Menu.REPLAY:
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        return action

    def _dress(self) -> None:
        for command, action in self._actions.items():
            if ACTIONS[command].icon:
                action.setIcon(self._theme.icon(ACTIONS[command].icon))
