import numpy as np
import pytest

from spatialstudio.adapters.perception.architectures.grounding_dino import (
    query_for,
    scores_of_heads,
    tokens_of,
)
from spatialstudio.domain.scene import TextSpan

OFFSETS = [(0, 0), (0, 1), (2, 6), (7, 14), (14, 15), (16, 17), (18, 21), (21, 22), (0, 0)]
"""Of "a fire hydrant. a dog." with a token a word and a mark at each end."""


def test_the_query_equals_the_benchmark_and_has_the_span_of_each_name():
    query = query_for(["fire hydrant", "Dog"])
    assert query.text == "a fire hydrant. a dog."
    assert [span.of(query.text) for span in query.spans] == ["fire hydrant", "dog"]


@pytest.mark.parametrize(
    ("start", "stop", "expected"), [(2, 14, [2, 3]), (18, 21, [6]), (0, 1, [1])]
)
def test_a_name_has_the_tokens_that_share_its_letters(start, stop, expected):
    assert tokens_of(TextSpan(start=start, stop=stop), OFFSETS) == expected


def test_a_box_that_matches_half_a_name_has_the_full_name():
    query = query_for(["fire hydrant", "dog"])
    scores = np.zeros((2, 9), np.float32)
    scores[0, 2] = 0.6  # "fire" alone
    scores[1, [4, 6]] = (0.9, 0.5)  # the full stop, and "dog"
    np.testing.assert_allclose(scores_of_heads(scores, query, OFFSETS), [[0.6, 0], [0, 0.5]])


def test_a_name_that_was_cut_off_is_never_found():
    scores = np.ones((1, 4), np.float32)
    assert scores_of_heads(scores, query_for(["fire hydrant", "dog"]), OFFSETS[:4])[0, 1] == 0


def test_a_name_of_several_word_pieces_is_one_name(made, picture, mentions):
    seen = made("grounding-dino").detect(picture, mentions)
    assert {found.label for found in seen.detections} <= {"teddy bear", "dog"}
