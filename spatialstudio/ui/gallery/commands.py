"""Commands for stored runs: search, marks, comparison, export."""

from functools import partial

from spatialstudio.ui.framework.command import (
    Command,
    Menu,
    Scope,
)
from spatialstudio.ui.framework.commands import LIBRARY_FOLDER

_in_grid = partial(Command, menu=Menu.GALLERY, scope=Scope.GALLERY)
_file = partial(Command, menu=Menu.FILE)

FIND = Command(
    *("find_runs", Menu.GALLERY, "Find runs…", "Ctrl+F", "search"),
    tip="Go to the gallery and filter the runs",
)
OPEN = _in_grid("open_in_inspect", text="Open in Inspect", keys="Return", icon="picture")
STACK = _in_grid("open_stack", text="Expand or collapse the stack", keys="Space")
STACKS = Command(
    *("stack_runs", Menu.GALLERY, "Stack runs by prompt", "", "stack"),
    tip="Show consecutive runs with the same prompt as one tile",
    is_switch=True,
)
COMPARE = _in_grid(
    "compare",
    text="Compare",
    keys="C",
    icon="compare",
    tip="Compare two selected runs, or a run with its baseline",
    starts_group=True,
)
NEXT_COMPARISON = _in_grid("next_comparison", text="Next comparison mode", keys="M")
SWEEP = _in_grid(
    "show_sweep",
    text="Show the sweep",
    keys="W",
    icon="sweep",
    tip="Show the sweep grid that contains the run",
)
STUDY = _in_grid(
    "study_runs",
    text="Study the runs…",
    keys="S",
    icon="chart",
    tip="Means with intervals and paired differences of the selected runs, or of the sweep",
)
EXPORT_SWEEP = Command(
    *("export_sweep", Menu.GALLERY, "Export the grid…", "", "export"),
    tip="Export the sweep as one labelled figure",
)
STARS = tuple(
    _in_grid(f"stars_{count}", text=text, keys=str(count), starts_group=count == 0)
    for count, text in enumerate(
        ("No stars", "One star", "Two stars", "Three stars", "Four stars", "Five stars")
    )
)
STAR = _in_grid("star", text="Toggle a star", keys=".", tip="Set one star, or remove all stars")
REJECT = _in_grid("reject", text="Toggle rejected", keys="X")
TAG = _in_grid("tag", text="Edit tags…", keys="T")
TRASH = _in_grid("trash", text="Move to the trash", keys="Del", icon="trash", starts_group=True)
SHOW_TRASH = Command(
    *("show_trash", Menu.GALLERY, "Show the trash"),
    tip="List deleted runs, which can be restored for a month",
)
RESTORE = Command("restore", Menu.GALLERY, "Restore from the trash")
EMPTY_TRASH = Command(
    *("empty_trash", Menu.GALLERY, "Empty the trash…"),
    tip="Delete the runs in the trash permanently",
)
LOCATE = Command("locate", Menu.GALLERY, "Locate missing file…")
FORGET = Command("forget", Menu.GALLERY, "Remove missing runs from the library")
RUN_AGAIN = Command(
    *("run_again", Menu.GALLERY, "Reproduce the run"),
    tip="Generate the run again with identical settings and compare the pictures",
    starts_group=True,
)
VERIFY = Command(
    *("verify", Menu.GALLERY, "Verify"),
    tip="Verify that the files of the selected runs are unchanged",
)
RECHECK = Command(
    *("recheck", Menu.GALLERY, "Verify and judge again"),
    tip="Judge the selected runs again from the stored perception, and list verdicts that differ",
)
JUDGE_STORED = Command(
    *("judge_stored", Menu.GALLERY, "Judge with the chosen judge set"),
    tip=(
        "Judge the selected runs with the chosen judge set and store the verdicts; no "
        "picture is generated"
    ),
)
REINDEX = Command(
    *("reindex", Menu.GALLERY, "Rebuild the library index"),
    tip="Rescan all files in the library; no file is changed",
)


DRAG_CLEAN = Command(
    *("drag_clean", Menu.GALLERY, "Drag out clean copies"),
    tip="Pictures dragged to a file manager contain no metadata",
    is_switch=True,
)

MARK_PICTURES = Command(
    *("mark_pictures", Menu.GALLERY, "Label pictures as AI-generated"),
    tip="Label new picture files as AI-generated in their metadata",
    is_switch=True,
)

SAVE_AS = _file("save_as", text="Save the picture as…", keys="Ctrl+S", starts_group=True)
CLEAN_COPY = _file(
    "clean_copy",
    text="Save a clean copy…",
    keys="Ctrl+Shift+S",
    tip="Pixels only, without metadata",
)
COPY_PICTURE = _file("copy_picture", text="Copy the picture with legend", keys="Ctrl+Shift+C")
EXPORT = _file(
    "export",
    text="Export…",
    keys="Ctrl+E",
    icon="export",
    tip="As an annotated picture, sheet, storyboard, video, table, masks, bundle or report",
)
EXPORT_GRAPH = _file(
    "export_graph",
    text="Export the scene graph…",
    icon="export",
    tip="The graphs of prompt and picture, as a figure or as GraphML",
)
FIGURE = _file(
    "compose_figure",
    text="Compose a figure…",
    keys="Ctrl+Shift+E",
    tip="Attention maps and PoS curves of runs for a paper, with a live preview",
)
IMPORT = _file("import_bundle", text="Import a bundle…")

FILES = (SAVE_AS, CLEAN_COPY, COPY_PICTURE, EXPORT, EXPORT_GRAPH, FIGURE, IMPORT)
COMMANDS = (
    *FILES,
    *(FIND, OPEN, STACK, STACKS, COMPARE, NEXT_COMPARISON, SWEEP, STUDY, EXPORT_SWEEP),
    *(*STARS, STAR, REJECT, TAG),
    *(TRASH, SHOW_TRASH, RESTORE, EMPTY_TRASH, LOCATE, FORGET),
    *(RUN_AGAIN, VERIFY, RECHECK, JUDGE_STORED, REINDEX, LIBRARY_FOLDER, DRAG_CLEAN, MARK_PICTURES),
)
