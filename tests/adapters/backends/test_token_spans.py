import pytest

from spatialstudio.adapters.backends.text_streams import TextStream
from spatialstudio.adapters.backends.token_spans import token_spans
from spatialstudio.domain.errors import PromptError
from spatialstudio.domain.prompt import ObjectMention, TextSpan
from tests.adapters.backends.tiny_pipeline import MAX_TOKENS, tiny_tokenizer


@pytest.fixture(scope="module")
def tokenizer():
    return tiny_tokenizer()


def mention(text, phrase, nth=0):
    start = -1
    for _ in range(nth + 1):
        start = text.index(phrase, start + 1)
    span = TextSpan(start=start, stop=start + len(phrase))
    return ObjectMention(id=f"{phrase}{nth}", phrase=phrase, head=phrase, span=span)


def indices(tokenizer, text, phrase, nth=0):
    (span,) = token_spans([clip(tokenizer)], text, [mention(text, phrase, nth)])
    return span.indices


def clip(tokenizer):
    return TextStream(encoder_id="text_encoder", tokenizer=tokenizer, limit=MAX_TOKENS)


def test_positions_count_the_start_token(tokenizer):
    assert indices(tokenizer, "a dog", "dog") == (2,)


def test_every_piece_of_every_word_counts(tokenizer):
    text = "a tea fig"
    pieces = tokenizer.convert_ids_to_tokens(tokenizer(text).input_ids)
    assert pieces[2:6] == ["tea</w>", "f", "i", "g</w>"]
    assert indices(tokenizer, text, "tea fig") == (2, 3, 4, 5)


def test_the_second_dog_is_not_the_first(tokenizer):
    assert indices(tokenizer, "a dog left of a dog", "dog", 0) == (2,)
    assert indices(tokenizer, "a dog left of a dog", "dog", 1) == (6,)


def test_a_word_inside_another_word_is_not_meant(tokenizer):
    assert indices(tokenizer, "a teadog of a dog", "dog", 1) == (
        len(tokenizer("a teadog of a").input_ids) - 1,
    )


def test_capitals_are_read_like_the_encoder_reads_them(tokenizer):
    assert indices(tokenizer, "A DOG", "DOG") == (2,)


def test_words_beyond_the_limit_are_named(tokenizer):
    text = "a dog " + "of a " * (MAX_TOKENS // 2) + "car"
    with pytest.raises(PromptError, match='does not read "car"'):
        token_spans([clip(tokenizer)], text, [mention(text, "dog"), mention(text, "car")])


def test_the_last_place_that_is_read_is_still_good(tokenizer):
    text = "a " * (MAX_TOKENS - 3) + "dog"
    assert indices(tokenizer, text, "dog") == (MAX_TOKENS - 2,)
    assert len(tokenizer(text).input_ids) == MAX_TOKENS


def test_a_cut_that_loses_no_mention_is_let_pass(tokenizer):
    assert indices(tokenizer, "a dog" + " of" * MAX_TOKENS, "dog") == (2,)


def test_what_the_encoder_does_not_see_is_told_and_never_the_start_token(tokenizer):
    text = "a dog \u200b\u200b"
    with pytest.raises(PromptError, match="does not see"):
        token_spans(
            [clip(tokenizer)],
            text,
            [ObjectMention(id="m", phrase="?", head="?", span=TextSpan(start=5, stop=6))],
        )
