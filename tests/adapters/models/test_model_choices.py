import json
import logging

import pytest

from spatialstudio.adapters.models.identify_file import SD_1, SD_2
from spatialstudio.adapters.models.model_choices import ModelChoices
from spatialstudio.adapters.models.model_files import ModelFolders
from spatialstudio.application.models.model_lists import ModelList, usual_settings
from spatialstudio.application.run.choose_settings import request_of
from spatialstudio.domain.errors import ModelNotFound
from spatialstudio.domain.run_settings import with_values
from tests.fakes import scene_of
from tests.sparse_weights import signs_of, write_sparse


@pytest.fixture
def file(tmp_path):
    return write_sparse(tmp_path / "portraits.safetensors", signs_of(SD_2))


@pytest.fixture
def choices(tmp_path):
    return ModelChoices(tmp_path / "settings")


def listed(choices, *roots):
    return ModelFolders(roots, choices=choices).cards()


def test_an_opened_file_is_listed_from_then_on(file, choices):
    opened = ModelFolders([], choices=choices).open_file(file)
    assert listed(choices) == (opened,)
    file.unlink()
    assert listed(choices) == ()


def test_a_file_of_a_models_folder_is_not_stored_twice(file, choices):
    ModelFolders([file.parent], choices=choices).open_file(file)
    assert choices.files == ()


def test_two_files_of_one_name_get_two_ids(file, choices, tmp_path):
    (tmp_path / "other").mkdir()
    twin = write_sparse(tmp_path / "other" / file.name, signs_of(SD_1))
    catalog = ModelFolders([tmp_path], choices=choices)
    card = catalog.open_file(twin)
    assert card.id == "portraits (other)"
    assert [each.id for each in catalog.cards()] == ["portraits", "portraits (other)"]
    assert catalog.cards()[1] == card


def test_reading_a_file_stores_nothing(file, choices):
    ModelFolders([], choices=choices).read_file(file)
    assert listed(choices) == ()


def test_a_file_that_cannot_generate_is_not_stored(tmp_path, choices):
    lora = write_sparse(tmp_path / "x.safetensors", {"a.lora_A.weight": ("F16", (1, 1))})
    with pytest.raises(ModelNotFound, match="LoRA"):
        ModelFolders([], choices=choices).open_file(lora)
    assert choices.files == ()


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"files": 5, "prediction_types": [1]}', '{"files": ["\\u0000", 7]}']
)
def test_damaged_choices_are_ignored(choices, tmp_path, content, caplog):
    (tmp_path / "settings").mkdir()
    (tmp_path / "settings" / "models.json").write_text(content, encoding="utf-8")
    with caplog.at_level(logging.CRITICAL):
        assert (choices.files, choices.prediction_types) == ((), {})


def test_unknown_prediction_types_are_left_out(choices, tmp_path):
    (tmp_path / "settings").mkdir()
    stored = {"prediction_types": {"a": "flow", "b": "epsilon", "c": 3, "d": None}}
    (tmp_path / "settings" / "models.json").write_text(json.dumps(stored), encoding="utf-8")
    assert choices.prediction_types == {"b": "epsilon"}


def test_a_path_is_a_model_id_and_its_prediction_type_is_in_the_request(file, choices):
    models = ModelList(lambda: ModelFolders([], choices=choices))
    card = models.card(str(file))
    assert models.card(card.id) is card
    request = request_of(scene_of(), card, usual_settings(card), seed=1)
    assert (request.model.id, request.sampling.prediction_type) == ("portraits", "v_prediction")
    old = with_values(usual_settings(card), prediction_type="")
    assert request_of(scene_of(), card, old, seed=1).sampling.prediction_type == "v_prediction"


def test_the_choice_of_a_prediction_type_is_the_default_from_then_on(file, choices):
    models = ModelList(lambda: ModelFolders([file.parent], choices=choices))
    models.choose_prediction("portraits", "epsilon")
    card = models.card("portraits")
    assert (card.prediction_type, card.is_prediction_known) == ("epsilon", True)
    again = ModelList(lambda: ModelFolders([file.parent], choices=choices)).card("portraits")
    assert again == card


@pytest.fixture
def twins(tmp_path):
    """Three checkpoints of one name, in folders of one program."""
    files = []
    for folder in ("anime", "photo", "old/photo"):
        place = tmp_path / "checkpoints" / folder
        place.mkdir(parents=True)
        files.append(write_sparse(place / "mix.safetensors", signs_of(SD_1)))
    return files


def ids_of(twins):
    cards = ModelFolders([file.parent for file in twins]).cards()
    return {card.id: card.folder for card in cards}


def test_checkpoints_of_one_name_in_subfolders_have_ids_of_their_own(twins):
    names = ("mix", "mix (photo)", "mix (old/photo)")
    assert ids_of(twins) == dict(zip(names, twins, strict=True))
    titles = [card.title for card in ModelFolders([file.parent for file in twins]).cards()]
    assert titles == list(names)


def test_an_id_still_finds_its_file_after_another_of_its_name_is_deleted(twins):
    first, photo, old = twins
    first.unlink()
    old.unlink()
    models = ModelList(lambda: ModelFolders([file.parent for file in twins]))
    assert models.card("mix (photo)").folder == photo
    assert models.card("mix").folder == photo


def test_a_file_that_two_folders_lead_to_is_listed_once(file, tmp_path):
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / file.name).symlink_to(file)
    (card,) = ModelFolders([file.parent, tmp_path / "linked"]).cards()
    assert card.id == "portraits"
