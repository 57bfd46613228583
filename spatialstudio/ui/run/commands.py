"""Commands for generating pictures and for the queue."""

from spatialstudio.ui.compose.commands import LAYOUTS
from spatialstudio.ui.framework.command import Command, Menu

GENERATE = Command(
    *("generate", Menu.RUN, "Generate", "Ctrl+Return", "generate"),
    tip="Generate and judge the picture",
)
GENERATE_FOUR = Command(
    *("generate_four", Menu.RUN, "Generate with four seeds", "Alt+Return"),
    tip="Four pictures of the same prompt with different seeds",
)
GENERATE_NEXT = Command(
    *("generate_next", Menu.RUN, "Generate next", "Ctrl+Shift+Return"),
    tip="Put this run first in the queue",
)
GENERATE_INSTEAD = Command(
    *("generate_instead", Menu.RUN, "Replace the queue and generate", "Ctrl+Alt+Return"),
    tip="Remove all waiting runs and generate this one",
)
SWEEP = Command(
    *("sweep", Menu.RUN, "Parameter sweep…", "Ctrl+Alt+S", "sweep"),
    tip="Generate a grid of pictures over one or two parameters",
)
CANCEL_SWEEP = Command(
    *("cancel_sweep", Menu.RUN, "Cancel the sweep"),
    tip="Cancel the sweep's running picture and remove the rest from the queue",
)
CANCEL = Command(
    *("cancel", Menu.RUN, "Cancel", "Esc, Esc", "cancel"),
    tip="Cancel the running picture at the next model call; the queue continues",
    starts_group=True,
)
STOP_AFTER = Command(
    *("stop_after", Menu.RUN, "Stop after this picture", "Shift+Esc", "stop_after"),
    tip="Finish the running picture, then pause the queue",
    is_switch=True,
)
CLEAR_QUEUE = Command(
    *("clear_queue", Menu.RUN, "Clear the queue", "Ctrl+Shift+Backspace", "clear_queue"),
    tip="Remove all waiting runs; the running picture continues",
)
RETRY = Command(
    *("retry", Menu.RUN, "Retry failed and interrupted runs", "Ctrl+Shift+R", "retry"),
)
BASELINE = Command(
    *("baseline", Menu.RUN, "Also generate the baseline", "Ctrl+B"),
    tip="The same seed without guidance, for comparison",
    is_switch=True,
    starts_group=True,
)
NEW_SEED = Command("new_seed", Menu.RUN, "Random seed", "Ctrl+R", "dice")
TAKE_SETTINGS = Command(
    *("take_settings", Menu.RUN, "Load settings from the open picture", "Ctrl+Shift+U"),
    tip="Load prompt, model, size, steps, seed and guidance from the open picture",
)
CHOOSE_MODEL = Command(
    *("choose_model", Menu.RUN, "Choose the model…"),
    tip="Open the list of the models on this machine",
    starts_group=True,
)
OPEN_MODEL = Command(
    *("open_model", Menu.RUN, "Open a model file…"),
    tip="Add a single-file checkpoint (safetensors) to the model list",
)
FIND_MODELS = Command(
    *("find_models", Menu.RUN, "Refresh model list"),
    tip="Find models added or removed since the program started",
)
MODELS_FOLDER = Command(
    *("models_folder", Menu.RUN, "Open models folder"),
    tip="The folder for diffusers folders and safetensors files",
)
SAVE_SETTINGS = Command("save_settings", Menu.RUN, "Save these settings…")
OPEN_SETTINGS = Command("open_settings", Menu.RUN, "Open settings…")

VARIANTS = (GENERATE_FOUR, GENERATE_NEXT, GENERATE_INSTEAD, SWEEP)
COMMANDS = (
    *(GENERATE, *VARIANTS),
    *(CANCEL, CANCEL_SWEEP, STOP_AFTER, CLEAR_QUEUE, RETRY),
    *(BASELINE, NEW_SEED),
    *(LAYOUTS, TAKE_SETTINGS, SAVE_SETTINGS, OPEN_SETTINGS),
    *(CHOOSE_MODEL, OPEN_MODEL, FIND_MODELS, MODELS_FOLDER),
)
