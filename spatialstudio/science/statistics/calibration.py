"""Reliability of confidences, and maps that make them match the share of right verdicts.

Sources: Guo et al. 2017, arXiv:1706.04599 (expected calibration error); Niculescu-Mizil and Caruana
2005, ICML (reliability diagram, isotonic map); Ayer et al. 1955, Annals of Mathematical Statistics
26:641 (pool adjacent violators); Platt 1999, with the targets and the Newton steps of Lin et al.
2007, Machine Learning 68:267.

An outcome is 1 where people confirm the verdict, else 0.
"""

import random
from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.audit_figures import ReliabilityBin
from spatialstudio.domain.frozen import frozen

Values: TypeAlias = npt.NDArray[np.float64]
"""(n,), finite."""

BINS = 10
MOST_STEPS = 100
"""Newton steps of the Platt fit; it needs about ten."""
SMALLEST_GRADIENT = 1e-12
LEAST_DAMPING = 1e-12


class CalibrationMap(Protocol):
    """A non-decreasing map from confidence to the chance that the verdict is right."""

    def __call__(self, confidence: Values) -> Values:
        """Return the (n,) chances, [0, 1]."""


Fit: TypeAlias = Callable[[Values, Values, Values], CalibrationMap]
"""Fits a map to (n,) confidences, (n,) outcomes in [0, 1] and (n,) weights > 0."""


@frozen(eq=False)
class IsotonicMap:
    """A piecewise linear map; constant beyond its ends.

    Attributes:
        confidence: (k,) ascending.
        chance: (k,) not descending, [0, 1].
    """

    confidence: Values
    chance: Values

    def __call__(self, confidence: Values) -> Values:
        """Return the (n,) chances, [0, 1]."""
        return np.interp(confidence, self.confidence, self.chance)


@frozen
class PlattMap:
    """A logistic map: 1 / (1 + exp(slope * confidence + offset)); its slope is negative.

    Attributes:
        slope: A of the source.
        offset: B of the source.
    """

    slope: float
    offset: float

    def __call__(self, confidence: Values) -> Values:
        """Return the (n,) chances, [0, 1]."""
        return _logistic(-(self.slope * confidence + self.offset))


def reliability(
    confidence: Values, right: Values, weights: Values | None = None, bins: int = BINS
) -> tuple[ReliabilityBin, ...]:
    """Return the bins of a reliability diagram that hold a verdict, ascending.

    Args:
        confidence: (n,) in [0, 1].
        right: (n,) 1 for a right verdict, 0 for a wrong one.
        weights: (n,) > 0; None for equal ones.
        bins: Number of equal widths; an upper edge belongs to its bin, 0 to the first.
    """
    weights = np.ones_like(confidence) if weights is None else weights
    edges = np.linspace(0, 1, bins + 1)
    place = np.clip(np.searchsorted(edges, confidence, side="left") - 1, 0, bins - 1)
    found = []
    for number in np.unique(place):
        inside = place == number
        total = weights[inside].sum()
        found.append(
            ReliabilityBin(
                low=float(edges[number]),
                high=float(edges[number + 1]),
                count=int(inside.sum()),
                weight=float(total),
                confidence=float(confidence[inside] @ weights[inside] / total),
                accuracy=float(right[inside] @ weights[inside] / total),
            )
        )
    return tuple(found)


def expected_calibration_error(bins: Sequence[ReliabilityBin]) -> float | None:
    """Return the weighted mean of |accuracy - confidence|, [0, 1]; None without a bin."""
    total = sum(each.weight for each in bins)
    gaps = (each.weight * abs(each.accuracy - each.confidence) for each in bins)
    return sum(gaps) / total if total else None


def brier_score(confidence: Values, right: Values, weights: Values | None = None) -> float | None:
    """Return the weighted mean of (confidence - right)^2, [0, 1]; None without verdicts."""
    if not len(confidence):
        return None
    return float(np.average((confidence - right) ** 2, weights=weights))


def fit_isotonic(confidence: Values, right: Values, weights: Values) -> IsotonicMap:
    """Fit the non-decreasing map with the least weighted squared error.

    Equal confidences are pooled first. Between the fitted values the map is linear.

    Raises:
        ValueError: There are no verdicts.
    """
    if not len(confidence):
        raise ValueError("A calibration map needs at least one verdict.")
    levels, place = np.unique(confidence, return_inverse=True)
    total: Values = np.bincount(place, weights).astype(np.float64)
    mean = np.bincount(place, weights * right) / total
    return IsotonicMap(confidence=levels, chance=pool_adjacent_violators(mean, total))


def pool_adjacent_violators(values: Values, weights: Values) -> Values:
    """Return the (n,) non-decreasing values nearest to (n,) values in weighted squares."""
    means: list[float] = []
    totals: list[float] = []
    lengths: list[int] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        means.append(value)
        totals.append(weight)
        lengths.append(1)
        while len(means) > 1 and means[-2] >= means[-1]:
            total = totals[-2] + totals[-1]
            means[-2:] = [(means[-2] * totals[-2] + means[-1] * totals[-1]) / total]
            totals[-2:] = [total]
            lengths[-2:] = [lengths[-2] + lengths[-1]]
    return np.repeat(np.array(means), lengths)


def fit_platt(confidence: Values, right: Values, weights: Values) -> PlattMap:
    """Fit the logistic map with the greatest weighted likelihood of Platt's targets.

    The targets are (N+ + 1) / (N+ + 2) for right and 1 / (N- + 2) for wrong verdicts, with N the
    sums of weights, so that separable data have a finite fit.

    Raises:
        ValueError: There are no verdicts.
    """
    if not len(confidence):
        raise ValueError("A calibration map needs at least one verdict.")
    hits, misses = float(weights @ right), float(weights @ (1 - right))
    targets = right * (hits + 1) / (hits + 2) + (1 - right) / (misses + 2)
    design = np.stack([confidence, np.ones_like(confidence)], axis=1)
    parameters = np.array([0.0, np.log((hits + 1) / (misses + 1))])
    loss = _log_loss(design @ parameters, targets, weights)
    for _ in range(MOST_STEPS):
        chance = _logistic(design @ parameters)
        gradient = design.T @ (weights * (chance - targets))
        if np.abs(gradient).max() < SMALLEST_GRADIENT * weights.sum():
            break
        curvature = (design.T * (weights * chance * (1 - chance))) @ design
        step = np.linalg.solve(curvature + LEAST_DAMPING * np.eye(2), gradient)
        length = 1.0
        while (next_loss := _log_loss(design @ (parameters - length * step), targets, weights)) > (
            loss
        ) and length > LEAST_DAMPING:
            length /= 2
        parameters, loss = parameters - length * step, next_loss
    return PlattMap(slope=-float(parameters[0]), offset=-float(parameters[1]))


def folds_of(count: int, folds: int, seed: int = 0) -> npt.NDArray[np.intp]:
    """Return the (count,) fold of each sample; sizes differ by at most one.

    Raises:
        ValueError: There are fewer samples than folds, or fewer than two folds.
    """
    if not LEAST_FOLDS <= folds <= count:
        raise ValueError(f"{count} samples cannot be divided into {folds} folds.")
    order = list(range(count))
    random.Random(seed).shuffle(order)
    fold = np.empty(count, np.intp)
    fold[order] = np.arange(count) % folds
    return fold


LEAST_FOLDS = 2


def cross_calibrated(
    confidence: Values, right: Values, weights: Values, fit: Fit, fold: npt.NDArray[np.intp]
) -> Values:
    """Return the (n,) chances of each sample under a map fitted without its fold."""
    result = np.empty_like(confidence)
    for number in np.unique(fold):
        inside = fold == number
        fitted = fit(confidence[~inside], right[~inside], weights[~inside])
        result[inside] = fitted(confidence[inside])
    return result


def _logistic(values: Values) -> Values:
    return 0.5 * (1 + np.tanh(values / 2))


def _log_loss(scores: Values, targets: Values, weights: Values) -> float:
    return float(weights @ (np.logaddexp(0, scores) - targets * scores))
