"""The command data type: id, text, keys and icon; its callback is bound elsewhere."""

from enum import Enum, auto

from spatialstudio.domain.frozen import frozen


class Menu(Enum):
    """The menus, in order; the value is the title with its access key."""

    FILE = "&File"
    EDIT = "&Edit"
    COMPOSE = "&Compose"
    RUN = "&Run"
    REPLAY = "Re&play"
    GALLERY = "&Gallery"
    VIEW = "&View"
    HELP = "&Help"


class Scope(Enum):
    """Where a command's shortcut is active.

    Arrows, Space and Home have other uses elsewhere, so ``STAGE`` shortcuts are active on the stage
    and in docks that request them. ``PROMPT`` shortcuts are active in the prompt editor, ``SKETCH``
    in the layout sketch, ``GALLERY`` in the gallery's grid and ``AUDIT`` on the voting screen,
    where they override the window's.
    """

    WINDOW = auto()
    STAGE = auto()
    PROMPT = auto()
    SKETCH = auto()
    GALLERY = auto()
    AUDIT = auto()


@frozen(kw_only=False)
class Command:
    """A user command.

    Attributes:
        id: Key in the settings file; never changes.
        menu: Menu that contains it.
        text: In menus and palette, untranslated.
        keys: Default shortcut; empty for none. Single letters are inactive while a text field has
            the focus.
        icon: Name of its icon; empty for none.
        tip: Description for tooltips and the palette; empty where the text is enough.
        is_switch: Whether it is checkable.
        starts_group: Whether a separator precedes it in its menu.
        scope: Where its shortcut is active.
    """

    id: str
    menu: Menu
    text: str
    keys: str = ""
    icon: str = ""
    tip: str = ""
    is_switch: bool = False
    starts_group: bool = False
    scope: Scope = Scope.WINDOW
