"""Golden values: scikit-learn 1.9.1, made with ``calibration_data`` by

IsotonicRegression(out_of_bounds="clip").fit(confidence, right, weights).predict(PLACES)
brier_score_loss(right, confidence, sample_weight=weights)
calibration_curve(right, confidence, n_bins=10)  # the error from both of its results
_SigmoidCalibration().fit(confidence, right)  # stops early: to 1e-4

and statsmodels 0.15.0, with Platt's targets as outcomes, by

GLM(targets, np.column_stack([confidence, np.ones(150)]), Binomial(), var_weights=weights)
.fit(tol=1e-15)  # slope and offset are its parameters with the other sign
"""

import numpy as np
import pytest
from scipy import optimize

from spatialstudio.science.statistics.calibration import (
    IsotonicMap,
    brier_score,
    cross_calibrated,
    expected_calibration_error,
    fit_isotonic,
    fit_platt,
    folds_of,
    pool_adjacent_violators,
    reliability,
)
from tests.science.statistics.calibration_data import calibration_data

PLACES = np.array([0, 0.1, 0.25, 0.333, 0.5, 0.61, 0.75, 0.9, 1])
ISOTONIC = [0.0, *[0.527475285315211] * 3, 0.6868630846698179, *[0.837749543334819] * 3, 1.0]
CURVE_RIGHT = [
    *(0.4444444444444444, 0.6470588235294118, 0.3333333333333333, 0.42105263157894735),
    *(0.7333333333333333, 0.5833333333333334, 0.9333333333333333, 0.7692307692307693),
    *(0.7647058823529411, 0.8888888888888888),
]


def test_the_isotonic_map_equals_scikit_learn():
    fitted = fit_isotonic(*calibration_data())
    np.testing.assert_allclose(fitted(PLACES), ISOTONIC, rtol=0, atol=1e-12)


def test_the_logistic_map_is_the_minimum_that_scipy_finds():
    confidence, right, weights = calibration_data()
    hits, misses = weights @ right, weights @ (1 - right)
    targets = np.where(right == 1, (hits + 1) / (hits + 2), 1 / (misses + 2))

    def loss(parameters):
        scores = -(parameters[0] * confidence + parameters[1])
        return weights @ (np.logaddexp(0, scores) - targets * scores)

    def slope(parameters):
        scores = -(parameters[0] * confidence + parameters[1])
        error = weights * (1 / (1 + np.exp(-scores)) - targets)
        return -np.array([error @ confidence, error.sum()])

    found = optimize.root(slope, optimize.minimize(loss, [0.0, 0.0]).x, tol=1e-14).x
    fitted = fit_platt(confidence, right, weights)
    np.testing.assert_allclose([fitted.slope, fitted.offset], found, rtol=0, atol=1e-9)


def test_the_logistic_map_equals_the_weighted_regression_of_statsmodels():
    fitted = fit_platt(*calibration_data())
    expected = [-2.313705835276858, 0.38084144335484454]
    np.testing.assert_allclose([fitted.slope, fitted.offset], expected, rtol=0, atol=1e-9)


def test_the_logistic_map_is_near_the_one_of_scikit_learn():
    confidence, right, _ = calibration_data()
    fitted = fit_platt(confidence, right, np.ones_like(right))
    assert fitted.slope == pytest.approx(-2.3020103248298467, abs=1e-4)
    assert fitted.offset == pytest.approx(0.4763426613110525, abs=1e-4)


def test_separable_outcomes_have_a_finite_logistic_map():
    confidence = np.array([0.1, 0.2, 0.8, 0.9])
    fitted = fit_platt(confidence, np.array([0.0, 0, 1, 1]), np.ones(4))
    assert np.isfinite([fitted.slope, fitted.offset]).all()
    assert (np.diff(fitted(confidence)) > 0).all()


def test_pooled_values_are_the_projection_of_scipy():
    chance = np.random.default_rng(3)
    values, weights = chance.random(200), 1 + chance.random(200)
    expected = optimize.isotonic_regression(values, weights=weights).x
    np.testing.assert_allclose(pool_adjacent_violators(values, weights), expected, atol=1e-12)


def test_the_reliability_diagram_equals_scikit_learn():
    confidence, right, _ = calibration_data()
    bins = reliability(confidence, right)
    assert [each.accuracy for each in bins] == pytest.approx(CURVE_RIGHT, abs=1e-12)
    assert sum(each.count for each in bins) == 150
    assert expected_calibration_error(bins) == pytest.approx(0.19386666666666671, abs=1e-12)


def test_the_calibration_error_is_the_weighted_mean_gap():
    bins = reliability(np.array([0.1, 0.9, 0.9]), np.array([0.0, 1, 0]), np.array([2.0, 1, 1]), 2)
    assert [each.accuracy for each in bins] == [0, 0.5]
    assert expected_calibration_error(bins) == pytest.approx((2 * 0.1 + 2 * 0.4) / 4)
    assert expected_calibration_error(()) is None


def test_the_ends_of_the_scale_belong_to_the_outer_bins():
    bins = reliability(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    assert [(each.low, each.high) for each in bins] == [(0, 0.1), (0.9, 1)]


def test_the_brier_score_equals_scikit_learn():
    confidence, right, weights = calibration_data()
    assert brier_score(confidence, right, weights) == pytest.approx(0.2681314274998814, abs=1e-12)
    assert brier_score(confidence[:0], right[:0]) is None


@pytest.mark.parametrize("fit", [fit_isotonic, fit_platt])
def test_a_map_needs_verdicts(fit):
    with pytest.raises(ValueError, match="at least one"):
        fit(np.array([]), np.array([]), np.array([]))


def test_folds_share_the_samples_evenly_and_repeatably():
    fold = folds_of(23, 5, seed=1)
    assert sorted(np.bincount(fold)) == [4, 4, 5, 5, 5]
    assert fold.tolist() == folds_of(23, 5, seed=1).tolist()
    assert fold.tolist() != folds_of(23, 5, seed=2).tolist()
    with pytest.raises(ValueError, match="divided"):
        folds_of(3, 5)


def test_a_fold_does_not_see_its_own_outcomes():
    confidence, right, weights = calibration_data()
    fold = folds_of(150, 5)
    expected = cross_calibrated(confidence, right, weights, fit_isotonic, fold)
    inside = fold == 2
    flipped = np.where(inside, 1 - right, right)
    changed = cross_calibrated(confidence, flipped, weights, fit_isotonic, fold)
    np.testing.assert_array_equal(changed[inside], expected[inside])
    assert (changed[~inside] != expected[~inside]).any()


def test_beyond_its_ends_a_map_is_constant():
    fitted = IsotonicMap(confidence=np.array([0.2, 0.6]), chance=np.array([0.3, 0.9]))
    assert fitted(np.array([0.0, 0.4, 1.0])) == pytest.approx([0.3, 0.6, 0.9])
