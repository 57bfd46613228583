"""The one table of all commands, in the order of menus and palette."""

from spatialstudio.ui.commands import compose, evaluate, frame, gallery, generate, inspect, replay

TABLE = (
    *frame.COMMANDS,
    *compose.COMMANDS,
    *generate.COMMANDS,
    *inspect.COMMANDS,
    *replay.COMMANDS,
    *evaluate.COMMANDS,
    *gallery.COMMANDS,
)
