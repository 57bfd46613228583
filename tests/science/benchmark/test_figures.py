"""Figures of methods and comparisons."""

import random
from itertools import combinations
from math import nan

import pytest

from spatialstudio.domain.benchmark import BenchmarkItem, ScoredSample
from spatialstudio.domain.scene import LEFT_OF, RIGHT_OF
from spatialstudio.domain.verdict import Outcome
from spatialstudio.science.benchmark.figures import (
    best_of,
    compare,
    order_bias,
    pass_rate_by_prompt,
    rates_by,
    rates_of,
    reasons_of,
    scaling_curve,
)

PASS, FAIL, UNDECIDABLE = Outcome.PASS, Outcome.FAIL, Outcome.UNDECIDABLE


def sample(outcome, seed=0, kind=LEFT_OF, subject="dog", other="car", reason=""):
    item = BenchmarkItem(
        id=f"{subject} {kind.id} {other}",
        prompt="",
        relation_type=kind,
        subject=subject,
        object=other,
    )
    return ScoredSample(item=item, seed=seed, outcome=outcome, confidence=0.5, reason=reason)


def test_rates_over_all_count_abstentions_and_errors_as_not_passed():
    rates = rates_of([PASS, PASS, FAIL, UNDECIDABLE, None])

    assert rates.pass_all.value == pytest.approx(2 / 5)
    assert rates.pass_decided.value == pytest.approx(2 / 3)
    assert rates.coverage.value == pytest.approx(3 / 5)
    assert rates.pass_all.low < 2 / 5 < rates.pass_all.high


def test_a_sample_may_count_in_several_groups():
    samples = [sample(PASS), sample(FAIL, other="cat")]

    rates = rates_by(samples, lambda each: (each.item.subject, each.item.object))

    assert {name: own.counts.total for name, own in rates.items()} == {"dog": 2, "car": 1, "cat": 1}


def test_reasons_are_counted_for_abstentions_only():
    samples = [sample(UNDECIDABLE, reason="missing")] * 2 + [sample(PASS)]

    assert reasons_of(samples) == {"missing": 2}


def test_order_bias_is_the_difference_within_counterfactual_pairs():
    samples = [
        each
        for seed in range(10)
        for each in (
            sample(PASS, seed),
            sample(PASS if seed < 4 else FAIL, seed, RIGHT_OF, "car", "dog"),
        )
    ]

    bias = order_bias(samples)

    assert bias.difference.value == pytest.approx(0.6)
    assert (bias.test.only_first, bias.test.only_second) == (6, 0)


def test_without_counterfactual_pairs_there_is_no_order_bias():
    assert order_bias([sample(PASS)]) is None


def test_methods_are_compared_on_shared_items_with_holms_correction():
    keys = [(f"p{n}", 0) for n in range(12)]
    methods = {
        "a": dict.fromkeys(keys, 0.0),
        "b": {key: float(n < 8) for n, key in enumerate(keys)},
        "c": {key: float(n < 6) for n, key in enumerate(keys[:10])},
    }

    first, second, third = compare(methods, "pass", is_yes_no=True)

    assert (first.first, first.second) == ("a", "b")
    assert first.difference.value == pytest.approx(8 / 12)
    assert first.test.exact_p == pytest.approx(2 / 2**8)
    assert first.adjusted_p == pytest.approx(3 * 2 / 2**8)
    assert second.adjusted_p == pytest.approx(2 * 2 / 2**6)
    assert (third.difference.n, third.difference.missing) == (10, 2)


def test_the_best_of_n_is_the_mean_over_all_choices_of_n():
    values = [0.1, 0.9, 0.4, 0.4]

    for n in (1, 2, 3, 4):
        choices = [max(chosen) for chosen in combinations(values, n)]
        assert best_of(n, values) == pytest.approx(sum(choices) / len(choices))


def test_the_scaling_curve_rises_and_ends_at_the_fewest_seeds():
    values = {("a", seed): seed / 10 for seed in range(8)} | {("b", seed): 0.5 for seed in range(5)}

    curve = scaling_curve(values)

    assert list(curve) == [1, 2, 4]
    assert curve[1].value == pytest.approx((0.35 + 0.5) / 2)
    assert curve[1].value < curve[2].value < curve[4].value
    assert scaling_curve(dict(reversed(values.items()))) == curve
    assert scaling_curve({}) == {}


def bounds(interval):
    return interval.value, interval.low, interval.high


def figures_of(chance, order):
    """Return figures with bootstrap bounds on drawn outcomes, given in an order of prompts."""
    outcomes = [
        [(chance.choice((PASS, FAIL, UNDECIDABLE)), chance.random()) for _ in range(8)]
        for _ in range(20)
    ]
    samples, methods = [], {"a": {}, "b": {}}
    for prompt in order:
        for seed, (outcome, value) in enumerate(outcomes[prompt]):
            kind, *names = (
                (LEFT_OF, f"n{prompt}", "car") if seed < 4 else (RIGHT_OF, "car", f"n{prompt}")
            )
            samples.append(sample(outcome, seed % 4, kind, *names))
            key = (f"p{order.index(prompt)}", seed % 4)
            is_missing = prompt == 3 and seed == 1
            methods["a" if seed < 4 else "b"][key] = nan if is_missing else value
    (compared,) = compare(methods, "pse", is_yes_no=False)
    curve = scaling_curve(methods["b"])
    intervals = (pass_rate_by_prompt(samples), order_bias(samples).difference, compared.difference)
    return [each for one in (*intervals, *curve.values()) for each in bounds(one)]


@pytest.mark.parametrize("seed", range(5))
def test_bootstrap_bounds_depend_on_no_order_and_no_name_of_prompts(seed):
    order = list(range(20))
    expected = figures_of(random.Random(seed), order)
    random.Random(seed + 100).shuffle(order)
    assert figures_of(random.Random(seed), order) == pytest.approx(expected, abs=1e-12)
