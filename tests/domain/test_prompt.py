import pytest

from spatialstudio.domain.prompt import TextSpan, TokenSpan


def test_a_span_takes_its_characters_out_of_the_text():
    assert TextSpan(start=2, stop=5).of("a cat sat") == "cat"


@pytest.mark.parametrize(("start", "stop"), [(-1, 3), (3, 3), (4, 3)])
def test_a_span_is_never_empty_or_backward(start, stop):
    with pytest.raises(ValueError, match="start < stop"):
        TextSpan(start=start, stop=stop)


def test_a_token_span_is_never_empty():
    with pytest.raises(ValueError, match="at least one"):
        TokenSpan(mention_id="cat", encoder_id="text_encoder", indices=())
