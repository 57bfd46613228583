"""Confidence intervals of shares and means.

Missing values are NaN: they are counted in ``missing`` and enter no figure. Sources: Wilson 1927,
JASA 22; Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapters 13 (percentile
intervals) and 8 (resampling of whole groups).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import nan
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.interval import FEWEST, LEVEL, Interval, IntervalMethod, no_interval

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

RESAMPLES = 10_000
"""Resamples of a bootstrap."""
SEED = 0
"""Random seed of a bootstrap where none is given."""
BLOCK = 2**21
"""Maximum number of drawn indices in memory; it does not change the result."""


def wilson_bounds(
    successes: npt.ArrayLike, trials: npt.ArrayLike, level: float = LEVEL
) -> tuple[Floats, Floats]:
    """Return the bounds of the Wilson score interval of shares.

    With p = successes / trials, n = trials and z the normal quantile of (1 + level) / 2::

        (p + z^2 / 2n -+ z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)

    Args:
        successes: (...), each in [0, trials].
        trials: (...), not negative; none gives the bounds 0 and 1.
        level: Confidence level, (0, 1).

    Returns:
        (...) lower and (...) upper bounds, in [0, 1].
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    found, n = np.asarray(successes, np.float64), np.asarray(trials, np.float64)
    if np.any((found < 0) | (found > n)):
        raise ValueError("The number of successes is not between 0 and the number of trials.")
    safe = np.maximum(n, 1)
    share = found / safe
    middle = (share + z**2 / (2 * safe)) / (1 + z**2 / safe)
    root = np.sqrt(share * (1 - share) / safe + z**2 / (4 * safe**2))
    half = z * root / (1 + z**2 / safe)
    low = np.where(n > 0, np.where(found == 0, 0.0, middle - half), 0.0)
    high = np.where(n > 0, np.where(found == n, 1.0, middle + half), 1.0)
    return np.maximum(low, 0.0), np.minimum(high, 1.0)


def share_interval(
    successes: int, trials: int, *, missing: int = 0, level: float = LEVEL
) -> Interval:
    """Return a share with its Wilson score interval; without trials the share is NaN in [0, 1]."""
    low, high = wilson_bounds(successes, trials, level)
    return Interval(
        value=successes / trials if trials else nan,
        low=float(low),
        high=float(high),
        n=trials,
        missing=missing,
        method=IntervalMethod.WILSON,
        level=level,
    )


def mean_t(
    values: npt.ArrayLike, level: float = LEVEL, within: tuple[float, float] | None = None
) -> Interval:
    """Return the mean of values with Student's t interval: m -+ t_{n-1} s / sqrt(n).

    s is the standard deviation with n - 1 in the denominator. A single value has no bounds.

    Args:
        values: (N,); NaN where a value is missing.
        level: Confidence level, (0, 1).
        within: Range of the values. The bounds are cut to it, which keeps the coverage; None for no
            limits.
    """
    from scipy.special import stdtrit  # type: ignore[import-untyped]

    known, missing = known_values(values)
    n = len(known)
    if not n:
        return no_interval(IntervalMethod.T, missing, level)
    mean = float(known.mean())
    half = nan
    if n >= FEWEST:
        half = float(stdtrit(n - 1, (1 + level) / 2) * known.std(ddof=1) / np.sqrt(n))
    low, high = mean - half, mean + half
    if within is not None and n >= FEWEST:
        low, high = max(low, within[0]), min(high, within[1])
    return _mean_of(known, missing, (low, high), IntervalMethod.T, level)


def mean_bootstrap(
    values: npt.ArrayLike,
    *,
    level: float = LEVEL,
    seed: int = SEED,
    resamples: int = RESAMPLES,
) -> Interval:
    """Return the mean of values with its percentile bootstrap interval.

    The bounds are the (1 - level) / 2 and (1 + level) / 2 quantiles of the means of samples drawn
    with replacement. A single value has no bounds.

    Args:
        values: (N,); NaN where a value is missing.
        level: Confidence level, (0, 1).
        seed: Random seed; the interval states it.
        resamples: Number of samples.
    """
    known, missing = known_values(values)
    if not len(known):
        return no_interval(IntervalMethod.BOOTSTRAP, missing, level)
    means = _resampled(len(known), resamples, seed, lambda drawn: known[drawn].mean(-1))
    low, high = _quantiles(means, level) if len(known) >= FEWEST else (nan, nan)
    return _mean_of(known, missing, (low, high), IntervalMethod.BOOTSTRAP, level, seed)


def cluster_bootstrap(
    values: npt.ArrayLike,
    clusters: Sequence[object],
    *,
    level: float = LEVEL,
    seed: int = SEED,
    resamples: int = RESAMPLES,
) -> Interval:
    """Return the mean of values with a bootstrap interval that resamples whole clusters.

    Pictures of one prompt resemble each other; an interval for other prompts resamples prompts.
    With S_c and n_c the sum and number of values of cluster c, the mean of a sample of clusters is
    sum S_c / sum n_c. A single cluster has no bounds.

    Args:
        values: (N,); NaN where a value is missing.
        clusters: N labels, such as prompts; clusters are drawn in the order of first appearance.
        level: Confidence level, (0, 1).
        seed: Random seed; the interval states it.
        resamples: Number of samples.
    """
    given = np.asarray(values, np.float64)
    if len(clusters) != len(given):
        raise ValueError("There is not one cluster per value.")
    is_known = ~np.isnan(given)
    known, missing = given[is_known], int((~is_known).sum())
    if not len(known):
        return no_interval(IntervalMethod.CLUSTER_BOOTSTRAP, missing, level)
    labels = [label for label, has_value in zip(clusters, is_known, strict=True) if has_value]
    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    own = np.array([numbers[label] for label in labels])
    sums = np.bincount(own, known, len(numbers))
    counts = np.bincount(own, minlength=len(numbers))
    means = _resampled(
        len(numbers), resamples, seed, lambda drawn: sums[drawn].sum(-1) / counts[drawn].sum(-1)
    )
    low, high = _quantiles(means, level) if len(numbers) >= FEWEST else (nan, nan)
    method = IntervalMethod.CLUSTER_BOOTSTRAP
    found = _mean_of(known, missing, (low, high), method, level, seed)
    return replace(found, prompts=len(numbers))


def figure_bootstrap(
    count: int,
    figure: Callable[[Indices], float | None],
    *,
    level: float = LEVEL,
    seed: int = SEED,
    resamples: int = RESAMPLES,
) -> Interval:
    """Return any figure of units with its percentile bootstrap interval; see ``figures_bootstrap``.

    Args:
        count: Number of units.
        figure: Takes (count,) indices of units, with repeats; returns None where it is undefined.
        level: Confidence level, (0, 1).
        seed: Random seed; the interval states it.
        resamples: Number of samples.
    """
    (found,) = figures_bootstrap(
        count, lambda drawn: (figure(drawn),), level=level, seed=seed, resamples=resamples
    )
    return found


def figures_bootstrap(
    count: int,
    figures: Callable[[Indices], Sequence[float | None]],
    *,
    level: float = LEVEL,
    seed: int = SEED,
    resamples: int = RESAMPLES,
) -> tuple[Interval, ...]:
    """Return several figures of the same units with their percentile bootstrap intervals.

    Samples for which a figure is undefined do not enter its bounds. Without units, all are
    undefined.

    Args:
        count: Number of units.
        figures: Takes (count,) indices of units, with repeats; returns None where one is undefined.
        level: Confidence level, (0, 1).
        seed: Random seed; the intervals state it.
        resamples: Number of samples.
    """
    values = figures(np.arange(count))
    if not count or all(value is None for value in values):
        return tuple(no_interval(IntervalMethod.BOOTSTRAP, 0, level) for _ in values)
    rows = [figures(row) for block in _draws(count, resamples, seed) for row in block]
    return tuple(
        _bootstrapped(value, [each for each in drawn if each is not None], (count, level, seed))
        for value, drawn in zip(values, zip(*rows, strict=True), strict=True)
    )


def _bootstrapped(
    value: float | None, drawn: Sequence[float], how: tuple[int, float, int]
) -> Interval:
    count, level, seed = how
    if value is None:
        return no_interval(IntervalMethod.BOOTSTRAP, 0, level)
    low, high = _quantiles(np.array(drawn), level) if len(drawn) >= FEWEST else (nan, nan)
    return Interval(
        value=value,
        low=low,
        high=high,
        n=count,
        method=IntervalMethod.BOOTSTRAP,
        level=level,
        seed=seed,
    )


def _mean_of(
    known: Floats,
    missing: int,
    bounds: tuple[float, float],
    method: IntervalMethod,
    level: float,
    seed: int | None = None,
) -> Interval:
    low, high = bounds
    return Interval(
        value=float(known.mean()),
        low=low,
        high=high,
        n=len(known),
        missing=missing,
        method=method,
        level=level,
        seed=seed,
    )


def known_values(values: npt.ArrayLike) -> tuple[Floats, int]:
    """Return the values that are not NaN, and the number of the others."""
    given = np.asarray(values, np.float64)
    if given.ndim != 1:
        raise ValueError(f"The values are an array of {given.ndim} axes, not of one.")
    known = given[~np.isnan(given)]
    return known, len(given) - len(known)


def _quantiles(means: Floats, level: float) -> tuple[float, float]:
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _resampled(
    count: int, resamples: int, seed: int, figure: Callable[[Indices], Floats]
) -> Floats:
    """Return (resamples,) figures of samples with replacement, each (count,) indices."""
    return np.concatenate([figure(drawn) for drawn in _draws(count, resamples, seed)])


def _draws(count: int, resamples: int, seed: int) -> Iterator[Indices]:
    rng = np.random.default_rng(seed)
    rows = max(BLOCK // count, 1)
    for start in range(0, resamples, rows):
        yield rng.integers(0, count, (min(rows, resamples - start), count))
