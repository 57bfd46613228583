import pytest

from spatialstudio.domain.prompt import (
    ObjectMention,
    TextSpan,
    TokenSpan,
)


def test_a_span_takes_its_characters_out_of_the_text():
    assert TextSpan(start=2, stop=5).of("a cat sat") == "cat"


@pytest.mark.parametrize(("start", "stop"), [(-1, 3), (3, 3), (4, 3)])
def test_a_span_is_never_empty_or_backward(start, stop):
    with pytest.raises(ValueError, match="start < stop"):
        TextSpan(start=start, stop=stop)


def test_a_token_span_is_never_empty():
    with pytest.raises(ValueError, match="at least one"):
        TokenSpan(mention_id="cat", encoder_id="text_encoder", indices=())


@pytest.mark.parametrize(
    ("phrase", "head", "count"),
    [
        ("three birds", "bird", "three"),
        ("12 red cats", "cat", "12"),
        ("two dozen eggs", "egg", "two dozen"),
        ("Twenty-one dogs", "dog", "Twenty-one"),
        ("several", "several", ""),
        ("blue car", "car", ""),
        ("single bed", "single bed", ""),
    ],
)
def test_a_count_is_read_from_the_words_before_the_head(phrase, head, count):
    span = TextSpan(start=0, stop=len(phrase))
    assert ObjectMention(id="m1", phrase=phrase, head=head, span=span).count == count
