import json
from math import isnan, nan
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from spatialstudio.science.statistics.intervals import mean_bootstrap
from spatialstudio.science.statistics.paired import (
    exact_p,
    holm,
    mcnemar,
    paired_difference,
    paired_values,
)

GOLDEN = json.loads(
    (Path(__file__).parents[2] / "golden" / "statistics.json").read_text(encoding="utf-8")
)


def outcomes(table):
    """The outcomes of two methods with a table of joint counts."""
    (both, only_first), (only_second, neither) = table
    first = [1] * (both + only_first) + [0] * (only_second + neither)
    second = [1] * both + [0] * only_first + [1] * only_second + [0] * neither
    return first, second


@pytest.mark.parametrize("golden", GOLDEN["mcnemar"], ids=lambda golden: str(golden["table"]))
def test_mcnemar_agrees_with_statsmodels(golden):
    found = mcnemar(*outcomes(golden["table"]))
    assert [[found.both, found.only_first], [found.only_second, found.neither]] == golden["table"]
    assert found.exact_p == pytest.approx(golden["exact_p"], rel=1e-9, abs=1e-12)
    assert found.chi_square == pytest.approx(golden["chi_square"], rel=1e-9)
    assert found.chi_square_p == pytest.approx(golden["chi_square_p"], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("golden", GOLDEN["holm"], ids=lambda golden: str(len(golden["p"])))
def test_holm_agrees_with_statsmodels(golden):
    assert holm(golden["p"]) == pytest.approx(golden["adjusted"], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("fewer", "more"), [(0, 7), (3, 3), (12, 40), (1000, 1100)])
def test_the_exact_p_value_agrees_with_the_binomial_test(fewer, more):
    expected = stats.binomtest(fewer, fewer + more).pvalue
    assert exact_p(fewer, more) == exact_p(more, fewer) == pytest.approx(expected, rel=1e-9)


def test_equal_numbers_of_discordant_items_are_no_difference():
    found = mcnemar(*outcomes([[5, 4], [4, 5]]))
    assert (found.exact_p, found.chi_square, found.chi_square_p) == (1, 0, 1)


def test_items_without_both_outcomes_are_missing():
    found = mcnemar([1, nan, 0, 1], [0, 1, nan, 0])
    assert (found.only_first, found.missing) == (2, 2)
    assert found.exact_p == 0.5


def test_no_items_are_no_difference():
    found = mcnemar([], [])
    assert (found.exact_p, found.chi_square_p, found.missing) == (1, 1, 0)


def test_tests_that_were_not_made_do_not_count_in_holms_correction():
    found = holm([0.01, nan, 0.04])
    assert (found[0], found[2]) == pytest.approx((0.02, 0.04))
    assert isnan(found[1])


def test_pairs_are_matched_by_key():
    first = {("a cat", 0): 0.2, ("a cat", 1): 0.4}
    second = {("a cat", 1): 0.7, ("a dog", 0): 0.9}
    one, other, keys = paired_values(first, second)
    assert keys == (("a cat", 0), ("a cat", 1), ("a dog", 0))
    np.testing.assert_array_equal(one, [0.2, 0.4, nan])
    np.testing.assert_array_equal(other, [nan, 0.7, 0.9])


def test_a_paired_difference_is_the_second_minus_the_first():
    first, second = [0.1, 0.5, nan, 0.3], [0.2, 0.9, 0.4, 0.2]
    found = paired_difference(first, second, seed=8)
    expected = mean_bootstrap([0.1, 0.4, -0.1], seed=8)
    assert found.value == pytest.approx(0.4 / 3)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert (found.n, found.missing, found.seed) == (3, 1, 8)


def test_pairs_have_a_narrower_interval_than_the_spread_of_their_prompts():
    rng = np.random.default_rng(2)
    first = rng.normal(0, 5, 60)
    found = paired_difference(first, first + rng.normal(1, 0.1, 60))
    assert found.high - found.low < 0.1
    assert found.low < 1 < found.high


def test_pairs_of_a_prompt_can_be_resampled_together():
    first, second = np.zeros(40), np.repeat([0.0, 1.0, 0.0, 1.0], 10)
    prompts = np.repeat(["a", "b", "c", "d"], 10).tolist()
    found = paired_difference(first, second, clusters=prompts)
    single = paired_difference(first, second)
    assert found.high - found.low > 2 * (single.high - single.low)
