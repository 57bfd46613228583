"""Commands for drawing pictures."""

from spatialstudio.ui.commands.command import Command, Menu

GENERATE = Command("generate", Menu.RUN, "Generate", "Ctrl+Return", "generate")
CANCEL = Command("cancel", Menu.RUN, "Cancel", "Esc, Esc", "cancel")
BASELINE = Command(
    *("baseline", Menu.RUN, "Switch the baseline on or off", "Ctrl+B"),
    tip="Draw the same seed without guidance as well",
    starts_group=True,
)
NEW_SEED = Command("new_seed", Menu.RUN, "Roll another seed", "Ctrl+R", "dice")

COMMANDS = (GENERATE, CANCEL, BASELINE, NEW_SEED)
