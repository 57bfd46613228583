import pytest

from spatialstudio.domain.scene import (
    ABOVE,
    ABOVE_LEFT_OF,
    BELOW,
    LEFT_OF,
    RIGHT_OF,
)
from spatialstudio.domain.verdict import Box
from spatialstudio.science.metrics.visor import (
    MENDED,
    VisorPicture,
    visor_picture,
    visor_scores,
)


def at(x, y):
    return Box(left=x - 2, top=y - 2, right=x + 2, bottom=y + 2)


def picture(prompt_id, has_both=True, is_correct=False):
    return VisorPicture(prompt_id=prompt_id, has_both=has_both, is_correct=is_correct)


@pytest.mark.parametrize(
    ("relation_type", "is_correct"),
    [(LEFT_OF, True), (RIGHT_OF, False), (ABOVE, False), (BELOW, True), (ABOVE_LEFT_OF, False)],
    ids=lambda value: getattr(value, "id", value),
)
def test_centres_decide(relation_type, is_correct):
    judged = visor_picture("p", relation_type, [at(10, 30)], [at(20, 20)])
    assert judged == picture("p", is_correct=is_correct)


@pytest.mark.parametrize("relation_type", [LEFT_OF, RIGHT_OF], ids=lambda known: known.id)
def test_centres_on_one_line_are_neither_left_nor_right(relation_type):
    assert not visor_picture("p", relation_type, [at(10, 30)], [at(10, 20)]).is_correct


def test_one_pair_of_instances_is_enough():
    subjects, others = [at(50, 20), at(10, 20)], [at(5, 20), at(12, 20)]
    assert visor_picture("p", LEFT_OF, subjects, others).is_correct


def test_the_pair_of_highest_score_can_be_used_instead():
    subjects, others = [at(50, 20), at(10, 20)], [at(5, 20), at(12, 20)]
    assert not visor_picture("p", LEFT_OF, subjects, others, MENDED).is_correct


@pytest.mark.parametrize(
    ("subjects", "others"),
    [([], [at(10, 10)]), ([at(10, 10)], []), ([], [])],
    ids=["no subject", "no object", "neither"],
)
def test_a_missing_object_is_incorrect(subjects, others):
    assert visor_picture("p", LEFT_OF, subjects, others) == picture("p", has_both=False)


@pytest.fixture
def pictures():
    """Three prompts with two, one and no correct pictures of two; both objects in five of six."""
    return [
        picture("one", is_correct=True),
        picture("one", is_correct=True),
        picture("two", is_correct=True),
        picture("two"),
        picture("three"),
        picture("three", has_both=False),
    ]


def test_missing_objects_count_against_the_unconditional_score_only(pictures):
    scores = visor_scores(pictures)
    assert scores.object_accuracy == pytest.approx(5 / 6)
    assert scores.unconditional == pytest.approx(3 / 6)
    assert scores.conditional == pytest.approx(3 / 5)


def test_visor_n_counts_prompts_with_n_correct_pictures(pictures):
    assert visor_scores(pictures, 3).at_least == pytest.approx((2 / 3, 1 / 3, 0))


def test_without_any_pair_the_conditional_score_is_missing():
    scores = visor_scores([picture("p", has_both=False)])
    assert scores.conditional is None
    assert scores.unconditional == 0
