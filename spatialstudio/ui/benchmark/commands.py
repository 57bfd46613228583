"""Commands for benchmarks: plan, open, run, export."""

from spatialstudio.ui.framework.command import Command, Menu

OPEN = Command(
    *("open_benchmark", Menu.RUN, "Open a benchmark…", "", "folder"),
    tip="Open a folder that a benchmark was written to, here or in the terminal",
)

COMMANDS = (OPEN,)
