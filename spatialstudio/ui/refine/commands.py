"""Commands that fix a picture, or redraw a region of it."""

from spatialstudio.ui.framework.command import Command, Menu

FIX_IT = Command(
    *("fix_it", Menu.RUN, "Fix it…", "Ctrl+Shift+J"),
    tip="Draw the open picture again with remedies until its verdict passes",
    starts_group=True,
)
STOP_FIXING = Command(
    *("stop_fixing", Menu.RUN, "Stop fixing"),
    tip="Cancel the running attempt; the attempts so far are kept",
)
CONTINUE_FIXING = Command(
    *("continue_fixing", Menu.RUN, "Continue fixing"),
    tip="Draw the remaining attempts of a fix that was stopped",
)
COMPARE_WITH_START = Command(
    *("compare_with_start", Menu.RUN, "Compare with the start"),
    tip="Show the picture before the fix next to the open one",
)
REDRAW_REGION = Command(
    *("redraw_region", Menu.RUN, "Redraw a region…"),
    tip="Draw a region of the open picture again and keep the rest of it",
)

COMMANDS = (FIX_IT, STOP_FIXING, CONTINUE_FIXING, COMPARE_WITH_START, REDRAW_REGION)
