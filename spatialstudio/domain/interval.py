"""Confidence intervals of figures over many runs."""

from collections.abc import Iterable
from dataclasses import replace
from enum import Enum
from math import floor, isfinite, isnan, log10, nan

from spatialstudio.domain.frozen import frozen

LEVEL = 0.95
"""Confidence level where none is given."""

ROUNDING = 1e-12
"""Figures nearer to zero are rounding errors of sums of float64."""


FEWEST = 2
"""Smallest number of values with an interval."""

MOST_DECIMALS, SMALL = 3, 0.01


class IntervalMethod(Enum):
    """How the bounds of an interval are computed."""

    WILSON = "Wilson score"
    T = "Student's t"
    BOOTSTRAP = "percentile bootstrap"
    CLUSTER_BOOTSTRAP = "cluster bootstrap by prompt"


@frozen
class Interval:
    """A figure with its confidence interval. Created by ``science.statistics``.

    Attributes:
        value: The figure; NaN without values.
        low: Lower bound; NaN if it cannot be computed, as for the mean of one value.
        high: Upper bound; NaN as for ``low``.
        n: Number of values, or of complete pairs.
        missing: Number of missing values, or of incomplete pairs; none of them counts.
        method: How the bounds are computed.
        level: Confidence level, (0, 1).
        seed: Random seed of a bootstrap; None for other methods.
        prompts: Number of prompts that a cluster bootstrap resamples; None for other methods.
        is_of_equal_values: Whether the bounds are left out because they would be equal.
    """

    value: float
    low: float
    high: float
    n: int
    missing: int = 0
    method: IntervalMethod
    level: float = LEVEL
    seed: int | None = None
    prompts: int | None = None
    is_of_equal_values: bool = False

    @property
    def text(self) -> str:
        """The figure with its bounds, with equal decimals: "0.630 [0.550, 0.710]".

        Without bounds, the reason: "0.500 (no interval: n < 2)"; "-" without values.
        """
        return self.in_decimals(decimals_of((self,)))

    def in_decimals(self, decimals: int, without_value: str = "-") -> str:
        """Return ``text`` with a number of decimals, such as that of a table's column.

        Args:
            decimals: Decimals of the figure and its bounds.
            without_value: The text if the figure is NaN.
        """
        if isnan(self.value):
            return without_value
        value, low, high = (_rounded(each, decimals) for each in (self.value, self.low, self.high))
        return f"{value} ({self._reason})" if isnan(self.low) else f"{value} [{low}, {high}]"

    @property
    def _reason(self) -> str:
        if self.n < FEWEST:
            return f"no interval: n < {FEWEST}"
        if self.is_of_equal_values:
            return "no interval: equal values"
        is_clustered = self.method is IntervalMethod.CLUSTER_BOOTSTRAP
        return "no interval: one prompt" if is_clustered else "no interval"


def decimals_of(figures: Iterable[Interval]) -> int:
    """Return the decimals of a column of figures: three; fewer above 10, more below 0.01."""
    ends = (end for each in figures for end in (each.value, each.low, each.high))
    largest = max((abs(end) for end in ends if isfinite(end)), default=0.0)
    if largest < ROUNDING:
        return MOST_DECIMALS
    place = floor(log10(largest))
    if largest < SMALL:
        return MOST_DECIMALS - 1 - place
    return max(MOST_DECIMALS - max(place, 0), 0)


def _rounded(value: float, decimals: int) -> str:
    return f"{round(value, decimals) + 0.0:.{decimals}f}"


def three_digits(value: float) -> str:
    """Return a figure with three digits; "0.000" for a rounding error such as 1.7e-17."""
    return "0.000" if 0 < abs(value) < ROUNDING else f"{value:.3g}"


def without_equal_bounds(found: Interval) -> Interval:
    """Leave out bounds that are equal except for rounding errors.

    They are those of Student's t and of bootstraps if all values, or the means of all prompts, are
    equal; they do not say how the figure would vary.
    """
    if not found.high - found.low <= ROUNDING * max(1.0, abs(found.value)):  # also without bounds
        return found
    return replace(found, low=nan, high=nan, is_of_equal_values=True)


def no_interval(method: IntervalMethod, missing: int, level: float = LEVEL) -> Interval:
    """Return the interval of no values."""
    return Interval(value=nan, low=nan, high=nan, n=0, missing=missing, method=method, level=level)
