"""The rules of Evaluate-and-Refine, against decisions computed by hand."""

from dataclasses import replace
from math import log

import pytest

from spatialstudio.domain.assertion import (
    DA_RECOMMENDED,
    Assertion,
    AssertionId,
    Assertions,
    QuestionAnswer,
    YesNoChances,
)
from spatialstudio.domain.refinement import REFINE_PUBLISHED, REFINE_RECOMMENDED, UpdateOrder
from spatialstudio.science.questions.da_score import score_again, score_answers
from spatialstudio.science.refine.update_loop import (
    RoundScore,
    attention_coefficient,
    best_round,
    first_weights,
    is_enough,
    mean_score,
    replay,
    round_score,
    text_factor,
    updated_place,
    updated_weights,
)

PAPER, CODE = REFINE_RECOMMENDED, REFINE_PUBLISHED

RECORDED = (
    mean_score((0.9, 0.6, 0.3)),  # mean 0.6
    mean_score((0.8, 0.7, 0.6)),  # mean 0.7
    mean_score((0.9, 0.5, 0.7)),  # mean 0.7
    mean_score((0.9, 0.74, 0.8)),  # mean 0.8133
    mean_score((0.6, 0.8, 0.9)),  # mean 0.7667
    mean_score((1.0, 1.0, 1.0)),
)


@pytest.mark.parametrize(
    ("rules", "weights"),
    [
        # lowest: 0.3 (third), 0.6 (third), 0.5 (second), 0.74 (second)
        (PAPER, ((1, 1, 1), (1, 1, 2), (1, 1, 3), (1, 2, 3), (1, 3, 3))),
        # first below 0.75: 0.6, 0.7, 0.5 and 0.74 are all the second
        (CODE, ((1, 1, 1), (1, 2, 1), (1, 3, 1), (1, 4, 1), (1, 5, 1))),
    ],
    ids=["paper", "code"],
)
def test_five_rounds_raise_one_weight_each_and_the_highest_mean_is_kept(rules, weights):
    found = replay(RECORDED, rules)

    assert found.weights == weights
    assert found.is_ended
    assert found.best == 3


def test_the_code_raises_the_first_below_the_threshold_and_the_paper_the_lowest():
    scores = (0.8, 0.7, 0.1)

    assert updated_place(scores, CODE) == 1
    assert updated_place(scores, PAPER) == 2


def test_a_relation_waits_for_its_objects_except_in_the_published_code():
    dog, car, relation = (), (), (0, 2)
    objects = (dog, relation, car)

    assert updated_place((0.9, 0.2, 0.3), PAPER, objects) == 2
    assert updated_place((0.9, 0.2, 0.8), PAPER, objects) == 1
    assert updated_place((0.9, 0.2, 0.3), CODE, objects) == 1


def test_of_equal_scores_the_first_rises():
    assert updated_place((0.9, 0.4, 0.4), PAPER) == 1


def test_an_assertion_without_an_answer_does_not_rise():
    assert updated_place((None, 0.9, 0.2), CODE) == 2
    assert updated_weights((1.0, 1.0, 1.0), (None, 0.3, 0.5), PAPER) == (1.0, 2.0, 1.0)


@pytest.mark.parametrize(
    ("each", "ends"),
    [
        ((1.0, 0.71), True),  # mean 0.855
        ((1.0, 0.7), False),  # mean 0.85 is not above the threshold
        ((0.75, 0.75), True),
        ((0.75, 0.74), False),
        ((0.76, None), True),
        ((None, None), True),
    ],
    ids=["mean", "mean-at-threshold", "each", "one-below", "unanswered", "no-answers"],
)
def test_the_loop_ends_at_a_mean_above_85_or_when_every_score_reaches_75(each, ends):
    assert is_enough(mean_score(each), CODE) is ends


def test_rounds_after_the_end_are_ignored():
    rounds = (mean_score((0.5, 0.9)), mean_score((0.8, 0.8)), mean_score((1.0, 1.0)))

    found = replay(rounds, PAPER)

    assert found.weights == ((1, 1), (2, 1))
    assert found.is_ended
    assert found.best == 1


def test_a_loop_that_was_interrupted_has_not_ended():
    found = replay(RECORDED[:2], PAPER)

    assert not found.is_ended
    assert found.best == 1


def test_without_rounds_there_is_no_choice():
    found = replay((), PAPER)

    assert (found.weights, found.is_ended, found.best) == ((), False, None)


def test_of_equal_means_the_first_round_is_kept():
    assert best_round([0.2, 0.7, None, 0.7]) == 1


def test_the_mean_of_the_da_score_counts_where_assertions_are_weighted():
    weighted = RoundScore(0.9, (0.2, 1.0))

    assert is_enough(weighted, PAPER)


@pytest.mark.parametrize(
    ("weight", "code", "corrected"),
    [(1, 1, 1), (2, 1.21, 1.1), (3, 1.331, 1.21), (4, 1.4641, 1.331), (5, 1.61051, 1.4641)],
)
def test_the_first_increase_of_the_published_weights_jumps_to_1_21(weight, code, corrected):
    assert text_factor(weight, CODE) == pytest.approx(code)
    assert text_factor(weight, PAPER) == pytest.approx(corrected)


def test_coefficients_of_presence_are_0_in_the_first_round():
    assert [attention_coefficient(weight) for weight in first_weights(2)] == [0, 0]
    assert attention_coefficient(3.0) == 2


def test_a_larger_step_raises_weights_faster():
    assert updated_weights((1.0,), (0.1,), replace(PAPER, step=0.5)) == (1.5,)


def test_another_temperature_changes_the_decisions_of_stored_answers():
    names = ("cat", "dog")
    assertions = Assertions(
        items=tuple(Assertion(id=AssertionId(n), text=n, question=f"{n}?") for n in names),
        source_id="scene",
    )
    answers = [
        QuestionAnswer(chances=YesNoChances(log_yes=log(yes), log_no=log(1 - yes)))
        for yes in (0.9, 0.7)
    ]
    score = score_answers(assertions, answers, "blip")

    # with temperature 2 the odds 9 and 7/3 become their roots: 3/4 and 0.6044
    warm = round_score(score_again(score, replace(DA_RECOMMENDED, temperature=2.0)))
    # with temperature 0.5 they become their squares: 81/82 and 49/58
    cold = round_score(score_again(score, replace(DA_RECOMMENDED, temperature=0.5)))

    assert warm.each == pytest.approx((0.75, 0.60436), abs=1e-4)
    assert cold.each == pytest.approx((81 / 82, 49 / 58))
    assert not replay([warm], replace(PAPER, order=UpdateOrder.FIRST)).is_ended
    assert replay([cold], PAPER).is_ended
