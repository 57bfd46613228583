"""Online choice of the best of several methods."""

from math import sqrt

import numpy as np
import pytest

from spatialstudio.science.benchmark.opse import corrected, published, radius

MEANS = (0.203, 0.261, 0.659)
"""Mean PSE of the three models in Table 3 of the PoS paper."""
SIMULATIONS = 1000


def bernoulli(rng, count):
    return (rng.random((len(MEANS), count)) < np.array(MEANS)[:, None]).astype(float)


@pytest.mark.parametrize(
    ("alpha", "expected", "simulations"),
    [
        (2.0, (17, 19, 52), SIMULATIONS),
        (sqrt(2), (13, 15, 60), SIMULATIONS // 5),
        (2 / sqrt(5), (8, 10, 70), SIMULATIONS // 5),
    ],
    ids=["published", "square-root", "of-samples"],
)
def test_the_published_procedure_gives_the_pulls_of_table_3(alpha, expected, simulations):
    rng = np.random.default_rng(1)
    pulls = np.array(
        [published(bernoulli(rng, 2000), rng, alpha=alpha).pulls for _ in range(simulations)]
    )

    error = pulls.std(0) / sqrt(simulations)
    assert np.all(pulls.sum(1) == 88)
    assert np.all(np.abs(pulls.mean(0) - expected) <= 0.5 + 3 * error)  # they are whole numbers
    assert np.all(pulls.argmax(1) == 2)


def test_the_corrected_choice_errs_less_than_stated_with_fewer_samples_than_uniform():
    rng = np.random.default_rng(2)
    choices = [corrected(bernoulli(rng, 800), rng, error=0.05) for _ in range(SIMULATIONS)]

    wrong = sum(each.best != 2 for each in choices)
    used = np.array([sum(each.pulls) for each in choices])
    uniform = np.array([len(MEANS) * len(each.history) for each in choices])
    assert wrong / len(choices) <= 0.05
    assert all(each.is_certain for each in choices)
    assert used.mean() < 0.95 * uniform.mean()  # the same rule without dropping arms
    assert used.mean() < 0.3 * len(MEANS) * 800  # a full comparison


def test_close_arms_keep_the_stated_error():
    rng = np.random.default_rng(3)
    wrong = 0
    for _ in range(100):
        scores = (rng.random((2, 1000)) < np.array([[0.45], [0.55]])).astype(float)
        choice = corrected(scores, rng, error=0.05)
        wrong += choice.is_certain and choice.best == 0

    assert wrong / 100 <= 0.05


def test_equal_arms_stay_undecided():
    scores = np.tile([0.0, 1.0], (2, 100))

    choice = corrected(scores, np.random.default_rng(0))

    assert not choice.is_certain
    assert choice.pulls == (200, 200)


def test_pairs_with_constant_differences_are_told_apart_early():
    rng = np.random.default_rng(0)
    base = rng.random(1000) / 2
    paired = corrected(np.array([base, base + 0.4]), rng)
    shuffled = corrected(np.array([base, rng.permutation(base) + 0.4]), rng)

    assert (paired.best, paired.is_certain) == (1, True)
    assert sum(paired.pulls) < sum(shuffled.pulls)


def test_the_radius_shrinks_with_samples_and_grows_with_certainty():
    values = np.tile([0.0, 1.0], 500)

    assert radius(values, 0.05) < radius(values[:100], 0.05)
    assert radius(values, 0.01) > radius(values, 0.05)
    assert radius(values[:1], 0.05) > 1


def test_a_single_arm_is_the_best():
    choice = corrected(np.ones((1, 5)), np.random.default_rng(0))

    assert (choice.best, choice.pulls) == (0, (1,))
