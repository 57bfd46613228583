"""How smoothly the window runs while a picture is drawn: the gaps of a 10 ms heartbeat.

Four words and two relations, guided and with their baseline, go through the real engine in its own
process, while a precise timer beats in the window, from the moment all its docks are made. A gap is
the time from one beat to the next; what it has beyond 10 ms is the beat's lateness. Work is counted
in seconds of the window's own thread, so it tells much the same on a busy machine: all of it within
a gap, and the most of it in one turn of the event loop, after which keys are heard again. The load
before the run tells whether other programs had the cores. Run it on an idle machine:

    python -m tests.performance.measure_heartbeat
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QAbstractEventDispatcher, QObject, Qt, QTimer

from spatialstudio.application.studio import Studio
from spatialstudio.ui.framework.window_settings import (
    FILE_NAME,
    Density,
    WindowSettings,
)
from spatialstudio.ui.window.app import make_application, open_window

PROMPT = "a dog to the left of a car and a bird above a clock"
SEED = 7
BEAT_MS = 10
LIMIT_MS = 16.7
PERCENTILES = (50, 95, 99, 100)
HEAD = f"{'percentile':>10} {'gap':>8} {'lateness':>9} {'work':>8} {'in one turn':>12}   [ms]\n"


class Heartbeat(QObject):
    """Remembers when its timer fired, and how its thread had worked until then."""

    def __init__(self) -> None:
        super().__init__()
        self._beats: list[tuple[float, float, float]] = []
        self._longest_turn = 0.0
        self._worked = time.thread_time()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(BEAT_MS)
        self._timer.timeout.connect(self._beat)
        self._timer.start()
        dispatcher = QAbstractEventDispatcher.instance()
        dispatcher.awake.connect(self._end_turn)
        dispatcher.aboutToBlock.connect(self._end_turn)

    def begin(self) -> None:
        """Forget what was before."""
        self._beats.clear()

    def end(self) -> None:
        """Beat no more: closing the window waits for the engine."""
        self._timer.stop()

    def columns_ms(self) -> npt.NDArray[np.float64]:
        """Return (n, 4): gap, lateness, work within it, and the longest turn of it, in ms."""
        seconds = np.array(self._beats)
        gap, work = np.diff(seconds[:, :2], axis=0).T * 1000
        late = np.maximum(gap - BEAT_MS, 0)
        return np.column_stack([gap, late, work, seconds[1:, 2] * 1000])

    def _beat(self) -> None:
        self._end_turn()
        self._beats.append((time.perf_counter(), self._worked, self._longest_turn))
        self._longest_turn = 0.0

    def _end_turn(self) -> None:
        worked = time.thread_time()
        self._longest_turn = max(self._longest_turn, worked - self._worked)
        self._worked = worked


def main() -> int:
    """Print gaps and work; return 1 when the 99th percentile of the gaps is over the limit."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    load = load_in_words()
    columns = heard_while_drawing()
    seconds = columns[:, 0].sum() / 1000
    sys.stdout.write(f"{len(columns)} beats of {BEAT_MS} ms in {seconds:.1f} s; {load}\n{HEAD}")
    for percentile in PERCENTILES:
        gap, late, work, turn = np.percentile(columns, percentile, axis=0)
        sys.stdout.write(f"{percentile:10d} {gap:8.1f} {late:9.1f} {work:8.1f} {turn:12.1f}\n")
    return int(np.percentile(columns[:, 0], 99) > LIMIT_MS)


def load_in_words() -> str:
    """Say how busy the machine is, ourselves aside: asked before anything is begun."""
    if sys.platform == "win32":
        return "load not known"
    return f"load before {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def heard_while_drawing() -> npt.NDArray[np.float64]:
    """Draw a picture and its baseline in the window; return the beats' columns."""
    application = make_application()
    with tempfile.TemporaryDirectory() as folder:
        studio = Studio.open("process", runs_folder=Path(folder))
        settings = WindowSettings(Path(folder) / FILE_NAME)
        settings.density = Density.FULL
        window = open_window(application, studio, settings)
        window.show()
        heart = Heartbeat()

        def end() -> None:
            heart.end()
            application.quit()

        window.prompt.use_prompt(PROMPT)
        window.generation.use_seed(SEED)
        window.generation.running_changed.connect(
            lambda running: None if running else QTimer.singleShot(BEAT_MS, end)
        )
        window.settled.connect(heart.begin)
        window.settled.connect(window.generation.generate)
        application.exec()
        window.close()
    return heart.columns_ms()


if __name__ == "__main__":
    sys.exit(main())
