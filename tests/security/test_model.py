"""Hostile model folders run no code, block nothing, exhaust no memory and hide no others."""

import ast
import inspect
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from diffusers.loaders import single_file, single_file_model

import spatialstudio
from spatialstudio.adapters.diffusion.load_pipeline import load_pipeline
from spatialstudio.adapters.diffusion.model_outline import outline_layers
from spatialstudio.adapters.models.model_files import ModelFolders
from spatialstudio.adapters.models.weight_hashes import hash_of_weights
from spatialstudio.adapters.perception.model_catalog import PerceptionFolders
from spatialstudio.domain.errors import ModelNotFound
from tests.adapters.diffusion.tiny_pipeline import save_tiny_pipeline
from tests.security.harness import attack, memory_limited
from tests.security.hostile_models import EVIL, TEXTS, change, endless, fifo, loop, sparse

HUNDREDFOLD = 10**11
"""More than any memory."""
MOST_FOR_ONE = 256 * 1024**2
"""Memory that a refused model may take."""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A good model folder, written once."""
    folder = tmp_path_factory.mktemp("tiny") / "tiny"
    save_tiny_pipeline(folder)
    return folder


@pytest.fixture
def root(tmp_path, tiny):
    """A folder of models: a good one, and one to be spoilt."""
    folder = tmp_path / "models"
    shutil.copytree(tiny, folder / "good")
    shutil.copytree(tiny, folder / "bad")
    return folder


def damage_listed(root):
    """List the models; return what is said of the bad one."""
    shelf = ModelFolders([root])
    assert "good" in [card.id for card in shelf.cards()]
    return shelf.damaged().get("bad")


def sentence_when_loaded(root):
    """Load the bad model, listed or not; return what is said."""
    (good,) = (card for card in ModelFolders([root]).cards() if card.id == "good")
    card = card_at(good, root / "bad")
    with pytest.raises(ModelNotFound) as caught:
        load_pipeline(card, torch.device("cpu"))
    return caught.value.message


def card_at(good, folder):
    """Return the good card, leading to another folder."""
    return replace(good, id="bad", folder=folder)


SETTINGS = {
    "time steps": ("scheduler/scheduler_config.json", {"num_train_timesteps": HUNDREDFOLD}),
    "layers": ("unet/config.json", {"layers_per_block": 10**6}),
    "layers as a list": ("unet/config.json", {"layers_per_block": [10**6] * 2}),
    "channels": ("unet/config.json", {"block_out_channels": [HUNDREDFOLD, HUNDREDFOLD]}),
    "a text encoder's layers": ("text_encoder/config.json", {"num_hidden_layers": 10**9}),
    "a vocabulary": ("text_encoder/config.json", {"vocab_size": HUNDREDFOLD}),
    "places": ("text_encoder/config.json", {"max_position_embeddings": 1e18}),
    "a list": ("vae/config.json", {"down_block_types": ["X"] * 100_000}),
    "an endless number": ("vae/config.json", {"latent_channels": float("inf")}),
}


@pytest.mark.parametrize(("file", "settings"), SETTINGS.values(), ids=SETTINGS)
def test_excessive_numbers_are_rejected_when_listed_and_when_loaded(
    root, bystander, file, settings
):
    change(root / "bad" / file, **settings)
    told = damage_listed(root)
    (name,) = settings
    assert f'its setting "{name}" is out of range' in told.message
    with memory_limited(MOST_FOR_ONE):
        assert f'its setting "{name}"' in sentence_when_loaded(root)


@pytest.mark.parametrize(
    ("file", "settings"),
    [
        ("unet/config.json", {"block_out_channels": [60_000] * 2}),
        ("text_encoder/config.json", {"hidden_size": 65_536, "intermediate_size": 65_536}),
        ("text_encoder/config.json", {"num_hidden_layers": 1000, "hidden_size": 8192}),
        ("vae/config.json", {"decoder_block_out_channels": [65_536] * 4}),
        ("unet/config.json", {"layers_per_block": 1000}),
    ],
    ids=lambda value: value if isinstance(value, str) else ", ".join(value),
)
def test_parts_of_sizes_that_exist_are_refused_before_they_take_memory(
    root, bystander, file, settings
):
    change(root / "bad" / file, **settings)
    with memory_limited(MOST_FOR_ONE):
        assert sentence_when_loaded(root)


@pytest.mark.parametrize("file", ["model_index.json", "unet/config.json", "vae/config.json"])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_malicious_json_is_rejected_in_one_sentence(root, file, text):
    (root / "bad" / file).write_text(text, encoding="utf-8", errors="surrogateescape")
    told = damage_listed(root)
    assert '"bad" is damaged' in told.message
    assert "damaged" in sentence_when_loaded(root)


@pytest.mark.parametrize("widths", [[60_000] * 2, [4096, 65_536]], ids=["even", "rising"])
def test_a_configuration_cannot_be_larger_than_its_weights(root, widths):
    change(root / "bad" / "unet" / "config.json", block_out_channels=widths)
    assert "damaged" in sentence_when_loaded(root)
    (good,) = (card for card in ModelFolders([root]).cards() if card.id == "good")
    with pytest.raises(ModelNotFound, match="damaged"):
        outline_layers(card_at(good, root / "bad"), 128, 128)


@pytest.mark.parametrize("make", [fifo, endless, sparse], ids=lambda make: make.__name__)
@pytest.mark.parametrize(
    "file",
    [
        "model_index.json",
        "unet/config.json",
        "vae/config.json",
        "scheduler/scheduler_config.json",
        "text_encoder/config.json",
        "text_encoder/generation_config.json",
        "tokenizer/tokenizer.json",
        "tokenizer/merges.txt",
        "tokenizer/chat_template.jinja",
        "studio.toml",
    ],
)
def test_special_files_are_never_read_as_settings(root, file, make):
    path = root / "bad" / file
    path.unlink(missing_ok=True)
    make(path)
    told = damage_listed(root)
    assert told is None or "damaged" in told.message
    card = next(card for card in ModelFolders([root]).cards() if card.id == "good")
    if file != "studio.toml":
        with pytest.raises(ModelNotFound):
            load_pipeline(card_at(card, root / "bad"), torch.device("cpu"))


@pytest.mark.parametrize("make", [fifo, endless, sparse, loop], ids=lambda make: make.__name__)
def test_weights_other_than_safetensors_are_reported_when_loaded(root, make):
    (weights,) = (root / "bad" / "unet").glob("*.safetensors")
    weights.unlink()
    make(weights)
    assert "damaged" in sentence_when_loaded(root)


@pytest.mark.parametrize("make", [fifo, endless, sparse], ids=lambda make: make.__name__)
def test_an_invalid_single_file_is_reported_and_hides_nothing(root, make):
    make(root / "x.safetensors")
    assert "damaged" in ModelFolders([root]).damaged()["x"].message
    assert "good" in [card.id for card in ModelFolders([root]).cards()]


@pytest.mark.parametrize("length", [2**63, 99_000_000, 2**32, 5000], ids=str)
def test_a_header_with_a_false_length_is_rejected(root, length):
    lying = length.to_bytes(8, "little") + b"{}" * 100
    (root / "x.safetensors").write_bytes(lying)
    assert "damaged" in ModelFolders([root]).damaged()["x"].message
    (weights,) = (root / "bad" / "unet").glob("*.safetensors")
    weights.write_bytes(lying)
    assert "damaged" in sentence_when_loaded(root)


def test_hashing_weights_never_waits_for_a_fifo_or_an_endless_device(tmp_path):
    for name, make in (("a", fifo), ("b", endless)):
        make(tmp_path / name)
        with pytest.raises(OSError, match="Not a regular file"):
            hash_of_weights([tmp_path / name])


def hub_copy(tiny, cache):
    """Lay a model out as the hub's cache does: a snapshot of links to blobs."""
    repository = cache / "models--me--tiny"
    snapshot = repository / "snapshots" / "abc"
    blobs = repository / "blobs"
    blobs.mkdir(parents=True)
    for file in tiny.rglob("*"):
        if file.is_file():
            blob = blobs / str(len(list(blobs.iterdir())))
            shutil.copy(file, blob)
            link = snapshot / file.relative_to(tiny)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(os.path.relpath(blob, link.parent))
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("abc")
    return snapshot


def test_snapshots_of_the_hub_are_links_and_stay_usable(tmp_path, tiny):
    hub_copy(tiny, tmp_path)
    (card,) = ModelFolders([], [tmp_path]).cards()
    assert card.id == "me/tiny"
    assert load_pipeline(card, torch.device("cpu")).text_layers


@pytest.mark.parametrize("make", [fifo, endless, sparse], ids=lambda make: make.__name__)
def test_a_branch_of_the_hub_that_is_no_file_hides_nothing(tmp_path, tiny, make):
    hub_copy(tiny, tmp_path)
    for name in ("models--bad--one", "models--bad--two"):
        (tmp_path / name / "refs").mkdir(parents=True)
        make(tmp_path / name / "refs" / "main")
    assert [card.id for card in ModelFolders([], [tmp_path]).cards()] == ["me/tiny"]
    assert PerceptionFolders([], tmp_path).cards() == ()


def test_cyclic_links_and_long_names_hide_nothing(root):
    (root / "again").symlink_to(root)
    (root / "self").symlink_to("self")
    long = root / ("x" * 250)
    shutil.copytree(root / "good", long)
    ids = [card.id for card in ModelFolders([root]).cards()]
    assert {"good", "bad", long.name} <= set(ids)


@pytest.mark.parametrize(
    ("file", "settings"),
    [
        ("unet/config.json", {"auto_map": {"AutoModel": "evil.Evil"}}),
        ("text_encoder/config.json", {"auto_map": {"AutoModel": "evil.Evil"}}),
        ("tokenizer/tokenizer_config.json", {"auto_map": {"AutoTokenizer": ["evil.E", None]}}),
        ("vae/config.json", {"_attn_implementation": "stranger/kernel"}),
    ],
    ids=["denoiser", "text encoder", "tokenizer", "kernel"],
)
def test_a_model_with_code_is_rejected_by_name(root, pwned, file, settings):
    path = root / "bad" / file
    change(path, **settings)
    (path.parent / "evil.py").write_text(EVIL.format(path=str(pwned)))
    told = damage_listed(root)
    assert '"bad" requires custom code' in told.message
    assert "custom code" in sentence_when_loaded(root)


def test_a_part_whose_library_is_a_file_of_the_folder_is_rejected(root, pwned):
    index = json.loads((root / "bad" / "model_index.json").read_text())
    change(root / "bad" / "model_index.json", unet=["evil", index["unet"][1]])
    (root / "bad" / "unet" / "evil.py").write_text(EVIL.format(path=str(pwned)))
    assert "custom code" in damage_listed(root).message
    assert "custom code" in sentence_when_loaded(root)


PACKAGE = Path(spatialstudio.__file__).parent


def loader_calls(loader):
    """Yield place and keyword constants of each call of a loader, also through a local name."""
    for file in sorted(PACKAGE.rglob("*.py")):
        source = file.read_text(encoding="utf-8")
        if loader not in source:
            continue
        nodes = list(ast.walk(ast.parse(source)))
        aliases = {
            ast.unparse(node.target if isinstance(node, ast.AnnAssign) else node.targets[0])
            for node in nodes
            if isinstance(node, ast.Assign | ast.AnnAssign)
            and isinstance(node.value, ast.Attribute)
            and node.value.attr == loader
        }
        for node in nodes:
            if isinstance(node, ast.Call) and (
                getattr(node.func, "attr", "") == loader or ast.unparse(node.func) in aliases
            ):
                constants = {each.arg: getattr(each.value, "value", None) for each in node.keywords}
                yield f"{file.name}:{node.lineno}", constants


def test_every_loader_runs_no_code_of_a_model():
    calls = list(loader_calls("from_pretrained"))
    assert len(calls) >= 6
    assert [place for place, given in calls if given.get("trust_remote_code") is not False] == []


def test_single_files_have_no_loader_of_code():
    """``from_single_file`` takes no ``trust_remote_code``; it must get a local configuration."""
    for loader in (single_file, single_file_model):
        assert "trust_remote_code" not in inspect.getsource(loader)
    calls = list(loader_calls("from_single_file"))
    assert len(calls) >= 2
    assert [place for place, given in calls if given.get("local_files_only") is not True] == []
    assert all("config" in given for _, given in calls)


LISTING = """
import resource, sys, time
from pathlib import Path
from spatialstudio.adapters.models.model_files import ModelFolders
from spatialstudio.adapters.perception.model_catalog import PerceptionFolders
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
folder = Path("models")
for shelf in (ModelFolders([folder], [folder]), PerceptionFolders([folder], folder)):
    print(sorted(shelf.damaged()), len(shelf.cards()))
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print("grown below", "256 MB" if grown < 256 * 1024 else f"nothing: {grown} kB")
"""


def test_listing_many_hostile_folders_stays_within_memory_and_time(tmp_path, root, bystander):
    texts = enumerate(TEXTS.values())
    for number, text in texts:
        folder = root / f"bad{number}"
        shutil.copytree(root / "good", folder)
        content = text.encode("utf-8", "surrogateescape")
        (folder / "unet" / "config.json").write_bytes(content)
        (folder / "config.json").write_bytes(content)
    sparse(root / "sparse.safetensors")
    wide = root / "wide"
    shutil.copytree(root / "good", wide)
    (wide / "unet" / "config.json").write_text("[" + "[]," * 1_400_000 + "[]]")
    (wide / "model_index.json").write_text('{"a": [' + "{}," * 1_000_000 + "{}]}")
    attacked = attack(LISTING, tmp_path)
    assert attacked.contained, attacked.output
    assert "grown below 256 MB" in attacked.output, attacked.output
