"""The script is run as a user runs it: by Python, in a separate process."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import spatialstudio
from spatialstudio.application.inspect.view_script import view_script
from spatialstudio.application.paths import HOME_VARIABLE
from spatialstudio.application.run.choose_settings import new_request
from spatialstudio.application.session import OpenRun, after
from spatialstudio.application.storage.run_writer import store_run
from spatialstudio.domain.attention import (
    ATTENTION_FOLDER,
    AttentionFile,
    LayerChoice,
    MapScale,
)
from spatialstudio.domain.generation import GenerationFinished, GenerationStarted
from spatialstudio.domain.run_settings import with_values
from tests.fakes import scene_of
from tests.ui.scripted_engine import (
    STICKERS,
    ScriptedEngine,
    picture_of,
    step_of,
    studio_around,
)

WORDS = ("a", "photo", "of", "a", "dog", "to", "the", "left", "of", "a", "car")
FILE = AttentionFile(layer="mid", name="mid.npy", words=WORDS, shape=(2, 1, len(WORDS), 4, 4))


@pytest.fixture
def stored(tmp_path):
    """A run of two steps in the store, with one layer's attention in the cache."""
    studio = studio_around(ScriptedEngine(), tmp_path)
    request = with_values(new_request(scene_of(), STICKERS, seed=1), steps=2)
    started = GenerationStarted(
        request_id=request.id,
        total_steps=2,
        token_spans=(),
        device="cpu",
        attention_files=(FILE,),
    )
    finished = GenerationFinished(
        request_id=request.id, image=picture_of(1), seconds=1.0, peak_memory_bytes=1
    )
    events = [started, step_of(request, 0), step_of(request, 1), finished]
    path = store_run(request, events, None, studio.storage.store, tmp_path / "runs")
    studio.close()
    folder = tmp_path / "cache" / ATTENTION_FOLDER / request.id
    folder.mkdir(parents=True)
    np.save(folder / FILE.name, np.full(FILE.shape, 0.25, np.float16))
    run = OpenRun(id=request.id, scene=request.scene, request=request, path=path)
    for event in events:
        run = after(run, event)
    return run


def run_script(script, home):
    file = home / "view.py"
    file.write_text(script, encoding="utf-8")
    root = str(Path(spatialstudio.__file__).parent.parent)
    environment = {**os.environ, HOME_VARIABLE: str(home), "PYTHONPATH": root}
    return subprocess.run(
        [sys.executable, str(file)], env=environment, capture_output=True, text=True, check=False
    )


def shown(script, home):
    done = run_script(script, home)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_two_words_are_shown_with_their_relation(stored, tmp_path):
    said = shown(view_script(stored, ["m1", "m2"], 1, MapScale.SHARED), tmp_path)
    assert "The map of dog peaks at" in said
    assert "The map of car peaks at" in said
    assert ": the dog is to the left of the car." in said
    assert "@" in said


def test_other_layers_are_averaged_again(stored, tmp_path):
    choice = LayerChoice(layers=frozenset({"mid"}), head=0)
    script = view_script(stored, ["word-2"], 0, MapScale.ABSOLUTE, choice)
    said = shown(script, tmp_path)
    assert "The map of photo peaks at 0.250" in said
    assert "Full colour at 1.0000" in said


def test_a_run_whose_layers_are_on_another_machine_says_so(stored, tmp_path):
    choice = LayerChoice(layers=frozenset({"mid"}))
    script = view_script(stored, ["word-2"], 0, MapScale.ABSOLUTE, choice)
    (kept,) = (tmp_path / "cache" / ATTENTION_FOLDER).rglob(FILE.name)
    kept.unlink()
    done = run_script(script, tmp_path)
    assert done.returncode == 1
    assert "no longer available" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_script_states_the_current_view(stored):
    script = view_script(stored, ["m2"], 0, MapScale.PER_MAP)
    assert "WORDS = {'m2': 'car'}" in script
    assert "SCALE = MapScale.PER_MAP" in script
    assert stored.path.with_suffix(".strace").name in script
    assert "numpy" not in script


def test_a_run_that_is_not_stored_has_no_script(stored):
    with pytest.raises(ValueError, match="stored"):
        view_script(replace(stored, path=None), ["m1"], 0, MapScale.PER_MAP)
