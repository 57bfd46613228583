"""Measure the benchmark workspace with 100,000 cells: scrolling, filter lines, arriving results.

    python -m tests.performance.measure_benchmark_window [PROMPTS]

The panel itself is driven off the screen. Times are wall time and processor time of this process;
others may use the machine. An arrival is measured from the event to the end of painting, with the
copy of the columns that the follower makes of each batch.
"""

import os
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import QThread

from spatialstudio.application.benchmark.follow_results import TableWriter
from spatialstudio.application.benchmark.monitor import BenchmarkChanged
from spatialstudio.application.paths import StudioPaths
from spatialstudio.application.studio import Studio
from spatialstudio.domain.benchmark_cells import CellState
from spatialstudio.ui.benchmark.benchmark_panel import BenchmarkPanel, Shown
from spatialstudio.ui.framework.appearance import Appearance
from spatialstudio.ui.framework.bridge import FRAME_MS
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.framework.window_settings import WindowSettings
from spatialstudio.ui.theme.qt_palette import stylesheet
from spatialstudio.ui.window.app import make_application
from spatialstudio.ui.window.command_table import TABLE
from tests.benchmark_cells import grid
from tests.ui.benchmark.conftest import changed

PROMPTS, METHODS, SEEDS = 2500, 10, 4
SIZE = (1400, 900)
FRAMES = 600
ARRIVALS = 100
LINES = (
    *("", "verdict:fail", "relation:above verdict:pass", "method:m3 seed>1 pse<0.8"),
    *("cup", "-verdict:pass is:judged", "near_boundary", "is:missing"),
)


class Watch:
    """Milliseconds of wall and processor time since it was made."""

    def __init__(self):
        self._wall, self._own = time.perf_counter(), time.thread_time()

    def read(self):
        return [1000 * (time.perf_counter() - self._wall), 1000 * (time.thread_time() - self._own)]


def tell(name, times, target):
    """Print median, 99th of a hundred and worst of wall and processor time."""
    wall, own = (sorted(each) for each in zip(*times, strict=True))
    late = wall[int(0.99 * (len(wall) - 1))]
    sys.stdout.write(
        f"{name:44} median {wall[len(wall) // 2]:6.1f} ms, p99 {late:6.1f} ms, worst "
        f"{wall[-1]:6.1f} ms (processor p99 {own[int(0.99 * (len(own) - 1))]:5.1f} ms), "
        f"target {target} ms: {'met' if late <= target else 'MISSED'}\n"
    )


def scroll(application, bar):
    """Scroll from one end to the other; return the times of the frames."""
    times = []
    for frame in range(FRAMES):
        watch = Watch()
        bar.setValue(bar.maximum() * frame // FRAMES)
        application.processEvents()
        times.append(watch.read())
    return times


def until_drawn(application, panel):
    """Process events until the panel's clock has drawn."""
    application.processEvents()
    while panel._clock._timer.isActive():
        application.processEvents()
    application.processEvents()


def filter_times(application, panel, line):
    times = []
    for _ in range(10):
        panel._line.show_line("giraffe")
        panel._draw()
        QThread.msleep(FRAME_MS)  # as after a pause in typing
        watch = Watch()
        panel.use_line(line)
        until_drawn(application, panel)
        times.append(watch.read())
    return times


def arrival_times(application, panel, table):
    times, rng = [], np.random.default_rng(0)
    for cell in rng.integers(0, len(table.grid), ARRIVALS):
        QThread.msleep(FRAME_MS)
        watch = Watch()
        writer = TableWriter(table)
        writer.write_failure([int(cell)], "The engine ran out of memory.")
        table = writer.table()
        view = replace(panel._view, table=table)
        panel.handle(BenchmarkChanged(view=view))
        until_drawn(application, panel)
        times.append(watch.read())
    return times


def main():
    prompts = next((int(each) for each in sys.argv[1:] if each.isdigit()), PROMPTS)
    axes = grid(prompts, tuple(f"m{n}" for n in range(METHODS)), tuple(range(SEEDS)))
    states = np.random.default_rng(1).choice([each.value for each in CellState], len(axes))
    with tempfile.TemporaryDirectory() as home:
        application = make_application()
        settings = WindowSettings(Path(home) / "window.ini")
        studio = Studio.open("inline", StudioPaths.within(Path(home)))
        theme = Appearance(application, settings).theme
        panel = BenchmarkPanel(WindowContext.of(studio, theme, settings, TABLE))
        panel.setStyleSheet(stylesheet(theme))
        panel.resize(*SIZE)
        panel.show()
        event = changed(axes, states)
        panel.handle(event)
        until_drawn(application, panel)
        sys.stdout.write(f"{len(axes):,} cells\n")
        for kind, widget in ((Shown.MATRIX, panel.matrix), (Shown.LIST, panel.list)):
            panel._show_kind(kind)
            until_drawn(application, panel)
            name = kind.name.lower()
            tell(f"{name}: scrolling", scroll(application, widget.verticalScrollBar()), 16.7)
            for line in LINES:
                tell(f"{name}: filter {line!r}", filter_times(application, panel, line), 300)
            panel.use_line("")
            tell(f"{name}: arrival", arrival_times(application, panel, event.view.table), 50)
        panel.close()
        studio.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
