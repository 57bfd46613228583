"""A program that ends while the engine draws: the picture is offered at the next start."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from spatialstudio.application.paths import StudioPaths
from spatialstudio.application.studio import Studio

ROOT = Path(__file__).parents[2]
DRAWING = """
import sys, threading, time
from pathlib import Path
from spatialstudio.application.engine.process_engine import ProcessEngine, open_engine
from spatialstudio.application.paths import StudioPaths
from spatialstudio.application.plugins import open_registry
from spatialstudio.application.studio import Studio
from spatialstudio.domain.generation import StepEvent
from spatialstudio.domain.run_settings import with_values
from tests.fakes import FakeBackend, FakeEngineRegistry

class SlowBackend(FakeBackend):
    def generate(self, request, model, token, report):
        def take_time(event):
            report(event)
            time.sleep(0.1)
        return super().generate(request, model, token, take_time)

def fakes():
    return FakeEngineRegistry(SlowBackend())

def main():
    paths = StudioPaths.within(Path(sys.argv[1]))
    is_real = sys.argv[3] == "real"
    engine = open_engine("process", paths.surroundings) if is_real else ProcessEngine(fakes)
    studio = Studio(open_registry(paths.surroundings), engine, paths)
    begun = threading.Event()
    studio.bus.subscribe(lambda event: begun.set() if isinstance(event, StepEvent) else None)
    studio.use_prompt("a dog to the left of a car")
    studio.start()
    asked = [with_values(studio.new_request(seed=seed), steps=1000) for seed in (3, 4)]
    studio.queue.add(*asked)
    begun.wait()
    print("drawing", flush=True)
    if sys.argv[2] == "close":
        studio.close()
    else:
        threading.Event().wait()

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("way", "model"),
    [
        ("close", "fake"),
        ("SIGTERM", "fake"),
        ("SIGKILL", "real"),
        pytest.param("close", "real", marks=pytest.mark.slow),
        pytest.param("SIGTERM", "real", marks=pytest.mark.slow),
    ],
)
def test_what_the_engine_was_drawing_is_offered_at_the_next_start(tmp_path, way, model):
    program = tmp_path / "drawing.py"
    program.write_text(DRAWING)
    home = tmp_path / "home"
    child = subprocess.Popen(
        [sys.executable, str(program), str(home), way, model],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "drawing\n"
    if way != "close":
        child.send_signal(signal.Signals[way])
    child.communicate()
    later = Studio.open("process", StudioPaths.within(home))
    later.queue.restore(later.storage.interrupted())
    seeds = [entry.seed for entry in later.queue.entries]
    later.close()
    assert seeds == [3, 4]
