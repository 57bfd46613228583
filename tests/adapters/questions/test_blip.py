import numpy as np
import pytest
from transformers import AutoProcessor, BlipForQuestionAnswering

from spatialstudio.adapters.models.blip import BlipAnswerer, find_blip
from spatialstudio.domain.errors import Cancelled, DetectorError
from tests.adapters.questions.tiny_blip import WORDS, save_tiny_blip
from tests.fakes import CountingToken

QUESTIONS = ("is there a dog?", "is the dog to the left of the car?", "is the dog red?")
PICTURE = np.random.default_rng(0).integers(0, 256, (40, 60, 3), np.uint8)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder of model folders; one holds another model, one holds BLIP."""
    place = tmp_path_factory.mktemp("models")
    (place / "another").mkdir()
    (place / "another" / "config.json").write_text('{"architectures": ["UNet"]}')
    save_tiny_blip(place / "my-blip")
    return place


@pytest.fixture
def empty_cache(monkeypatch):
    """A Hugging Face cache that holds nothing."""
    monkeypatch.setattr(
        "spatialstudio.adapters.models.blip.try_to_load_from_cache", lambda *_: None
    )


def answered(models, questions=QUESTIONS, token=None):
    answerer = BlipAnswerer(lambda: find_blip([models]))
    return answerer.answer(PICTURE, questions, token or CountingToken())


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_answers_equal_the_library(models, question):
    processor = AutoProcessor.from_pretrained(models / "my-blip")
    model = BlipForQuestionAnswering.from_pretrained(models / "my-blip").eval()
    asked = processor(images=PICTURE, text=question, return_tensors="pt")
    asked.pop("token_type_ids", None)
    generated = model.generate(
        **asked, max_new_tokens=1, output_logits=True, return_dict_in_generate=True
    )
    chances = generated.logits[0].log_softmax(-1)[0]
    (answer,) = answered(models, [question])
    assert answer.chances.log_yes == pytest.approx(float(chances[WORDS.index("yes")]), abs=1e-4)
    assert answer.chances.log_no == pytest.approx(float(chances[WORDS.index("no")]), abs=1e-4)


def test_a_question_has_the_same_answer_alone_and_in_a_batch(models):
    (alone,) = answered(models, QUESTIONS[2:])
    assert answered(models, QUESTIONS * 2)[5] == alone


def test_without_questions_no_model_is_loaded(empty_cache, tmp_path):
    assert answered(tmp_path, ()) == ()


def test_a_missing_model_is_reported(empty_cache, tmp_path):
    with pytest.raises(DetectorError, match="no BLIP model"):
        answered(tmp_path)


def test_the_hub_cache_is_searched_last(models, tmp_path, monkeypatch):
    cached = models / "my-blip" / "config.json"
    monkeypatch.setattr(
        "spatialstudio.adapters.models.blip.try_to_load_from_cache", lambda *_: str(cached)
    )
    assert find_blip([tmp_path]) == models / "my-blip"


@pytest.mark.parametrize("damage", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_damaged_model_is_reported(tmp_path, damage):
    folder = save_tiny_blip(tmp_path / "blip")
    (folder / damage).write_text('{"architectures": ["BlipForQuestionAnswering"]}')
    with pytest.raises(DetectorError, match="cannot be loaded"):
        answered(tmp_path)


def test_answering_can_be_cancelled(models):
    with pytest.raises(Cancelled):
        answered(models, token=CountingToken(stop_at=2))
