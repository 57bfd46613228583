"""SciPy gives the references; the golden area is scikit-learn 1.9.1's

roc_auc_score(right, confidence)  # of calibration_data in test_calibration.py
"""

import random

import numpy as np
import pytest
from scipy import stats

from spatialstudio.science.statistics.correlation import (
    Objective,
    area_under_roc,
    best_threshold,
    binary_figures,
    kendall_tau_b,
    mean_ranks,
    pairwise_accuracy,
    pearson,
    preference_accuracy,
    spearman,
)
from spatialstudio.science.statistics.intervals import figures_bootstrap
from tests.science.statistics.calibration_data import calibration_data

FIGURES = [
    pytest.param(pearson, stats.pearsonr, id="Pearson"),
    pytest.param(spearman, stats.spearmanr, id="Spearman"),
    pytest.param(kendall_tau_b, stats.kendalltau, id="Kendall"),
]


def related(count, places, seed):
    chance = random.Random(seed)
    first = [round(chance.random(), places) for _ in range(count)]
    second = [round(value + chance.gauss(0, 0.4), places) for value in first]
    return np.array(first), np.array(second)


@pytest.mark.parametrize(("figure", "reference"), FIGURES)
@pytest.mark.parametrize("places", [1, 6], ids=["many ties", "no ties"])
@pytest.mark.parametrize("count", [2, 3, 50, 501])
def test_correlations_equal_scipy(figure, reference, places, count):
    first, second = related(count, places, count)
    assert figure(first, second) == pytest.approx(reference(first, second)[0], abs=1e-12)


@pytest.mark.parametrize(("figure", "reference"), FIGURES)
def test_intervals_equal_those_of_scipy_on_the_same_draws(figure, reference):
    first, second = related(60, 1, 9)
    (found,) = figures_bootstrap(60, lambda row: (figure(first[row], second[row]),), resamples=100)
    draws = np.random.default_rng(0).integers(0, 60, (100, 60))
    values = [reference(first[row], second[row])[0] for row in draws]
    expected = np.quantile(values, [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=1e-9)


@pytest.mark.parametrize("figure", [pearson, spearman, kendall_tau_b])
def test_a_correlation_is_undefined_without_variation(figure):
    assert figure(np.ones(3), np.arange(3.0)) is None
    assert figure(np.ones(1), np.ones(1)) is None
    assert figure(np.array([]), np.array([])) is None


@pytest.mark.parametrize("figure", [pearson, spearman, kendall_tau_b])
def test_a_reversed_order_turns_the_sign(figure):
    first, second = related(40, 2, 1)
    assert figure(first, -second) == pytest.approx(-figure(first, second))


def test_ties_share_the_mean_of_their_ranks():
    assert mean_ranks(np.array([3.0, 1.0, 3.0, 2.0])).tolist() == [3.5, 1, 3.5, 2]


def test_pairwise_accuracy_leaves_out_ties_of_people_and_halves_those_of_the_metric():
    metric, human = related(60, 1, 5)
    agreed = judged = 0.0
    for one in range(60):
        for other in range(one):
            by_human = np.sign(human[one] - human[other])
            judged += by_human != 0
            by_metric = np.sign(metric[one] - metric[other])
            agreed += (by_human != 0) * ((by_metric == by_human) + (by_metric == 0) / 2)
    assert pairwise_accuracy(metric, human) == pytest.approx(agreed / judged)
    assert pairwise_accuracy(metric, np.ones(60)) is None


def test_preferences_count_as_predicted_by_the_higher_score():
    first, second = np.array([0.9, 0.2, 0.5, 0.1]), np.array([0.1, 0.4, 0.5, 0.3])
    prefers_first = np.array([True, True, False, False])
    assert preference_accuracy(first, second, prefers_first) == (1 + 0 + 0.5 + 1) / 4
    assert preference_accuracy(first[:0], second[:0], prefers_first[:0]) is None


def test_the_area_under_the_curve_equals_scikit_learn():
    confidence, right, _ = calibration_data()
    assert area_under_roc(confidence, right == 1) == pytest.approx(0.6821052631578948, abs=1e-12)
    assert area_under_roc(confidence, np.ones(len(right), bool)) is None


@pytest.mark.parametrize("objective", list(Objective))
def test_the_best_threshold_beats_all_others(objective):
    confidence, right, _ = calibration_data()
    best = best_threshold(confidence, right == 1, objective)
    others = [binary_figures(confidence, right == 1, score) for score in confidence]
    value = {
        Objective.ACCURACY: lambda row: row.accuracy,
        Objective.F1: lambda row: row.f1,
        Objective.INFORMEDNESS: lambda row: row.recall + row.specificity - 1,
    }[objective]
    assert value(best) == max(map(value, others))
    assert best_threshold(confidence[:0], right[:0] == 1) is None


def test_figures_of_a_threshold_worked_by_hand():
    scores, labels = np.array([0.9, 0.5, 0.4, 0.1]), np.array([True, False, True, False])
    figures = binary_figures(scores, labels, 0.5)
    assert (figures.true_positive, figures.false_positive) == (1, 1)
    assert (figures.true_negative, figures.false_negative) == (1, 1)
    assert (figures.precision, figures.recall, figures.specificity) == (0.5, 0.5, 0.5)
