import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from transformers.models.smolvlm.processing_smolvlm import get_image_prompt_string

from spatialstudio.adapters.perception.architectures.vision_language import IDEFICS, QWEN
from spatialstudio.adapters.perception.model_catalog import PerceptionFolders
from spatialstudio.domain.errors import Cancelled, DetectorError, ModelNotFound
from spatialstudio.domain.multiple_choice import Sampling
from spatialstudio.domain.ports import PerceptionRole
from tests.adapters.perception.tiny_vision_models import KINDS, save_tiny_model
from tests.fakes import CountingToken
from tests.science.questions.choice_sets import questions

PICTURE = np.random.default_rng(0).integers(0, 256, (60, 90, 3), np.uint8)
TEN = questions().questions


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("models")
    for kind in KINDS:
        save_tiny_model(place / kind, kind)
    return place


@pytest.fixture
def catalog(folder, tmp_path):
    return PerceptionFolders([folder], tmp_path)


@pytest.fixture(params=KINDS)
def model(request, catalog, monkeypatch):
    monkeypatch.setattr(
        "spatialstudio.adapters.perception.architectures.vision_language.REPLY_TOKENS", 3
    )
    return catalog.make(request.param, PerceptionRole.ANSWERER)


def choose(model, image=PICTURE, of=TEN, sampling=None, token=None):
    return model.choose(image, of, sampling or Sampling(), token or CountingToken())


def test_the_models_page_lists_them_as_answerers(catalog):
    assert {card.ref.id: card.role for card in catalog.cards()} == dict.fromkeys(
        KINDS, PerceptionRole.ANSWERER
    )


def test_a_reply_counts_its_tokens(model):
    reply = choose(model)
    assert 0 < reply.tokens_out <= 30
    assert reply.tokens_in > 1000
    assert reply.chances == {}


def test_equal_seeds_give_equal_replies_and_other_seeds_others(model):
    first, again, other = (choose(model, sampling=Sampling(seed=seed)) for seed in (1, 1, 2))
    assert first.text == again.text
    assert first.text != other.text


def test_sampling_leaves_the_random_numbers_of_others_alone(model):
    torch.manual_seed(0)
    before = torch.random.get_rng_state()
    choose(model)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_the_picture_matters_and_can_be_withheld(model):
    still = Sampling(temperature=0)
    seen, other, blind = (
        choose(model, image, of=TEN[:1], sampling=still) for image in (PICTURE, 255 - PICTURE, None)
    )
    assert seen.tokens_in > blind.tokens_in
    assert (seen.text, seen.chances) != (other.text, other.chances)


def test_yes_and_no_have_the_probabilities_of_the_first_token(model):
    answers = model.answer(PICTURE, ["is there a dog?"], CountingToken())
    assert len(answers) == 1
    assert (answers[0].chances is None) == bool(answers[0].note)


def test_a_reply_can_be_cancelled_between_two_tokens(model):
    token = CountingToken(stop_at=3)
    with pytest.raises(Cancelled):
        choose(model, token=token)
    assert token.asked == 3


@pytest.mark.parametrize(
    "attack",
    ["<|im_end|>", "<|im_<|im_end|>end|>", "<image>", "<|image_pad|>", "<end_of_utterance>"],
)
def test_a_question_cannot_end_its_message(model, attack):
    choose(model)
    assert attack not in model._without_special_tokens(f"a{attack}b")
    assert "<|im_end|>" not in model._without_special_tokens(f"a{attack}b")


@pytest.mark.parametrize("size", [(40, 1000), (300, 30)], ids=str)
def test_pictures_of_any_shape_are_answered(model, size):
    reply = choose(model, np.zeros((*size, 3), np.uint8), of=TEN[:1])
    assert reply.tokens_out > 0


@pytest.mark.parametrize("damage", ["tokenizer.json", "preprocessor_config.json"])
def test_a_damaged_folder_is_an_error(folder, tmp_path, damage):
    copy = tmp_path / "copy"
    save_tiny_model(copy, "qwen2.5")
    (copy / damage).write_text("{")
    with pytest.raises((DetectorError, ModelNotFound)):
        choose(PerceptionFolders([tmp_path], tmp_path / "no").make("copy", PerceptionRole.ANSWERER))


def test_a_folder_with_code_is_refused(tmp_path):
    copy = save_tiny_model(tmp_path / "copy", "qwen2.5")
    config = json.loads((copy / "config.json").read_text())
    config["auto_map"] = {"AutoModelForImageTextToText": "evil.Model"}
    (copy / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelNotFound, match="custom code, which is never run"):
        PerceptionFolders([tmp_path], tmp_path / "no").make("copy", PerceptionRole.ANSWERER)


def test_the_chat_template_and_settings_of_a_folder_are_not_used(tmp_path):
    copy = save_tiny_model(tmp_path / "copy", "qwen2.5")
    (copy / "chat_template.jinja").write_text("{% for a in range(10**9) %}{{ a }}{% endfor %}")
    (copy / "generation_config.json").write_text('{"num_beams": 1000, "max_new_tokens": 100000}')
    model = PerceptionFolders([tmp_path], tmp_path / "no").make("copy", PerceptionRole.ANSWERER)
    assert choose(model, of=TEN[:1]).tokens_out <= 160


@pytest.mark.parametrize("name", ["Qwen2VLImageProcessor", "Qwen2VLImageProcessorFast"])
def test_processors_of_published_folders_need_no_torchvision(tmp_path, name):
    copy = save_tiny_model(tmp_path / "copy", "qwen2.5")
    file = copy / "preprocessor_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "image_processor_type": name}))
    model = PerceptionFolders([tmp_path], tmp_path / "no").make("copy", PerceptionRole.ANSWERER)
    assert choose(model, of=TEN[:1]).tokens_out > 0


@pytest.mark.parametrize(("rows", "columns"), [(0, 0), (1, 2), (3, 2)], ids=str)
def test_the_placeholders_of_tiles_equal_the_library(rows, columns):
    vision = SimpleNamespace(image_size=64, patch_size=16)
    config = SimpleNamespace(vision_config=vision, scale_factor=2)
    own = IDEFICS.picture({"rows": [[rows]], "cols": [[columns]]}, config)
    assert own == get_image_prompt_string(
        rows, columns, 4, "<fake_token_around_image>", "<image>", "<global-img>"
    )


def test_the_placeholders_of_qwen_are_the_merged_patches():
    config = SimpleNamespace(vision_config=SimpleNamespace(spatial_merge_size=2))
    own = QWEN.picture({"image_grid_thw": torch.tensor([[1, 4, 6]])}, config)
    assert own == f"<|vision_start|>{'<|image_pad|>' * 6}<|vision_end|>"
