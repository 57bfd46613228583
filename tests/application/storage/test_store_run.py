"""Events of a finished run become a record with a name people can read."""

import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.storage.run_writer import (
    environment_on,
    run_name,
    store_run,
)
from spatialstudio.domain.generation import (
    GenerationRequest,
    GenerationStarted,
    ModelRef,
    SamplingSettings,
)
from spatialstudio.domain.scene import Prompt, SceneGraph

NOON = datetime(2026, 11, 20, 12, 0, 1, tzinfo=UTC)


@pytest.fixture
def request_():
    scene = SceneGraph(
        prompt=Prompt(text="A cat, above a DOG!"), mentions=(), relations=(), extractor_id="e"
    )
    return GenerationRequest(
        id="x",
        scene=scene,
        backend_id="b",
        model=ModelRef(id="stickers"),
        sampling=SamplingSettings(seed=5),
    )


def test_a_run_is_named_after_time_prompt_and_seed(request_):
    assert run_name(request_, NOON) == "2026-11-20_120001_a-cat-above-a-dog_5"


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("", "picture"),
        ("../..", "picture"),
        ("x" * 500, "x" * 48),
        ("猫在狗的左边", "猫在狗的左边"),
        ("a/b\\c:d\0e", "a-b-c-d-e"),
    ],
    ids=["empty", "dots", "long", "chinese", "not allowed in names"],
)
def test_any_prompt_gives_a_valid_file_name(request_, text, slug):
    odd = replace(request_, scene=replace(request_.scene, prompt=Prompt(text=text)))
    assert run_name(odd, NOON) == f"2026-11-20_120001_{slug}_5"


def test_an_unfinished_run_is_not_stored(request_, tmp_path):
    started = GenerationStarted(request_id="x", total_steps=2, token_spans=(), device="cpu")
    with pytest.raises(ValueError, match="not enough values"):
        store_run(request_, [started], None, RunFiles(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_environment_names_device_and_versions():
    environment = environment_on("cuda:0")
    assert environment.device == "cuda:0"
    assert environment.libraries["torch"].startswith("2.")
    assert environment.python == ".".join(map(str, sys.version_info[:3]))


def test_the_environment_names_the_program_by_its_sources():
    assert len(environment_on("cpu").code_sha256) == 64


def test_recording_the_environment_imports_no_model_library():
    code = (
        "import sys; from spatialstudio.application.storage.run_writer import environment_on;"
        "environment_on('cpu'); print(*{'torch', 'diffusers', 'transformers'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
