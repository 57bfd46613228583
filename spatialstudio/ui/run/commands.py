"""Commands for drawing pictures, and for what waits to be drawn."""

from spatialstudio.ui.compose.commands import LAYOUTS
from spatialstudio.ui.framework.command import Command, Menu

GENERATE = Command(
    *("generate", Menu.RUN, "Generate", "Ctrl+Return", "generate"),
    tip="Draw and judge the picture",
)
GENERATE_FOUR = Command(
    *("generate_four", Menu.RUN, "Generate four seeds", "Alt+Return"),
    tip="Four pictures of the same prompt, each from a seed of its own",
)
GENERATE_NEXT = Command(
    *("generate_next", Menu.RUN, "Generate before the others", "Ctrl+Shift+Return"),
    tip="Draw this before all that waits",
)
GENERATE_INSTEAD = Command(
    *("generate_instead", Menu.RUN, "Generate instead of the others", "Ctrl+Alt+Return"),
    tip="Draw this in place of all that waits",
)
SWEEP = Command(
    *("sweep", Menu.RUN, "Sweep over numbers…", "Ctrl+Alt+S", "sweep"),
    tip="Draw a grid of pictures whose settings differ along one axis or two",
)
CANCEL_SWEEP = Command(
    *("cancel_sweep", Menu.RUN, "Cancel the whole sweep"),
    tip="Stop what is drawn of a sweep, and take the rest of it out of the queue",
)
CANCEL = Command(
    *("cancel", Menu.RUN, "Cancel", "Esc, Esc", "cancel"),
    tip="Stop this picture before the next model call; what waits comes next",
    starts_group=True,
)
STOP_AFTER = Command(
    *("stop_after", Menu.RUN, "Stop after this picture", "Shift+Esc", "stop_after"),
    tip="End the picture that is drawn, then begin nothing more",
    is_switch=True,
)
CLEAR_QUEUE = Command(
    *("clear_queue", Menu.RUN, "Clear the queue", "Ctrl+Shift+Backspace", "clear_queue"),
    tip="Take out all that waits; the picture that is drawn goes on",
)
RETRY = Command(
    *("retry", Menu.RUN, "Draw again what failed or was interrupted", "Ctrl+Shift+R", "retry"),
)
BASELINE = Command(
    *("baseline", Menu.RUN, "Also draw the baseline", "Ctrl+B"),
    tip="The same seed without guidance, for comparison",
    is_switch=True,
    starts_group=True,
)
NEW_SEED = Command("new_seed", Menu.RUN, "Roll another seed", "Ctrl+R", "dice")
TAKE_SETTINGS = Command(
    *("take_settings", Menu.RUN, "Use the open picture's settings", "Ctrl+Shift+U"),
    tip="Bring back prompt, model, size, steps, seed and guidance of the picture on the stage",
)
CHOOSE_MODEL = Command(
    *("choose_model", Menu.RUN, "Choose the model…"),
    tip="Open the list of the models on this machine",
    starts_group=True,
)
FIND_MODELS = Command(
    *("find_models", Menu.RUN, "Look for models again"),
    tip="Find models that were added or taken away since the start",
)
MODELS_FOLDER = Command(
    *("models_folder", Menu.RUN, "Show the models' folder"),
    tip="Where diffusers folders and safetensors files are looked for",
)
SAVE_SETTINGS = Command("save_settings", Menu.RUN, "Save these settings…")
OPEN_SETTINGS = Command("open_settings", Menu.RUN, "Open settings…")

VARIANTS = (GENERATE_FOUR, GENERATE_NEXT, GENERATE_INSTEAD, SWEEP)
COMMANDS = (
    *(GENERATE, *VARIANTS),
    *(CANCEL, CANCEL_SWEEP, STOP_AFTER, CLEAR_QUEUE, RETRY),
    *(BASELINE, NEW_SEED),
    *(LAYOUTS, TAKE_SETTINGS, SAVE_SETTINGS, OPEN_SETTINGS),
    *(CHOOSE_MODEL, FIND_MODELS, MODELS_FOLDER),
)
