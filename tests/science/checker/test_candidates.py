import pytest

from spatialstudio.domain.verdict import RECOMMENDED, REPRODUCE
from spatialstudio.science.checker.measurement import candidates_of
from tests.science.seen_things import perception, seen


def found(*dogs, settings=REPRODUCE):
    return candidates_of("dog", perception(*dogs), settings)


def test_the_highest_score_above_the_minimum_area_is_chosen():
    tiny, large = seen("dog", 20, 50, 0.9, size=5), seen("dog", 60, 50, 0.5)
    assert found(tiny, large).chosen is large


def test_the_first_of_equal_scores_is_chosen():
    first, second = seen("dog", 20, 50), seen("dog", 60, 50)
    assert found(first, second).chosen is first


def test_low_scores_alone_leave_no_candidate():
    assert found(seen("dog", 20, 50, 0.1)).chosen is None
    assert not found().are_ambiguous


def test_rivals_have_nearly_the_highest_score():
    first, near, far = (
        seen("dog", 20 * n, 50, score) for n, score in ((1, 0.9), (2, 0.85), (3, 0.7))
    )
    assert found(far, near, first).rivals == (first, near)


@pytest.mark.parametrize(
    ("inner", "count"),
    [(seen("dog", 50, 50, 0.85, size=36), 1), (seen("dog", 60, 50, 0.85, size=36), 2)],
    ids=["inside", "partly outside"],
)
def test_a_box_within_one_of_higher_score_is_a_duplicate(inner, count):
    dogs = seen("dog", 50, 50, 0.9, size=40), inner
    assert len(found(*dogs, settings=RECOMMENDED).rivals) == count
    assert len(found(*dogs).rivals) == 2
