"""How smoothly the window runs while a picture is drawn: the gaps of a 10 ms heartbeat.

The main job, guided and with its baseline, goes through the real engine in its own process, while
a precise timer beats in the window. Run it on an idle machine:

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

PROMPT = "a photo of a dog to the left of a car"
SEED = 7
BEAT_MS = 10
LIMIT_MS = 50.0
PERCENTILES = (50, 95, 99, 100)


class Heartbeat(QObject):
    """Remembers when its timer fired."""

    def __init__(self) -> None:
        super().__init__()
        self.beats: list[float] = []
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(BEAT_MS)
        self._timer.timeout.connect(self._beat)
        self._timer.start()

    def gaps_ms(self) -> np.ndarray:
        """Return the milliseconds between beats."""
        return np.diff(self.beats) * 1000

    def _beat(self) -> None:
        self.beats.append(time.perf_counter())


def main() -> int:
    """Print the gaps; return 1 when the 99th percentile is over the limit."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = make_application()
    with tempfile.TemporaryDirectory() as folder:
        studio = Studio.open("process", runs_folder=Path(folder))
        window = open_window(application, studio, dark=False)
        window.show()
        heart = Heartbeat()
        window.prompt.use_prompt(PROMPT)
        window.generation.use_seed(SEED)
        window.generation.running_changed.connect(
            lambda running: None if running else QTimer.singleShot(BEAT_MS, application.quit)
        )
        QTimer.singleShot(0, window, window.generation.generate)
        application.exec()
        gaps = heart.gaps_ms()
        window.close()
    sys.stdout.write(f"{len(gaps)} beats of {BEAT_MS} ms in {gaps.sum() / 1000:.1f} s\n")
    for percentile in PERCENTILES:
        gap = np.percentile(gaps, percentile)
        sys.stdout.write(f"gap, {percentile:3d}th percentile: {gap:6.1f} ms\n")
    return int(np.percentile(gaps, 99) >= LIMIT_MS)


if __name__ == "__main__":
    sys.exit(main())
