import hashlib
import json
import shutil
import subprocess
import sys

import pytest
from safetensors.torch import load_file, save_file

from spatialstudio.adapters.perception.model_catalog import PerceptionFolders, families
from spatialstudio.domain.errors import DetectorError, ModelNotFound
from spatialstudio.domain.ports import PerceptionRole

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def root(tmp_path):
    place = tmp_path / "models"
    place.mkdir()
    return place


@pytest.fixture
def cache(tmp_path, models):
    """A hub's cache as a download leaves it: blobs by hash, snapshots of links, refs."""
    repository = tmp_path / "hub" / "models--facebook--detr--tiny"
    snapshot = repository / "snapshots" / COMMIT
    for folder in (repository / "blobs", repository / "refs", snapshot):
        folder.mkdir(parents=True)
    for file in models("detr").iterdir():
        blob = repository / "blobs" / hashlib.sha256(file.read_bytes()).hexdigest()
        shutil.copy(file, blob)
        (snapshot / file.name).symlink_to(blob)
    (repository / "refs" / "main").write_text(COMMIT)
    return repository.parent


def shelf_of(root, cache="nowhere"):
    return PerceptionFolders([root], root.parent / cache)


def copied(folder, root):
    return shutil.copytree(folder, root / folder.name)


def test_models_are_listed_with_their_role(models, root):
    copied(models("detr"), root)
    copied(models("sam"), root)
    cards = shelf_of(root).cards()
    assert [(card.ref.id, card.role.value) for card in cards] == [
        ("detr", "detector"),
        ("sam", "segmenter"),
    ]
    assert all(card.size_bytes > 1000 for card in cards)


def test_the_hubs_cache_names_revision_and_hash(cache, root):
    (card,) = shelf_of(root, cache.name).cards()
    assert card.ref.id == "facebook/detr/tiny"
    assert card.ref.revision == COMMIT
    weights = (card.folder / "model.safetensors").read_bytes()
    assert card.ref.sha256 == hashlib.sha256(weights).hexdigest()


def test_a_model_of_the_hub_cache_perceives_pictures(cache, root, picture, mentions):
    detector = shelf_of(root, cache.name).make("facebook/detr/tiny", PerceptionRole.DETECTOR)
    detector.detect(picture, mentions)
    assert COMMIT in detector.signature


def test_another_branch_of_the_hub_is_named(cache, root):
    (cache / "models--facebook--detr--tiny" / "refs" / "main").rename(
        cache / "models--facebook--detr--tiny" / "refs" / "no_timm"
    )
    (card,) = shelf_of(root, cache.name).cards()
    assert card.ref.id == "facebook/detr/tiny@no_timm"


def test_a_folder_anywhere_is_named_by_its_path(models, root):
    path = str(models("dpt"))
    assert shelf_of(root).make(path, PerceptionRole.DEPTH).id == path


def test_a_model_is_named_exactly_by_the_hash_of_its_weights(models, root):
    folder = copied(models("dpt"), root)
    ref = shelf_of(root).ref("dpt", PerceptionRole.DEPTH)
    weights = (folder / "model.safetensors").read_bytes()
    assert ref.sha256 == hashlib.sha256(weights).hexdigest()


def test_a_model_of_another_role_is_rejected_by_name(models, root):
    copied(models("sam"), root)
    copied(models("detr"), root)
    with pytest.raises(ModelNotFound) as caught:
        shelf_of(root).make("sam", PerceptionRole.DETECTOR)
    assert "is a segmenter, not a detector" in caught.value.message
    assert "detr" in caught.value.hint


def test_an_unknown_model_is_rejected_with_a_hint(root):
    with pytest.raises(ModelNotFound, match="There is no depth"):
        shelf_of(root).make("nothing", PerceptionRole.DEPTH)


def test_models_of_other_tasks_are_skipped(root):
    (root / "llama").mkdir()
    (root / "llama" / "config.json").write_text('{"architectures": ["LlamaForCausalLM"]}')
    (root / "own").mkdir()
    (root / "own" / "config.json").write_text('{"outputs": 41}')
    assert shelf_of(root).cards() == ()
    assert shelf_of(root).damaged() == {}


def without_weights(folder):
    (folder / "model.safetensors").unlink()


def with_pickled_weights(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def with_torn_config(folder):
    (folder / "config.json").write_text('{"architectures": ["Detr')


def with_broken_link(folder):
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").symlink_to(folder / "gone")


@pytest.mark.parametrize(
    ("spoil", "telling"),
    [
        (without_weights, "not complete"),
        (with_pickled_weights, "pickle files"),
        (with_torn_config, "damaged"),
        (with_broken_link, "not complete"),
    ],
)
def test_a_damaged_folder_is_reported_and_left_out(models, root, spoil, telling):
    spoil(copied(models("detr"), root))
    shelf = shelf_of(root)
    assert shelf.cards() == ()
    assert telling in shelf.damaged()["detr"].message
    with pytest.raises(ModelNotFound, match=telling):
        shelf.make("detr", PerceptionRole.DETECTOR)


def with_truncated_weights(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:500])


def with_missing_tensors(folder):
    weights = load_file(folder / "model.safetensors")
    kept = {name: value for name, value in weights.items() if "class_labels" not in name}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})


def with_another_width(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "num_queries": 7}))


def without_processor(folder):
    (folder / "preprocessor_config.json").unlink()


@pytest.mark.parametrize(
    "spoil", [with_truncated_weights, with_missing_tensors, with_another_width, without_processor]
)
def test_weights_that_do_not_fit_are_never_initialised_randomly(
    models, root, spoil, picture, mentions
):
    spoil(copied(models("detr"), root))
    detector = shelf_of(root).make("detr", PerceptionRole.DETECTOR)
    with pytest.raises(DetectorError, match="damaged"):
        detector.detect(picture, mentions)


def test_a_module_in_the_folder_serves_its_architecture(add_blind_model, root, picture, mentions):
    blind = add_blind_model(root)
    (card,) = shelf_of(root).cards()
    assert (card.ref.id, card.role) == (blind, PerceptionRole.DETECTOR)
    detector = shelf_of(root).make(blind, PerceptionRole.DETECTOR)
    assert detector.detect(picture, mentions).unknown_heads == tuple(m.head for m in mentions)


def test_every_family_makes_its_adapters_and_no_two_serve_an_architecture():
    served = [name for each in set(families().values()) for name in each.architectures]
    assert sorted(served) == sorted(families())
    assert {each.role for each in families().values()} == set(PerceptionRole)


def test_listing_models_loads_no_model_library():
    """Nor a library of pictures: the window lists models before its first frame."""
    program = (
        "import sys\n"
        "from spatialstudio.adapters.perception.model_catalog import families\n"
        "families()\n"
        "print(*sorted({'torch', 'transformers', 'scipy', 'PIL'} & set(sys.modules)))"
    )
    command = [sys.executable, "-P", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
