"""Invalid input is reported in one sentence and a hint, and the next job works."""

import os
import shutil

import numpy as np
import pytest
from PIL import Image

from spatialstudio.application.paths import resources_folder
from spatialstudio.application.session import RunStored
from spatialstudio.domain.errors import (
    PromptError,
    RequestError,
    StoreError,
)
from spatialstudio.domain.generation import GenerationFailed
from spatialstudio.domain.run_settings import with_values

PROMPT = "a photo of a dog to the left of a car"


def is_one_sentence_with_a_hint(text):
    """Say whether a terminal's complaint is two short lines, the message and what to try."""
    lines = text.strip().splitlines()
    return len(lines) == 2 and all(line.endswith(".") for line in lines)


@pytest.mark.parametrize(
    ("words", "telling"),
    [
        (["generate", ""], "empty"),
        (["generate", "   "], "empty"),
        (["generate", "a unicorn to the left of a dog"], "unicorn"),
        (["generate", "a dog to the left of itself"], "itself"),
        (["generate", "a cat to the left of a dog and to the right of the dog"], "dog"),
        (["generate", PROMPT, "--seed", "-1"], "seed"),
        (["generate", PROMPT, "--seed", "99999999999"], "seed"),
        (["generate", PROMPT, "--steps", "0"], "steps"),
        (["generate", PROMPT, "--width", "100"], "width"),
        (["generate", PROMPT, "--height", "0"], "height"),
        (["generate", PROMPT, "--strength", "-1"], "strength"),
        (["generate", PROMPT, "--strength", "nan"], "strength"),
        (["generate", PROMPT, "--strength", "inf"], "strength"),
        (["generate", PROMPT, "--sampler", "heun"], "Heun"),
        (["generate", PROMPT, "--model", "nothing"], "nothing"),
        (["evaluate", "nothing.png", "--prompt", PROMPT], "nothing.png"),
        (["evaluate", ".", "--prompt", PROMPT], "folder"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else value,
)
def test_a_users_mistake_is_explained(terminal, tmp_path, monkeypatch, words, telling):
    monkeypatch.chdir(tmp_path)
    done = terminal(*words)
    assert done.code == 2
    assert is_one_sentence_with_a_hint(done.err), done.err
    assert telling in done.err
    assert done.out == ""
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def no_picture(tmp_path):
    path = tmp_path / "diary.png"
    path.write_text("Dear diary")
    return path


@pytest.fixture
def cut_picture(tmp_path):
    path = tmp_path / "cut.png"
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)).save(path)
    os.truncate(path, 2000)
    return path


@pytest.fixture
def huge_picture(tmp_path):
    path = tmp_path / "huge.png"
    Image.new("1", (16_000, 16_000)).save(path)
    return path


@pytest.mark.parametrize("kind", ["no_picture", "cut_picture", "huge_picture"])
def test_a_bad_picture_is_explained(terminal, request, kind):
    done = terminal("evaluate", request.getfixturevalue(kind), "--prompt", PROMPT)
    assert done.code == 2
    assert is_one_sentence_with_a_hint(done.err), done.err


def test_a_folder_that_cannot_be_written_is_told_before_drawing(terminal, tmp_path):
    (tmp_path / "file").write_text("taken")
    done = terminal("generate", PROMPT, "--out", tmp_path / "file" / "runs")
    assert done.code == 1
    assert is_one_sentence_with_a_hint(done.err), done.err
    assert "is not a folder" in done.err


@pytest.fixture(params=["truncated", "pickled", "without configuration"])
def damaged_model(request, home):
    """A copy of the embedded model in the user's home, with one thing wrong."""
    embedded = resources_folder() / "models"
    folder = home / "models" / "copy"
    shutil.copytree(embedded / "stickers", folder)
    objects = embedded / "stickers-world" / "objects.toml"
    (folder / "studio.toml").write_text(f"id = 'copy'\nsteps = 1\nobjects = '{objects}'\n")
    weights = next((folder / "unet").glob("*.safetensors"))
    if request.param == "truncated":
        os.truncate(weights, 1000)
    elif request.param == "pickled":
        weights.rename(weights.with_name("diffusion_pytorch_model.bin"))
    else:
        (folder / "unet" / "config.json").unlink()
    yield "copy"
    shutil.rmtree(folder)


def test_a_damaged_model_is_explained(terminal, tmp_path, damaged_model):
    done = terminal("generate", PROMPT, "--model", damaged_model, "--out", tmp_path)
    assert done.code in {1, 2}
    assert is_one_sentence_with_a_hint(done.err), done.err
    assert list(tmp_path.iterdir()) == []


def usual_request(studio):
    studio.use_scene(studio.parse_for_model(PROMPT))
    return studio.new_request(seed=1, steps=1)


def draws(studio):
    """Draw one picture; say whether it was stored."""
    pronounced = []
    unsubscribe = studio.bus.subscribe(pronounced.append)
    studio.generate(usual_request(studio))
    unsubscribe()
    assert not [event for event in pronounced if isinstance(event, GenerationFailed)]
    return any(isinstance(event, RunStored) for event in pronounced)


@pytest.mark.parametrize(
    "changes",
    [{"width": 100}, {"height": 0}, {"width": -64}, {"seed": 2**32}, {"seed": -1}, {"steps": 0}],
    ids=str,
)
def test_a_number_out_of_range_is_refused_and_the_next_picture_is_drawn(studio, changes):
    request = with_values(usual_request(studio), **changes)
    with pytest.raises(RequestError) as caught:
        studio.generate(request)
    assert caught.value.hint.endswith(".")
    assert draws(studio)


def test_an_unreadable_prompt_is_refused_and_the_next_picture_is_drawn(studio):
    with pytest.raises(PromptError) as caught:
        studio.parse_for_model("a unicorn to the left of a dog")
    assert caught.value.hint.endswith(".")
    assert draws(studio)


def test_an_unwritable_folder_is_refused_and_the_next_picture_is_drawn(studio, tmp_path):
    usual = studio.storage.runs_folder
    (tmp_path / "file").write_text("taken")
    studio.storage.runs_folder = tmp_path / "file"
    with pytest.raises(StoreError):
        studio.generate(usual_request(studio))
    studio.storage.runs_folder = usual
    assert draws(studio)
