import json
from math import isnan, nan
from pathlib import Path

import numpy as np
import pytest

from spatialstudio.domain.interval import IntervalMethod
from spatialstudio.science.statistics import intervals
from spatialstudio.science.statistics.intervals import (
    cluster_bootstrap,
    figure_bootstrap,
    mean_bootstrap,
    mean_t,
    share_interval,
    wilson_bounds,
)

GOLDEN = json.loads(
    (Path(__file__).parents[2] / "golden" / "statistics.json").read_text(encoding="utf-8")
)
RESAMPLES = GOLDEN["resamples"]
EXACT = {"rel": 1e-9, "abs": 1e-12}


def bounds(interval):
    return (interval.low, interval.high)


@pytest.mark.parametrize("golden", GOLDEN["wilson"], ids=lambda golden: str(golden["case"]))
def test_wilson_bounds_agree_with_statsmodels(golden):
    successes, trials, level = golden["case"]
    found = share_interval(successes, trials, level=level)
    assert bounds(found) == pytest.approx(golden["bounds"], **EXACT)


@pytest.mark.parametrize("golden", GOLDEN["t"], ids=lambda golden: str(len(golden["values"])))
def test_t_intervals_agree_with_statsmodels(golden):
    found = mean_t(golden["values"], golden["level"])
    assert bounds(found) == pytest.approx(golden["bounds"], **EXACT)


@pytest.mark.parametrize(
    "golden", GOLDEN["bootstrap"], ids=lambda golden: str(len(golden["values"]))
)
def test_bootstrap_intervals_agree_with_scipy_on_the_same_draws(golden):
    found = mean_bootstrap(golden["values"], seed=golden["seed"], resamples=RESAMPLES)
    assert bounds(found) == pytest.approx(golden["bounds"], **EXACT)
    assert found.seed == golden["seed"]


@pytest.mark.parametrize(
    "golden", GOLDEN["cluster_bootstrap"], ids=lambda golden: str(len(golden["values"]))
)
def test_cluster_bootstraps_agree_with_scipy_on_sums_and_counts(golden):
    found = cluster_bootstrap(
        golden["values"], golden["labels"], seed=golden["seed"], resamples=RESAMPLES
    )
    assert bounds(found) == pytest.approx(golden["bounds"], **EXACT)


def test_wilson_bounds_of_an_array_are_those_of_its_elements():
    low, high = wilson_bounds([[0, 5], [7, 0]], [[10, 10], [7, 0]])
    single = share_interval(5, 10)
    assert (low[0, 1], high[0, 1]) == bounds(single)
    assert (low[1, 1], high[1, 1]) == (0, 1)
    assert (low[0, 0], high[1, 0]) == (0, 1)


def test_more_successes_than_trials_are_rejected():
    with pytest.raises(ValueError, match="successes"):
        wilson_bounds([3], [2])


def test_missing_values_are_counted_and_change_no_figure():
    values = [1.0, nan, 2.0, 4.0, nan]
    with_gaps, without = mean_t(values), mean_t([1.0, 2.0, 4.0])
    assert (with_gaps.n, with_gaps.missing) == (3, 2)
    assert (with_gaps.value, *bounds(with_gaps)) == (without.value, *bounds(without))


def test_missing_values_do_not_change_the_draws_of_a_bootstrap():
    with_gap = cluster_bootstrap([1.0, nan, 2.0, 4.0], ["a", "a", "b", "c"])
    assert bounds(with_gap) == bounds(cluster_bootstrap([1.0, 2.0, 4.0], ["a", "b", "c"]))
    assert with_gap.missing == 1


@pytest.mark.parametrize("mean", [mean_t, mean_bootstrap], ids=["t", "bootstrap"])
def test_a_single_value_has_no_bounds(mean):
    found = mean([0.5])
    assert found.value == 0.5
    assert isnan(found.low)
    assert isnan(found.high)
    assert found.text == "0.500 (no interval: n < 2)"


@pytest.mark.parametrize("mean", [mean_t, mean_bootstrap], ids=["t", "bootstrap"])
def test_no_values_have_no_mean(mean):
    found = mean([nan, nan])
    assert isnan(found.value)
    assert (found.n, found.missing, found.text) == (0, 2, "-")


def test_a_single_prompt_has_no_cluster_interval():
    found = cluster_bootstrap([0.1, 0.2, 0.3], ["a", "a", "a"])
    assert found.value == pytest.approx(0.2)
    assert isnan(found.low)


def test_equal_values_of_a_prompt_widen_the_interval_of_a_cluster_bootstrap():
    values = np.repeat([0.0, 0.4, 1.0, 0.6, 0.2], 20)
    clustered = cluster_bootstrap(values, np.repeat(range(5), 20).tolist())
    single = mean_bootstrap(values)
    assert clustered.high - clustered.low > 3 * (single.high - single.low)


def test_the_seed_decides_a_bootstrap(monkeypatch):
    values = np.linspace(0, 1, 50) ** 2
    first = mean_bootstrap(values, seed=3, resamples=1000)
    monkeypatch.setattr(intervals, "BLOCK", 170)  # three samples at a time
    assert mean_bootstrap(values, seed=3, resamples=1000) == first
    assert mean_bootstrap(values, seed=4, resamples=1000) != first


def test_the_interval_of_a_share_states_its_method():
    found = share_interval(0, 0, missing=4)
    assert isnan(found.value)
    assert (*bounds(found), found.missing, found.method) == (0, 1, 4, IntervalMethod.WILSON)


def test_values_of_two_axes_are_rejected():
    with pytest.raises(ValueError, match="2 axes"):
        mean_t([[1.0, 2.0]])


def test_a_cluster_for_each_value_is_required():
    with pytest.raises(ValueError, match="cluster"):
        cluster_bootstrap([1.0, 2.0], ["a"])


def test_a_t_interval_covers_the_mean_of_normal_values_as_often_as_stated():
    rng = np.random.default_rng(5)
    found = [mean_t(rng.normal(1, 1, 5), 0.9) for _ in range(2000)]
    covered = np.mean([each.low <= 1 <= each.high for each in found])
    assert covered == pytest.approx(0.9, abs=0.025)


def test_the_bootstrap_of_any_figure_equals_that_of_the_mean():
    values = np.random.default_rng(5).random(40)
    found = figure_bootstrap(40, lambda drawn: float(values[drawn].mean()), seed=3, resamples=500)
    expected = mean_bootstrap(values, seed=3, resamples=500)
    assert (found.value, found.low, found.high) == pytest.approx(
        (expected.value, expected.low, expected.high), abs=1e-12
    )


def test_an_undefined_figure_has_no_interval():
    assert isnan(figure_bootstrap(3, lambda drawn: None).value)
    assert isnan(figure_bootstrap(0, lambda drawn: 1.0).value)


def test_undefined_samples_do_not_enter_the_bounds():
    found = figure_bootstrap(4, lambda drawn: 1.0 if 0 in drawn else None, resamples=50)
    assert (found.value, found.low, found.high) == (1, 1, 1)


def test_bounds_of_the_mean_are_cut_to_the_range_of_the_values():
    values = [0.0, 0.0, 0.0, 0.9]
    usual, cut = mean_t(values), mean_t(values, within=(0.0, 1.0))
    assert usual.low < 0
    assert (cut.low, cut.high) == (0.0, pytest.approx(min(usual.high, 1.0)))
    assert np.isnan(mean_t([0.5], within=(0.0, 1.0)).low)
