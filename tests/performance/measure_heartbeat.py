"""How smoothly the window runs while a picture is drawn: the gaps of a 10 ms heartbeat.

Four words and two relations, guided and with their baseline, go through the real engine in its own
process, while a precise timer beats in the window, from the moment all its docks are made. The work
between beats is the window's own share of a gap, in seconds of its thread: it tells the same on a
busy machine. Run it on an idle one:

    python -m tests.performance.measure_heartbeat
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Qt, QTimer

from spatialstudio.application.studio import Studio
from spatialstudio.ui.app import make_application, open_window
from spatialstudio.ui.window_settings import FILE_NAME, Density, WindowSettings

PROMPT = "a dog to the left of a car and a bird above a clock"
SEED = 7
BEAT_MS = 10
LIMIT_MS = 16.7
PERCENTILES = (50, 95, 99, 100)


class Heartbeat(QObject):
    """Remembers when its timer fired."""

    def __init__(self) -> None:
        super().__init__()
        self.beats: list[tuple[float, float]] = []
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(BEAT_MS)
        self._timer.timeout.connect(self._beat)
        self._timer.start()

    def begin(self) -> None:
        """Forget what was before."""
        self.beats.clear()

    def gaps_ms(self) -> np.ndarray:
        """Return (n, 2): the milliseconds between beats, and those that this thread worked."""
        return np.diff(self.beats, axis=0) * 1000

    def _beat(self) -> None:
        self.beats.append((time.perf_counter(), time.thread_time()))


def main() -> int:
    """Print the gaps; return 1 when the 99th percentile is over the limit."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = make_application()
    with tempfile.TemporaryDirectory() as folder:
        studio = Studio.open("process", runs_folder=Path(folder))
        settings = WindowSettings(Path(folder) / FILE_NAME)
        settings.density = Density.FULL
        window = open_window(application, studio, settings)
        window.show()
        heart = Heartbeat()
        window.prompt.use_prompt(PROMPT)
        window.generation.use_seed(SEED)
        window.generation.running_changed.connect(
            lambda running: None if running else QTimer.singleShot(BEAT_MS, application.quit)
        )
        window.settled.connect(heart.begin)
        window.settled.connect(window.generation.generate)
        application.exec()
        gaps = heart.gaps_ms()
        window.close()
    sys.stdout.write(f"{len(gaps)} beats of {BEAT_MS} ms in {gaps[:, 0].sum() / 1000:.1f} s\n")
    for percentile in PERCENTILES:
        gap, work = np.percentile(gaps, percentile, axis=0)
        said = f"{percentile:3d}th percentile: gap {gap:6.1f} ms, of it work {work:6.1f} ms\n"
        sys.stdout.write(said)
    return int(np.percentile(gaps[:, 0], 99) > LIMIT_MS)


if __name__ == "__main__":
    sys.exit(main())
