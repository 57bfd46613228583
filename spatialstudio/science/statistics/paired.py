"""Comparison of two methods on the same prompts and seeds.

A pair with a missing value (NaN) is counted in ``missing`` and enters no figure. Sources: McNemar
1947, Psychometrika 12; Edwards 1948, Psychometrika 13 (continuity correction); Holm 1979,
Scandinavian Journal of Statistics 6.
"""

from collections.abc import Hashable, Mapping, Sequence
from math import erfc, sqrt

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.interval import LEVEL, Interval
from spatialstudio.science.statistics.intervals import (
    RESAMPLES,
    SEED,
    Floats,
    cluster_bootstrap,
    mean_bootstrap,
)


def paired_values(
    first: Mapping[Hashable, float], second: Mapping[Hashable, float]
) -> tuple[Floats, Floats, tuple[Hashable, ...]]:
    """Match values by key, such as prompt and seed.

    Returns:
        (N,) first and (N,) second values, NaN where a key has none, and the N keys in the order of
        first appearance.
    """
    keys = tuple(dict.fromkeys((*first, *second)))
    columns = (np.array([side.get(key, np.nan) for key in keys], float) for side in (first, second))
    return (*columns, keys)  # type: ignore[return-value]


def paired_difference(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    clusters: Sequence[object] | None = None,
    level: float = LEVEL,
    seed: int = SEED,
    resamples: int = RESAMPLES,
) -> Interval:
    """Return the mean of second - first with a bootstrap interval over pairs.

    Args:
        first: (N,); NaN where a value is missing.
        second: (N,), in the same order; NaN where a value is missing.
        clusters: N labels; whole clusters of pairs are resampled. None resamples single pairs.
        level: Confidence level, (0, 1).
        seed: Random seed; the interval states it.
        resamples: Number of samples.

    Returns:
        The difference, with the number of complete pairs and of incomplete ones.
    """
    differences = np.subtract(np.asarray(second, np.float64), np.asarray(first, np.float64))
    if clusters is None:
        return mean_bootstrap(differences, level=level, seed=seed, resamples=resamples)
    return cluster_bootstrap(differences, clusters, level=level, seed=seed, resamples=resamples)


@frozen
class McNemar:
    """McNemar's test of two outcomes on the same items.

    Attributes:
        both: Items where both pass.
        only_first: Items where only the first passes.
        only_second: Items where only the second passes.
        neither: Items where none passes.
        missing: Items without both outcomes; they enter no figure.
        exact_p: Two-sided exact p-value.
        chi_square: Statistic with continuity correction, 1 degree of freedom.
        chi_square_p: Its p-value.
    """

    both: int
    only_first: int
    only_second: int
    neither: int
    missing: int
    exact_p: float
    chi_square: float
    chi_square_p: float


def mcnemar(first: npt.ArrayLike, second: npt.ArrayLike) -> McNemar:
    """Test whether two methods pass equally often on the same items.

    With b and c the numbers of items that only one of them passes and n = b + c::

        exact p = min(1, 2 P(X <= min(b, c))), X binomial with n trials and p = 1/2
        chi^2   = (|b - c| - 1)^2 / n, and 0 if b = c

    Without such items both p-values are 1. For b = c the correction is left out, as in R's
    ``mcnemar.test``; statsmodels subtracts it there, too.

    Args:
        first: (N,) outcomes, 1 for a pass, 0 for a fail, NaN where one is missing.
        second: (N,), in the same order.
    """
    one, other = np.asarray(first, np.float64), np.asarray(second, np.float64)
    is_complete = ~(np.isnan(one) | np.isnan(other))
    passes, others = one[is_complete] != 0, other[is_complete] != 0
    only_first = int((passes & ~others).sum())
    only_second = int((~passes & others).sum())
    both = int((passes & others).sum())
    statistic = _chi_square(only_first, only_second)
    return McNemar(
        both=both,
        only_first=only_first,
        only_second=only_second,
        neither=int(is_complete.sum()) - both - only_first - only_second,
        missing=int((~is_complete).sum()),
        exact_p=exact_p(only_first, only_second),
        chi_square=statistic,
        chi_square_p=erfc(sqrt(statistic / 2)),
    )


def exact_p(only_first: int, only_second: int) -> float:
    """Return the two-sided exact p-value of McNemar's test, by integer arithmetic."""
    trials = only_first + only_second
    term = total = 1
    for passes in range(min(only_first, only_second)):
        term = term * (trials - passes) // (passes + 1)
        total += term
    return min(1.0, 2 * total / 2**trials)


def _chi_square(only_first: int, only_second: int) -> float:
    difference = abs(only_first - only_second)
    return (difference - 1) ** 2 / (only_first + only_second) if difference else 0.0


def holm(p_values: npt.ArrayLike) -> Floats:
    """Return p-values adjusted for several tests by Holm's step-down method.

    With p_(1) <= ... <= p_(m), the adjusted p_(i) is max over j <= i of min(1, (m - j + 1) p_(j)).

    Args:
        p_values: (M,), in [0, 1]; NaN where there was no test, which does not count in m.

    Returns:
        (M,) adjusted p-values; NaN stays NaN.
    """
    given = np.asarray(p_values, np.float64)
    adjusted = np.full(given.shape, np.nan)
    known = np.flatnonzero(~np.isnan(given))
    order = known[np.argsort(given[known], kind="stable")]
    factors = len(order) - np.arange(len(order))
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * given[order]), 1)
    return adjusted
