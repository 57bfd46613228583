"""A program that is killed while it stores leaves whole runs only."""

import subprocess
import sys
from pathlib import Path

import pytest

from spatialstudio.adapters.storage.stores.run_files import RunFiles

STORE_WITHOUT_END = """
import sys
from pathlib import Path
import numpy as np
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.storage.run_writer import store_run
from spatialstudio.domain.generation import (
    GenerationFinished, GenerationRequest, GenerationStarted, ModelRef, StepEvent)
from spatialstudio.domain.scene import Prompt
from spatialstudio.domain.scene import SceneGraph

scene = SceneGraph(prompt=Prompt(text="a cat"), mentions=(), relations=(), extractor_id="e")
request = GenerationRequest(id="x", scene=scene, backend_id="b", model=ModelRef(id="m"))
image = np.random.default_rng(0).integers(0, 256, (256, 256, 3), np.uint8)
step = StepEvent(request_id="x", step=0, total_steps=1, timestep=1.0, pos={}, preview=image)
events = (
    GenerationStarted(request_id="x", total_steps=1, token_spans=(), device="cpu"),
    step,
    GenerationFinished(request_id="x", image=image, seconds=1.0, peak_memory_bytes=1),
)
while True:
    print(store_run(request, events, None, RunFiles(), Path(sys.argv[1])), flush=True)
"""


@pytest.mark.parametrize("told_before_the_end", [1, 4, 9])
def test_every_reported_run_is_complete_and_no_other_is_listed(tmp_path, told_before_the_end):
    command = [sys.executable, "-c", STORE_WITHOUT_END, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        told = [Path(program.stdout.readline().strip()) for _ in range(told_before_the_end)]
        program.kill()
    seen = set(tmp_path.glob("*.png"))
    assert seen.issuperset(told)
    assert all(len(RunFiles().load(path)[1]) == 3 for path in seen)
