"""Commands of the window: files, edits, workspaces, appearance, help."""

from spatialstudio.ui.framework.command import Command, Menu

OPEN_PICTURE = Command("open_picture", Menu.FILE, "Judge a picture…", "Ctrl+O", "picture")
OPEN_RUN = Command(
    *("open_run", Menu.FILE, "Open a run…", "Ctrl+Shift+O", "folder"),
    tip="Open the picture, trace or JSON file of a stored run",
)
SHOW_FOLDER = Command("show_folder", Menu.FILE, "Show the run's folder", "Ctrl+Shift+F")
SETTINGS = Command("settings", Menu.FILE, "Settings…", "Ctrl+,", "settings", starts_group=True)
QUIT = Command("quit", Menu.FILE, "Quit", "Ctrl+Q", starts_group=True)

UNDO = Command("undo", Menu.EDIT, "Undo", "Ctrl+Z", "undo")
REDO = Command("redo", Menu.EDIT, "Redo", "Ctrl+Shift+Z", "redo")

GENERATE_WORKSPACE = Command(
    *("generate_workspace", Menu.VIEW, "Generate", "Ctrl+1"),
    tip="Write a prompt and generate pictures",
    is_switch=True,
)
INSPECT_WORKSPACE = Command(
    *("inspect_workspace", Menu.VIEW, "Inspect", "Ctrl+2"),
    tip="Inspect attention and PoS, step by step",
    is_switch=True,
)
EVALUATE_WORKSPACE = Command(
    *("evaluate_workspace", Menu.VIEW, "Evaluate", "Ctrl+3"),
    tip="Judge a picture and inspect the evidence",
    is_switch=True,
)
BENCHMARK_WORKSPACE = Command(
    *("benchmark_workspace", Menu.VIEW, "Benchmark", "Ctrl+4"),
    tip="Plan, run and compare methods on many prompts and seeds",
    is_switch=True,
)
AUDIT_WORKSPACE = Command(
    *("audit_workspace", Menu.VIEW, "Audit", "Ctrl+5"),
    tip="Label pictures blind, and compare the checker with people",
    is_switch=True,
)
GALLERY_WORKSPACE = Command(
    *("gallery_workspace", Menu.VIEW, "Gallery", "Ctrl+6"),
    tip="Find, rate, compare and export stored runs",
    is_switch=True,
)
STAGE_ONLY = Command(
    *("stage_only", Menu.VIEW, "Stage only", "F", "stage"),
    tip="Hide or show all docks",
    is_switch=True,
    starts_group=True,
)
NEXT_PART = Command(
    *("next_part", Menu.VIEW, "Go to the next dock", "F6"),
    tip="Move the keyboard focus to the next dock or the picture",
)
PREVIOUS_PART = Command("previous_part", Menu.VIEW, "Go to the previous dock", "Shift+F6")
RESET_LAYOUT = Command("reset_layout", Menu.VIEW, "Reset the dock layout")
ALL_CONTROLS = Command(
    *("all_controls", Menu.VIEW, "Show all controls", "Ctrl+Shift+A"),
    tip="Switch between simple and full controls",
    is_switch=True,
)
DARK = Command(
    *("dark", Menu.VIEW, "Dark theme", "Ctrl+Shift+D", "moon"),
    is_switch=True,
    starts_group=True,
)
HIGH_CONTRAST = Command("high_contrast", Menu.VIEW, "High contrast", "Ctrl+Shift+H", is_switch=True)
LARGER_TEXT = Command("larger_text", Menu.VIEW, "Larger text", "Ctrl++")
SMALLER_TEXT = Command("smaller_text", Menu.VIEW, "Smaller text", "Ctrl+-")
NORMAL_TEXT = Command("normal_text", Menu.VIEW, "Normal text size", "Ctrl+0")

PALETTE = Command(
    *("palette", Menu.HELP, "Find a command…", "Ctrl+K", "search"),
    tip="Search commands by name",
)
TOUR = Command(
    *("tour", Menu.HELP, "Five-minute tour", "F1"),
    tip="A tour of the program in six screenshots",
)
SHORTCUTS = Command("shortcuts", Menu.HELP, "Keyboard shortcuts", "?", "help")
GUIDE = Command(
    *("guide", Menu.HELP, "User guide", "Shift+F1"),
    tip="Concepts, panels, commands and methods; works offline",
)
ABOUT = Command(
    *("about", Menu.HELP, "About Spatial Studio"),
    tip="Version and third-party notices",
)
MESSAGES = Command("messages", Menu.HELP, "Message history", "", "warning")

COMMANDS = (
    *(OPEN_PICTURE, OPEN_RUN, SHOW_FOLDER),
    *(UNDO, REDO),
    *(GENERATE_WORKSPACE, INSPECT_WORKSPACE, EVALUATE_WORKSPACE),
    *(BENCHMARK_WORKSPACE, AUDIT_WORKSPACE, GALLERY_WORKSPACE),
    *(STAGE_ONLY, NEXT_PART, PREVIOUS_PART, RESET_LAYOUT, ALL_CONTROLS),
    *(DARK, HIGH_CONTRAST, LARGER_TEXT, SMALLER_TEXT, NORMAL_TEXT),
    *(PALETTE, TOUR, GUIDE, SHORTCUTS, MESSAGES, ABOUT),
)


LAST_COMMANDS = (SETTINGS, QUIT)
"""The end of the menu File."""

LIBRARY_FOLDER = Command(
    *("library_folder", Menu.GALLERY, "Library folder…"),
    tip="Choose the folder of runs that the gallery shows and new pictures are stored in",
)
