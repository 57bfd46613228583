"""The one table of all commands, in the order of menus and palette."""

from spatialstudio.ui.commands import compose, evaluate, frame, gallery, generate, inspect

TABLE = (
    *frame.COMMANDS,
    *compose.COMMANDS,
    *generate.COMMANDS,
    *inspect.COMMANDS,
    *evaluate.COMMANDS,
    *gallery.COMMANDS,
)
