import pytest

from spatialstudio.adapters.diffusion.text_streams import TextStream
from spatialstudio.adapters.diffusion.token_spans import token_readings
from spatialstudio.adapters.stickers.training.text import build_tokenizer

TOKENIZER = build_tokenizer()


def reading(prompt, limit=48, **settings):
    stream = TextStream(encoder_id="text_encoder", tokenizer=TOKENIZER, limit=limit, **settings)
    return token_readings((stream,), prompt)[0]


def words(prompt, **settings):
    return [token.of(prompt) for token in reading(prompt, **settings).tokens]


def test_each_token_has_its_characters():
    assert words("a dog, above a car") == ["a", "dog", ",", "above", "a", "car"]


def test_start_and_end_are_not_the_prompts():
    assert reading("a dog").limit == 46


def test_tokens_beyond_the_limit_are_told_and_not_read():
    told = reading("a dog and a car", limit=5)
    assert (len(told.tokens), told.read, told.limit) == (5, 3, 3)


@pytest.mark.parametrize(
    "settings",
    [{"template": "see: \ue000 now"}, {"is_plain": True}],
    ids=["a template around it", "lower case"],
)
def test_places_are_those_of_the_prompt_as_typed(settings):
    assert words("  A dog", **settings) == ["A", "dog"]
