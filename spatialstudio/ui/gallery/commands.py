"""Commands for kept runs: found, marked, compared, and taken along."""

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
    tip="Go to the gallery and write what the runs shall be like",
)
OPEN = _in_grid("open_in_inspect", text="Open in Inspect", keys="Return", icon="picture")
STACK = _in_grid("open_stack", text="Open or close the stack", keys="Space")
STACKS = Command(
    *("stack_runs", Menu.GALLERY, "Stack runs of one prompt", "", "stack"),
    tip="Show pairs and batches as one tile",
    is_switch=True,
)
COMPARE = _in_grid(
    "compare",
    text="Compare",
    keys="C",
    icon="compare",
    tip="Compare two chosen runs, or a run with its baseline",
    starts_group=True,
)
NEXT_COMPARISON = _in_grid("next_comparison", text="Next way to compare", keys="M")
SWEEP = _in_grid(
    "show_sweep", text="Show the sweep", keys="W", icon="sweep", tip="The grid that the run is of"
)
EXPORT_SWEEP = Command(
    *("export_sweep", Menu.GALLERY, "Export the grid…", "", "export"),
    tip="The pictures of the sweep in one figure, its sides labelled",
)
STARS = tuple(
    _in_grid(f"stars_{count}", text=text, keys=str(count), starts_group=count == 0)
    for count, text in enumerate(
        ("No stars", "One star", "Two stars", "Three stars", "Four stars", "Five stars")
    )
)
STAR = _in_grid(
    "star", text="Give or take a star", keys=".", tip="One star where there is none, else none"
)
REJECT = _in_grid("reject", text="Sort out, or back in", keys="X")
TAG = _in_grid("tag", text="Write tags…", keys="T")
TRASH = _in_grid("trash", text="Move to the trash", keys="Del", icon="trash", starts_group=True)
SHOW_TRASH = Command(
    *("show_trash", Menu.GALLERY, "Show the trash"),
    tip="List all deleted runs; they can be put back for a month",
)
RESTORE = Command("restore", Menu.GALLERY, "Put back from the trash")
EMPTY_TRASH = Command(
    *("empty_trash", Menu.GALLERY, "Empty the trash…"),
    tip="Delete for good what is in the trash",
)
LOCATE = Command("locate", Menu.GALLERY, "Find the missing file…")
FORGET = Command("forget", Menu.GALLERY, "Take missing runs off the list")
RUN_AGAIN = Command(
    *("run_again", Menu.GALLERY, "Run again exactly"),
    tip="Draw it once more and say whether it comes out the same",
    starts_group=True,
)
VERIFY = Command(
    *("verify", Menu.GALLERY, "Verify"),
    tip="Check that the files of the chosen runs are unchanged since written",
)
RECHECK = Command(
    *("recheck", Menu.GALLERY, "Verify and judge again"),
    tip="Judge the chosen runs again from the stored perception, and name verdicts that differ",
)
REINDEX = Command(
    *("reindex", Menu.GALLERY, "Build the index anew"),
    tip="Read all files of the library again; nothing in them changes",
)


DRAG_CLEAN = Command(
    *("drag_clean", Menu.GALLERY, "Pull out clean copies"),
    tip="What is dragged to a file manager tells nothing of how it was made",
    is_switch=True,
)

MARK_PICTURES = Command(
    *("mark_pictures", Menu.GALLERY, "Mark pictures as generated"),
    tip="New pictures say in their file that a model drew them",
    is_switch=True,
)

SAVE_AS = _file("save_as", text="Save the picture as…", keys="Ctrl+S", starts_group=True)
CLEAN_COPY = _file(
    "clean_copy",
    text="Save a clean copy…",
    keys="Ctrl+Shift+S",
    tip="The pixels alone, without a word of how they were made",
)
COPY_PICTURE = _file("copy_picture", text="Copy the picture with its legend", keys="Ctrl+Shift+C")
EXPORT = _file(
    "export",
    text="Export…",
    keys="Ctrl+E",
    icon="export",
    tip="As an annotated picture, sheet, storyboard, film, table, masks, bundle or report",
)
IMPORT = _file("import_bundle", text="Import a bundle…")

FILES = (SAVE_AS, CLEAN_COPY, COPY_PICTURE, EXPORT, IMPORT)
COMMANDS = (
    *FILES,
    *(FIND, OPEN, STACK, STACKS, COMPARE, NEXT_COMPARISON, SWEEP, EXPORT_SWEEP),
    *(*STARS, STAR, REJECT, TAG),
    *(TRASH, SHOW_TRASH, RESTORE, EMPTY_TRASH, LOCATE, FORGET),
    *(RUN_AGAIN, VERIFY, RECHECK, REINDEX, LIBRARY_FOLDER, DRAG_CLEAN, MARK_PICTURES),
)
