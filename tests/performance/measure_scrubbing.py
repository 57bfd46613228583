"""How fast a run of 50 steps can be scrubbed with its maps on screen, and what follows a step.

Four words and two relations are drawn for real, with their baseline. Then keys go through the steps
one by one: each must have been painted on the stage and on the chart before the next is pressed.
The pointer goes from word to word likewise. Work is what this thread did of it: it tells the same
on a busy machine. Run it on an idle one:

    python -m tests.performance.measure_scrubbing
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from spatialstudio.application.studio import Studio
from spatialstudio.domain.generation import StepEvent
from spatialstudio.domain.run_settings import with_values
from spatialstudio.ui.framework.window_settings import (
    FILE_NAME,
    Density,
    WindowSettings,
)
from spatialstudio.ui.inspect.widgets.pos_chart import PosChart
from spatialstudio.ui.inspect.widgets.replay_bar import StepScrubber
from spatialstudio.ui.stage.widgets.picture_view import PictureView
from spatialstudio.ui.stage.widgets.word_chips import WordChips
from spatialstudio.ui.window.app import make_application, open_window
from spatialstudio.ui.window.main_window import MainWindow
from tests.ui.event_count import EventCount

PROMPT = "a dog to the left of a car and a bird above a clock"
SEED = 7
STEPS = 50
LAPS = 6
LEAST_STEPS_A_SECOND = 60
LIMIT_MS = 50.0
MOST_WAIT_S = 600.0
PERCENTILES = (50, 95, 100)


class Arrivals(QObject):
    """Remembers how long after its event each step of a live run was painted."""

    def __init__(self, studio: Studio, painted: EventCount) -> None:
        super().__init__()
        self.waited_ms: list[float] = []
        self._studio = studio
        self._painted = painted
        self._arrived: list[tuple[float, int]] = []
        self._leave = studio.bus.subscribe(self._hear)

    def settle(self) -> None:
        """Take the time of those that have been painted by now."""
        now = time.perf_counter()
        while self._arrived and self._arrived[0][1] < self._painted.count:
            self.waited_ms.append((now - self._arrived.pop(0)[0]) * 1000)

    def close(self) -> None:
        self._leave()

    def _hear(self, event: object) -> None:
        if isinstance(event, StepEvent) and event.request_id == self._studio.session.run.id:
            self._arrived.append((time.perf_counter(), self._painted.count))


def run_until(done: Callable[[], bool], each: Callable[[], None] = lambda: None) -> None:
    """Let the window live until something is so.

    Raises:
        TimeoutError: It has not become so in ``MOST_WAIT_S``.
    """
    last = time.monotonic() + MOST_WAIT_S
    while not done():
        if time.monotonic() > last:
            raise TimeoutError(f"Nothing happened in {MOST_WAIT_S:.0f} s.")
        QApplication.processEvents()
        each()


def timed(acts: list[Callable[[], None]], watched: list[EventCount]) -> np.ndarray:
    """Return (n, 2) milliseconds, passed and worked, from act until all watched are painted."""
    took = []
    for act in acts:
        before = [painted.count for painted in watched]
        began = time.perf_counter(), time.thread_time()
        act()
        run_until(lambda: all(p.count > b for p, b in zip(watched, before, strict=True)))  # noqa: B023
        took.append((time.perf_counter() - began[0], time.thread_time() - began[1]))
    return np.array(took) * 1000


def draw(studio: Studio, window: MainWindow, painted: EventCount) -> list[float]:
    """Draw the run and its baseline; return how long each live step took to the screen."""
    window.prompt.use_prompt(PROMPT)
    arrivals = Arrivals(studio, painted)
    request = studio.new_request(seed=SEED)
    studio.generate(with_values(request, steps=STEPS), with_baseline=True)
    run_until(lambda: studio.session.baseline.is_over, arrivals.settle)
    arrivals.close()
    return arrivals.waited_ms


def told(what: str, took: np.ndarray) -> str:
    figures = (
        f"{percentile}th {np.percentile(took[:, 0], percentile):.1f} ms "
        f"(work {np.percentile(took[:, 1], percentile):.1f})"
        for percentile in PERCENTILES
    )
    return f"{what}: {', '.join(figures)}\n"


@contextmanager
def inspecting_window() -> Iterator[tuple[Studio, MainWindow]]:
    """Open a studio of its own and its window, settled, in Inspect."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = make_application()
    with tempfile.TemporaryDirectory() as folder:
        studio = Studio.open("process", runs_folder=Path(folder))
        settings = WindowSettings(Path(folder) / FILE_NAME)
        settings.density = Density.FULL
        window = open_window(application, studio, settings)
        settled: list[bool] = []
        window.settled.connect(lambda: settled.append(True))
        window.show()
        run_until(lambda: bool(settled))
        window.context.window_signals.workspace_asked.emit("inspect")
        yield studio, window
        window.close()


def main() -> int:
    """Print the figures; return 1 when one misses its goal."""
    with inspecting_window() as (studio, window):
        picture, chart = window.stage.findChild(PictureView), window.findChild(PosChart)
        scrubber, chips = window.findChild(StepScrubber), window.findChild(WordChips)
        surfaces = picture, chart.surface.viewport()
        watched = [EventCount(each, QEvent.Type.Paint) for each in surfaces]
        live = np.array(draw(studio, window, watched[0]))
        run_until(lambda: scrubber.value() == STEPS - 1)
        keys = [Qt.Key.Key_Left] * (STEPS - 1) + [Qt.Key.Key_Right] * (STEPS - 1)
        acts = [lambda key=key: QTest.keyClick(scrubber, key) for key in keys * LAPS]
        scrubbed = timed(acts, watched)
        words = list(studio.session.run.scene.mentions) * LAPS
        hovers = [lambda word=word: chips.word_hovered.emit(word.id) for word in words]
        hovered = timed(hovers, watched[:1])
    rate = 1000 / scrubbed[:, 0].mean()
    by_work = 1000 / scrubbed[:, 1].mean()
    sys.stdout.write(
        f"scrubbing {STEPS} steps, maps on screen: {rate:.0f} steps/s, by its own work "
        f"{by_work:.0f}; {rate / LEAST_STEPS_A_SECOND:.2f} times what is asked\n"
    )
    sys.stdout.write(told("from key to picture and chart", scrubbed))
    sys.stdout.write(told("from word to lit map", hovered))
    shown = np.percentile(live, PERCENTILES)
    sys.stdout.write(
        "live, from step to picture: "
        + ", ".join(f"{p}th {ms:.1f} ms" for p, ms in zip(PERCENTILES, shown, strict=True))
        + "\n"
    )
    worst = max(np.percentile(hovered[:, 0], 95), shown[1])
    return int(rate < LEAST_STEPS_A_SECOND or worst > LIMIT_MS)


if __name__ == "__main__":
    sys.exit(main())
