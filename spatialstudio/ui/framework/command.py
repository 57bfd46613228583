"""What a command is: an id, words, keys and an icon. What it does is bound elsewhere."""

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
    """Where a command's keys work.

    Arrows, Space and Home belong to other controls elsewhere, so the keys of ``STAGE`` work on the
    stage only, and in the docks that ask for them. The keys of ``PROMPT`` work where the prompt is
    written, those of ``SKETCH`` where things are sketched; those of ``GALLERY`` work in its grid
    only, and go before those of the window there.
    """

    WINDOW = auto()
    STAGE = auto()
    PROMPT = auto()
    SKETCH = auto()
    GALLERY = auto()


@frozen(kw_only=False)
class Command:
    """One thing the user can do.

    Attributes:
        id: Names it in the settings file; never changes.
        menu: Where it stands.
        text: In menus and palette, untranslated.
        keys: Its shortcut unless the user chose another; empty for none. Single letters rest while
            a text field has the focus.
        icon: Name of its icon; empty for none.
        tip: What it does, for tooltips and the palette; empty where the text says it all.
        is_switch: Whether it stays on or off.
        starts_group: Whether a line stands above it in its menu.
        scope: Where its keys work.
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
