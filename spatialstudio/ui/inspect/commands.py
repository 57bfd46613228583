"""Commands for the steps of a run and the maps of its words."""

from functools import partial

from spatialstudio.ui.framework.command import (
    Command,
    Menu,
    Scope,
)

_replay = partial(Command, menu=Menu.REPLAY, scope=Scope.STAGE)

PLAY = _replay("play", text="Play or pause", keys="Space", icon="play")
PREVIOUS = _replay("previous", text="Previous step", keys="Left", icon="previous")
NEXT = _replay("next", text="Next step", keys="Right", icon="next")
BACK_FIVE = _replay("back_five", text="Five steps back", keys="Shift+Left")
ON_FIVE = _replay("on_five", text="Five steps forward", keys="Shift+Right")
FIRST = _replay("first", text="First step", keys="Home", icon="first")
LAST = _replay("last", text="Last step", keys="End", icon="last")
LIVE = _replay("live", text="Follow the latest step", keys="L", icon="live")

GRID = Command(
    *("map_grid", Menu.VIEW, "Show maps as a grid", "G"),
    tip="Maps of all words over the steps",
    is_switch=True,
    starts_group=True,
)
ISOLINES = Command(
    *("isolines", Menu.VIEW, "Show isolines", "O"),
    tip="Isolines that enclose 50 % and 80 % of each map's mass",
    is_switch=True,
)
NEXT_SCALE = Command(
    *("next_scale", Menu.VIEW, "Next normalisation", "Shift+O"),
    tip="Normalise per map, across all maps, or not at all (0 to 1)",
)
PEEK = Command(
    *("peek", Menu.VIEW, "Hide overlays while held", "`"),
    tip="Hold the key to see the picture without overlays",
    is_switch=True,
)
LET_GO = Command(
    *("let_words_go", Menu.VIEW, "Unpin words"),
    tip="Return to the words of the first relation",
)
COPY_PYTHON = Command(
    *("copy_python", Menu.EDIT, "Copy this view as Python", "Ctrl+Shift+P"),
    tip="Copy a script that opens this run and reads the visible maps",
    starts_group=True,
)

GUIDE_WITH_LAYERS = Command(
    *("guide_with_layers", Menu.EDIT, "Guide with these layers"),
    tip="Guide the next picture with the chosen layers; the model's own if none are chosen",
)

MAP_COMMANDS = (GRID, ISOLINES, NEXT_SCALE, PEEK, LET_GO, COPY_PYTHON, GUIDE_WITH_LAYERS)
COMMANDS = (PLAY, PREVIOUS, NEXT, BACK_FIVE, ON_FIVE, FIRST, LAST, LIVE, *MAP_COMMANDS)
