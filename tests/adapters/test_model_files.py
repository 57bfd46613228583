import json
from pathlib import Path

import pytest

from spatialstudio.adapters.model_files import ModelFolders, read_card
from spatialstudio.domain.errors import ModelNotFound

OBJECTS = """
[[objects]]
name = "couch"
plural = "couches"
synonyms = ["sofa", "sofas"]
"""


def write_model(folder: Path, advice: str = "", weights: str = "model.safetensors") -> Path:
    """Write what a card is read from: a folder of two parts with three bytes of weights each."""
    for part, config in (
        ("unet", {"sample_size": 64}),
        ("vae", {"block_out_channels": [1, 2, 3, 4]}),
    ):
        (folder / part).mkdir(parents=True)
        (folder / part / "config.json").write_text(json.dumps(config), encoding="utf-8")
        (folder / part / weights).write_bytes(b"123")
    index = {"_class_name": "StableDiffusionPipeline", "unet": ["d", "U"], "vae": ["d", "V"]}
    (folder / "model_index.json").write_text(json.dumps(index), encoding="utf-8")
    if advice:
        (folder / "studio.toml").write_text(advice, encoding="utf-8")
    return folder


def test_a_plain_diffusers_folder_gets_the_usual_settings(tmp_path):
    card = read_card(write_model(tmp_path / "my-model"))
    assert (card.id, card.title, card.backend_id) == ("my-model", "my-model", "diffusers")
    assert (card.steps, card.guidance_scale, card.strength) == (50, 7.5, 20.0)
    assert card.native_size == 512
    assert card.size_bytes == 6
    assert card.known_objects == {}


def test_advice_beside_the_model_is_taken(tmp_path):
    advice = 'id = "x"\ntitle = "X"\nlicence = "MIT"\nsteps = 16\nstrength = 5.0'
    card = read_card(write_model(tmp_path / "my-model", advice))
    assert (card.id, card.title, card.licence) == ("x", "X", "MIT")
    assert (card.steps, card.guidance_scale, card.strength) == (16, 7.5, 5.0)


def test_every_word_for_an_object_leads_to_the_one_that_is_drawn(tmp_path):
    (tmp_path / "objects.toml").write_text(OBJECTS, encoding="utf-8")
    card = read_card(write_model(tmp_path / "m", 'objects = "../objects.toml"'))
    assert card.known_objects == dict.fromkeys(["couch", "couches", "sofa", "sofas"], "couch")


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("model_index.json", "{"),
        ("unet/config.json", "{}"),
        ("studio.toml", "steps ="),
        ("studio.toml", "speed = 9"),
        ("studio.toml", 'steps = "many"'),
        ("studio.toml", 'objects = "nowhere.toml"'),
    ],
    ids=["index", "configuration", "advice", "unknown advice", "wrong advice", "objects"],
)
def test_a_damaged_folder_is_told(tmp_path, file, content):
    folder = write_model(tmp_path / "m")
    (folder / file).write_text(content, encoding="utf-8")
    with pytest.raises(ModelNotFound, match='"m" is damaged'):
        read_card(folder)


def test_pickled_weights_are_refused(tmp_path):
    with pytest.raises(ModelNotFound, match="pickled"):
        read_card(write_model(tmp_path / "m", weights="pytorch_model.bin"))


def test_the_shelf_lists_good_models_of_all_roots_in_order(tmp_path):
    write_model(tmp_path / "shipped" / "b")
    write_model(tmp_path / "own" / "a")
    write_model(tmp_path / "own" / "broken", "steps =")
    (tmp_path / "own" / "no model").mkdir()
    shelf = ModelFolders([tmp_path / "shipped", tmp_path / "own", tmp_path / "nowhere"])
    assert [card.id for card in shelf.cards()] == ["b", "a"]
    assert list(shelf.damaged()) == ["broken"]


def test_of_two_models_with_one_id_the_first_root_counts(tmp_path):
    first = write_model(tmp_path / "shipped" / "m")
    write_model(tmp_path / "own" / "m")
    (card,) = ModelFolders([tmp_path / "shipped", tmp_path / "own"]).cards()
    assert card.folder == first
