"""Intervals hold what textbooks and common sense say of them."""

import pytest

from tests.performance.intervals import bootstrap, ratio, wilson


def test_the_wilson_interval_agrees_with_the_textbook():
    half, none = wilson(5, 10), wilson(0, 10)
    assert (half.low, half.high) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert (none.low, none.high) == pytest.approx((0.0, 0.2775), abs=1e-4)


def test_no_trials_give_the_full_interval():
    assert wilson(0, 0).percent == "0.0 [0.0, 100.0]"


def test_a_bootstrap_of_equal_groups_has_zero_width():
    assert bootstrap(ratio, [(3, 4)] * 20).percent == "75.0 [75.0, 75.0]"


def test_a_bootstrap_of_many_single_trials_is_like_wilson():
    resampled, exact = bootstrap(ratio, [(n % 2, 1) for n in range(400)]), wilson(200, 400)
    assert (resampled.low, resampled.high) == pytest.approx((exact.low, exact.high), abs=0.01)
