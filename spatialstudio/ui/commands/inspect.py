"""Commands for looking at the steps of a run."""

from functools import partial

from spatialstudio.ui.commands.command import Command, Menu, Scope

_replay = partial(Command, menu=Menu.REPLAY, scope=Scope.STAGE)

PLAY = _replay("play", text="Play or pause", keys="Space", icon="play")
PREVIOUS = _replay("previous", text="Previous step", keys="Left", icon="previous")
NEXT = _replay("next", text="Next step", keys="Right", icon="next")
BACK_FIVE = _replay("back_five", text="Five steps back", keys="Shift+Left")
ON_FIVE = _replay("on_five", text="Five steps on", keys="Shift+Right")
FIRST = _replay("first", text="First step", keys="Home", icon="first")
LAST = _replay("last", text="Last step", keys="End", icon="last")
LIVE = _replay("live", text="Follow the newest step", keys="L", icon="live")

COMMANDS = (PLAY, PREVIOUS, NEXT, BACK_FIVE, ON_FIVE, FIRST, LAST, LIVE)
