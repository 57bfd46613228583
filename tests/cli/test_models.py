"""The command ``models`` against a fake hub."""

import io
import json
import logging
import re
from pathlib import Path

import pytest
from huggingface_hub import close_session

from spatialstudio.adapters.models.model_files import ModelFolders
from spatialstudio.adapters.perception.model_catalog import PerceptionFolders
from spatialstudio.application.evaluate.judge_choice import JudgeSets
from spatialstudio.application.models.machine_memory import MachineMemory
from spatialstudio.application.models.model_lists import ModelList
from spatialstudio.cli.commands import run
from spatialstudio.domain.errors import ModelNotFound
from spatialstudio.domain.hub import ModelTask
from spatialstudio.domain.judge_choice import OPEN_VOCABULARY, JudgeTask
from tests.adapters.keyrings import MemoryKeyring, used
from tests.hub_fakes import DIFFUSERS, FakeHub, cut, hub_in, without_token_of_the_user
from tests.sparse_weights import write_sparse

TOKEN = "secret" + "-of-a-user"


@pytest.fixture
def fake():
    with FakeHub() as fake:
        fake.add("maker/model", DIFFUSERS)
        yield fake


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "hub"


@pytest.fixture
def hub(fake, tmp_path, monkeypatch):
    without_token_of_the_user(monkeypatch, tmp_path)
    yield hub_in(tmp_path, fake.url)
    close_session()


class StudioWithHub:
    """All that the command needs of a studio."""

    def __init__(self, hub):
        self.hub = hub


@pytest.fixture
def terminal(hub, capsys):
    """Run a command; return its exit code, answer and messages."""

    def call(*arguments):
        code = run(["models", *arguments], lambda folder: StudioWithHub(hub))
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def test_a_model_is_downloaded_listed_verified_and_removed(terminal):
    code, out, _ = terminal("get", "maker/model")
    assert (code, "complete and verified" in out, "apache-2.0" in out) == (0, True, True)
    _, out, _ = terminal("list", "--json")
    assert [model["id"] for model in json.loads(out)["installed"]] == ["maker/model"]
    assert terminal("check", "maker/model")[:2] == (
        0,
        'All 9 files of "maker/model" are intact.\n',
    )
    assert terminal("remove", "maker/model")[0] == 0
    _, out, _ = terminal("list", "--task", "depth")
    assert "Nothing is installed" in out
    assert "depth-anything-small" in out
    assert "sdxl" not in out


def test_a_dry_run_downloads_nothing(terminal, cache):
    code, out, _ = terminal("get", "maker/model", "--dry-run", "--json")
    answer = json.loads(out)
    assert (code, answer["downloaded"]) == (0, False)
    assert answer["total_bytes"] == answer["missing_bytes"] > 1_000_000
    assert not cache.exists()


def test_a_model_that_cannot_fit_is_listed_with_the_reason(terminal, monkeypatch):
    memory = MachineMemory(main_bytes=16 * 10**9, gpu_bytes=8 * 10**9)
    monkeypatch.setattr("spatialstudio.cli.models.this_machine", lambda: memory)
    lines = terminal("list", "--task", "diffusion")[1].splitlines()
    fits = {line.split()[0]: line.partition("memory, ")[2] for line in lines if "GB memory" in line}
    assert lines[0] == "This machine: GPU 8.0 GB, main memory 16.0 GB"
    assert fits["flux-dev"].endswith("too large for this machine: it needs 36.0 GB")
    assert fits["sdxl"].endswith("fits with offloading only: it needs 9.0 GB")
    assert fits["sd15"] == "creativeml-openrail-m"
    listed = json.loads(terminal("list", "--json")[1])
    assert listed["machine"] == {"main_bytes": 16 * 10**9, "gpu_bytes": 8 * 10**9}
    answers = {each["id"]: each for each in listed["recommended"]}
    assert answers["flux-dev"]["fit"] == "too large"
    assert answers["sd15"] | {"fit": "fits", "fit_reason": ""} == answers["sd15"]


def test_the_weights_of_an_installed_model_are_counted_in_16_bits(
    terminal, hub, tmp_path, monkeypatch
):
    place = tmp_path / "checkpoints"
    place.mkdir()
    write_sparse(place / "large.safetensors", {"weight": ("F32", (1000, 1000, 10))})
    hub.use_folder(place)
    monkeypatch.setattr(
        "spatialstudio.cli.models.this_machine",
        lambda: MachineMemory(main_bytes=19_000_000, gpu_bytes=0),
    )
    assert "too large for this machine: it needs 20 MB" in terminal("list")[1]


def test_files_of_one_name_are_listed_with_ids_of_their_own(terminal, hub, tmp_path):
    for folder in ("checkpoints", "checkpoints/photo"):
        (tmp_path / folder).mkdir()
        write_sparse(tmp_path / folder / "mix.safetensors", {"weight": ("F16", (8, 8))})
    hub.use_folder(tmp_path / "checkpoints")
    installed = json.loads(terminal("list", "--json")[1])["installed"]
    assert [model["id"] for model in installed] == ["mix", "mix (photo)"]
    assert "mix (photo)" in terminal("check", "mix (photo)")[1]


def test_an_interrupted_download_is_listed_and_can_be_deleted(terminal, fake):
    fake.breaks("storage", cut(0.0))
    code, _, err = terminal("get", "maker/model")
    assert code == 1
    assert "was interrupted" in err
    assert "Resume the download" in err
    _, out, _ = terminal("list")
    assert "Unfinished" in out
    assert terminal("remove", "maker/model")[0] == 0
    assert "Unfinished" not in terminal("list")[1]


def test_an_interrupted_download_is_deleted_by_its_short_name(terminal, fake, hub):
    (entry,) = (each for each in hub.catalogue if each.id == "sdxl")
    fake.add(entry.repository, published(entry))
    fake.breaks("storage", cut(0.0))
    assert terminal("get", "sdxl")[0] == 1
    assert hub.unfinished()
    assert terminal("remove", "sdxl")[0] == 0
    assert not hub.unfinished()


def test_a_damaged_file_fails_verification(terminal, cache):
    terminal("get", "maker/model")
    (blob, *_) = [path for path in cache.rglob("blobs/*") if path.stat().st_size > 100_000]
    blob.write_bytes(blob.read_bytes()[::-1])
    code, out, _ = terminal("check", "maker/model")
    assert code == 1
    assert "wrong hash" in out


def test_a_gated_model_prints_the_next_step(terminal, fake):
    fake.add("maker/gated", DIFFUSERS, token=TOKEN, is_gated=True)
    code, out, err = terminal("get", "maker/gated")
    assert (code, out) == (1, "")
    assert "Accept it at https://huggingface.co/maker/gated" in err


def test_a_rejected_token_is_neither_printed_nor_logged(terminal, fake, monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    fake.add("maker/gated", DIFFUSERS, token="another", is_gated=True)
    code, out, err = terminal("get", "maker/gated", "--debug")
    assert code == 1
    assert "has no access" in err
    assert TOKEN not in out + err + caplog.text


def test_the_token_is_read_from_standard_input(terminal, hub, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{TOKEN}\n"))
    with used(MemoryKeyring()):
        code, out, err = terminal("token")
        assert hub.has_token()
        assert code == 0
        assert TOKEN not in out + err
        terminal("token", "--delete")
        assert not hub.has_token()


def test_models_of_other_programs_are_added(terminal, tmp_path):
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    (folder / "anime.safetensors").write_bytes(b"?")
    (tmp_path / "extra_model_paths.yaml").write_text(
        "comfyui:\n  base_path: .\n  checkpoints: |\n    checkpoints\n    missing\n"
    )
    assert terminal("folder", str(tmp_path / "extra_model_paths.yaml"))[0] == 0
    assert "anime" in terminal("list")[1]
    assert terminal("folder", str(tmp_path / "nowhere"))[0] == 1


README = Path(__file__).parents[2] / "README.md"
GET = re.compile(r"^spatialstudio models get (.+)$", re.MULTILINE)


def published(entry):
    """Return small files in the layout of a recommended model's repository."""
    if entry.task is not ModelTask.DIFFUSION:
        config = json.dumps({"architectures": [entry.architecture]}).encode()
        return {"config.json": config, "model.safetensors": b"weights", "model.bin": b"pickle"}
    half = {
        name.replace(".safetensors", ".fp16.safetensors"): content
        for name, content in DIFFUSERS.items()
        if name.endswith(".safetensors")
    }
    index = json.loads(DIFFUSERS["model_index.json"]) | {"_class_name": entry.architecture}
    return {**DIFFUSERS, **half, "model_index.json": json.dumps(index).encode()}


def test_the_commands_of_the_readme_install_the_judge_set(terminal, fake, hub, cache):
    entries = {entry.id: entry for entry in hub.catalogue}
    (line,) = GET.findall(README.read_text(encoding="utf-8"))
    for model_id in line.split():
        fake.add(entries[model_id].repository, published(entries[model_id]))
    assert terminal("get", *line.split())[0] == 0
    models = ModelList(
        lambda: ModelFolders([], [cache]),
        lambda: {each.id: each.repository for each in entries.values()},
    )
    assert models.card("sdxl").pipeline_class == "StableDiffusionXLPipeline"
    sets = JudgeSets(lambda: PerceptionFolders([], cache), lambda kind: ())
    assert sets.installed(OPEN_VOCABULARY).keys() == {
        JudgeTask.DETECTOR,
        JudgeTask.SEGMENTER,
        JudgeTask.DEPTH,
    }


def test_a_missing_recommended_model_suggests_its_download():
    models = ModelList(lambda: ModelFolders([]), lambda: {"sdxl": "maker/sdxl"})
    with pytest.raises(ModelNotFound, match='"sdxl" is not installed') as caught:
        models.card("sdxl")
    assert "spatialstudio models get maker/sdxl" in caught.value.hint


def test_an_unknown_name_among_several_is_found_before_the_first_byte(terminal, cache):
    code, _, err = terminal("get", "maker/model", "no/such")
    assert (code, cache.exists()) == (1, False)
    assert 'no repository "no/such"' in err
