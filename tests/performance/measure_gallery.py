"""Measure the gallery: from a filter line to its grid, frames of scrolling, building the index.

    python -m tests.performance.measure_gallery [RUNS] [--index-only]

The gallery's own widgets are driven off the screen. Times are processor time of this process in the
best of some calls, with wall time beside them, as others may use the machine; frames are told by
their median and their 99th of a hundred.
"""

import os
import shutil
import statistics
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtGui import QImage

from spatialstudio.adapters.storage.library.run_library import RunLibrary
from spatialstudio.application.gallery.gallery import arrange_runs
from spatialstudio.application.gallery.library import read_filter
from spatialstudio.application.paths import resources_folder
from spatialstudio.ui.framework.appearance import palette_of
from spatialstudio.ui.framework.window_settings import ThemeChoice
from spatialstudio.ui.gallery.gallery_presenter import face_with, sections_of
from spatialstudio.ui.gallery.widgets.run_grid import RunGrid
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.window.app import make_application
from tests.performance.measure_library import LINES, RUNS, fill, indexed, timed

SIZE = (1100, 900)
WHEEL = 120
FRAMES = 600
TODAY = date(2026, 11, 21)


def found(library, line):
    """Do what the gallery does for a line: ask, arrange days and stacks."""
    listing = library.listing(read_filter(line))
    return arrange_runs(listing)


def shown(grid, answer):
    """Do what the window does with the answer."""
    cells, days = answer
    grid.show_cells(cells, sections_of(days, TODAY))


def faces_for(grid, library, picture):
    """Answer the grid's wishes at once; the window itself has others read runs and pictures."""
    (entry,) = library.entries(library.find(read_filter(""))[:1])

    def give(ids):
        for entry_id in ids:
            grid.show_face(entry_id, face_with(entry, picture))

    grid.faces_wanted.connect(give)


def frames_of(application, grid):
    """Scroll by the wheel's steps; return processor and wall seconds of the frames, sorted."""
    bar = grid.verticalScrollBar()
    step = min(max(bar.maximum() // FRAMES, 1), WHEEL)
    seconds = []
    for frame in range(FRAMES):
        wall, own = time.perf_counter(), time.thread_time()
        bar.setValue(frame * step)
        application.processEvents()
        seconds.append((time.thread_time() - own, time.perf_counter() - wall))
    return tuple(sorted(each) for each in zip(*seconds, strict=True))


def main():
    count = next((int(each) for each in sys.argv[1:] if each.isdigit()), RUNS)
    root = Path(tempfile.mkdtemp(prefix="gallery"))
    has_files = "--index-only" not in sys.argv
    if has_files:
        fill(root / "library", count)
    library = RunLibrary(root / "library", root / "cache")
    own, wall = time.process_time(), time.perf_counter()
    if has_files:
        library.reindex()
        own, wall = time.process_time() - own, time.perf_counter() - wall
        sys.stdout.write(f"index of {count} runs built from files: {own:.1f} s ({wall:.1f} s)\n")
    else:
        library._index.put(indexed(count))
    application = make_application()
    grid = RunGrid(Theme(palette_of(ThemeChoice.LIGHT), resources_folder() / "icons"))
    grid.resize(*SIZE)
    grid.show()
    for line in LINES:
        own, wall, answer = timed(lambda line=line: found(library, line))
        own_shown, wall_shown, _ = timed(lambda answer=answer: shown(grid, answer))
        sys.stdout.write(
            f"{(own + own_shown) * 1000:7.1f} ms ({(wall + wall_shown) * 1000:7.1f})"
            f"  of it in the window {own_shown * 1000:6.1f}  {len(answer[0]):6} tiles  {line}\n"
        )
    shown(grid, found(library, ""))
    pixels = QImage(256, 256, QImage.Format.Format_RGB888)
    pixels.fill(0)
    faces_for(grid, library, pixels)
    application.processEvents()
    for name, seconds in zip(
        ("processor time", "wall time"), frames_of(application, grid), strict=True
    ):
        late = sum(each > 1 / 60 for each in seconds)
        sys.stdout.write(
            f"scrolling {count} runs, {name}: median {statistics.median(seconds) * 1000:.1f} ms,"
            f" 99th of a hundred {seconds[int(len(seconds) * 0.99)] * 1000:.1f} ms,"
            f" {late} of {FRAMES} frames over 1/60 s\n"
        )
    grid.close()
    library.close()
    shutil.rmtree(root)
    return 0


if __name__ == "__main__":
    sys.exit(main())
