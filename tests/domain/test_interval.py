from math import inf, isnan, nan

import pytest

from spatialstudio.domain.interval import (
    Interval,
    IntervalMethod,
    decimals_of,
    no_interval,
    without_equal_bounds,
)


def test_an_interval_reads_as_a_figure_with_its_bounds():
    found = Interval(value=0.6316, low=0.5, high=0.75, n=20, method=IntervalMethod.T)
    assert found.text == "0.632 [0.500, 0.750]"


def test_a_figure_without_bounds_says_why():
    found = Interval(value=0.5, low=nan, high=nan, n=1, method=IntervalMethod.T)
    assert found.text == "0.500 (no interval: n < 2)"


def test_a_single_prompt_has_no_interval_over_prompts():
    method = IntervalMethod.CLUSTER_BOOTSTRAP
    found = Interval(value=0.5, low=nan, high=nan, n=4, method=method)
    assert found.text == "0.500 (no interval: one prompt)"


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (0.62, -0.0001, 1.0, "0.620 [0.000, 1.000]"),
        (5.3, 4.25, 12.5, "5.30 [4.25, 12.50]"),
        (150.0, 100.0, 1200.0, "150 [100, 1200]"),
        (0.002, 0.00123, 0.0031, "0.00200 [0.00123, 0.00310]"),
    ],
)
def test_a_figure_and_its_bounds_have_equal_decimals(value, low, high, text):
    found = Interval(value=value, low=low, high=high, n=9, method=IntervalMethod.T)
    assert found.text == text


@pytest.mark.parametrize("high", [1.0, 1.0 + 4e-16])
def test_equal_values_have_no_interval(high):
    method = IntervalMethod.CLUSTER_BOOTSTRAP
    found = without_equal_bounds(Interval(value=1, low=1, high=high, n=4, method=method))
    assert found.text == "1.000 (no interval: equal values)"
    assert isnan(found.high)


def test_bounds_that_differ_or_are_missing_are_kept():
    for low, high in ((0.9, 1.0), (nan, nan)):
        found = Interval(value=1, low=low, high=high, n=1, method=IntervalMethod.T)
        assert without_equal_bounds(found) is found


def test_no_values_have_a_dash():
    assert no_interval(IntervalMethod.T, missing=3).text == "-"


def test_the_text_of_no_values_can_be_chosen():
    missing = no_interval(IntervalMethod.CLUSTER_BOOTSTRAP, missing=3)
    assert missing.in_decimals(2, "undefined") == "undefined"


def test_values_that_are_not_finite_are_shown():
    found = Interval(value=inf, low=nan, high=nan, n=2, method=IntervalMethod.T)
    assert found.text == "inf (no interval)"


def test_a_rounding_error_is_shown_as_zero():
    found = Interval(value=1.7e-17, low=-0.3, high=0.3, n=9, method=IntervalMethod.BOOTSTRAP)
    assert found.text == "0.000 [-0.300, 0.300]"


def test_the_figures_of_a_column_have_equal_decimals():
    first, second = (
        Interval(value=value, low=low, high=high, n=2, method=IntervalMethod.T)
        for value, low, high in ((6.427, 4.441, 8.413), (6.6, 0.0, 13.23))
    )
    decimals = decimals_of((first, second, no_interval(IntervalMethod.T, missing=1)))
    assert first.in_decimals(decimals) == "6.43 [4.44, 8.41]"
    assert second.in_decimals(decimals) == "6.60 [0.00, 13.23]"
