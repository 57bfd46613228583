"""Vote on a session by keyboard in a window; print the time from a key to the next picture.

    python -m tests.performance.measure_voting [VOTES]

A rater looks at each picture for PAUSE_MS, which is short for a person. Pictures are 512 x 512 PNG
files, each read from disk. A vote ends when the next picture is painted. Also prints the ratio of
the slowest percentile to the median, and the share of the flush to disk.
"""

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PIL import Image
from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from spatialstudio.adapters.storage.stores import vote_journal
from spatialstudio.application.audit.sessions import SessionPlan
from spatialstudio.ui.audit.voting_panel import VotingPanel
from spatialstudio.ui.framework.appearance import Appearance
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.framework.window_settings import FILE_NAME, WindowSettings
from spatialstudio.ui.window.command_table import TABLE
from spatialstudio.ui.window.main_window import MainWindow
from tests.audit_population import population_of
from tests.ui.event_count import EventCount
from tests.ui.scripted_engine import ScriptedEngine, studio_around

VOTES = 1000
SIDE = 512
PAUSE_MS = 100
DISTINCT = 24
"""Picture files; every showing reads its file again."""
KEYS = (Qt.Key.Key_P, Qt.Key.Key_F, Qt.Key.Key_U)
PATIENCE_S = 5.0


def population_in(folder, count):
    """Write pictures and return their items."""
    rng = np.random.default_rng(0)
    (folder / "pictures").mkdir()
    items = population_of(count)
    for number, item in enumerate(items):
        path = folder / "pictures" / f"{number % DISTINCT:04d}.png"
        item.fields["image_path"] = str(path)
        if path.exists():
            continue
        small = rng.integers(0, 256, (16, 16, 3), np.uint8)
        image = Image.fromarray(small).resize((SIDE, SIDE), Image.Resampling.BICUBIC)
        image.save(path)
    return items


def open_screen(app, folder):
    """Return studio and voting screen of a window."""
    settings = WindowSettings(folder / FILE_NAME)
    appearance = Appearance(app, settings)
    studio = studio_around(ScriptedEngine(), folder)
    context = WindowContext.of(studio, appearance.theme, settings, TABLE)
    window = MainWindow(context, appearance)
    window.resize(1280, 800)
    window.show()
    window.get_ready()
    for workspace in window._workspaces:
        if workspace.id == "audit":
            window.use_workspace(workspace)
    QTest.qWait(500)
    return window, studio, window.findChild(VotingPanel)


def vote_seconds(app, screen, painted, key):
    """Press a key and return the seconds until the next picture is painted."""
    before = painted.count
    began = time.perf_counter()
    QTest.keyClick(screen.view, key)
    while painted.count == before and time.perf_counter() - began < PATIENCE_S:
        app.processEvents()
    return time.perf_counter() - began


def flush_seconds(flushes):
    """Return a function that writes as the journal does, and notes its time."""
    write = vote_journal.append_synced

    def timed(file, line):
        began = time.perf_counter()
        write(file, line)
        flushes.append(time.perf_counter() - began)

    return timed


def main():
    votes = int((*sys.argv[1:], VOTES)[0])
    app = QApplication([])
    with tempfile.TemporaryDirectory(prefix="voting") as name:
        folder = Path(name)
        items = population_in(folder, votes + 1)
        window, studio, screen = open_screen(app, folder)
        studio.storage.audit_desk.start(items, SessionPlan(rater="Ada", size=None))
        QTest.qWait(500)
        painted, flushes = EventCount(screen.view.pictures[0], QEvent.Type.Paint), []
        vote_journal.append_synced = flush_seconds(flushes)
        times = []
        for number in range(votes):
            QTest.qWait(PAUSE_MS)
            times.append(vote_seconds(app, screen, painted, KEYS[number % 3]))
        stored = len(studio.storage.audit_desk.voting.state.votes)
        studio.close()
        window.close()
    cuts = statistics.quantiles(times, n=100)
    median, slow = cuts[49], cuts[98]
    print(  # noqa: T201
        f"{stored} votes: median {1000 * median:.1f} ms, p99 {1000 * slow:.1f} ms, most "
        f"{1000 * max(times):.1f} ms; p99 / median {slow / median:.2f}; share of the flush "
        f"{sum(flushes) / sum(times):.0%}; processor {time.process_time() / votes * 1000:.1f} ms "
        "a vote, starting included"
    )
    return stored != votes


if __name__ == "__main__":
    sys.exit(main())
