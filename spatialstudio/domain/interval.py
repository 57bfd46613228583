"""Confidence intervals of figures over many runs."""

from enum import Enum
from math import floor, isnan, log10, nan

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
    """

    value: float
    low: float
    high: float
    n: int
    missing: int = 0
    method: IntervalMethod
    level: float = LEVEL
    seed: int | None = None

    @property
    def text(self) -> str:
        """The figure with its bounds, with equal decimals: "0.630 [0.550, 0.710]".

        Without bounds, the reason: "0.500 (no interval: n < 2)"; "-" without values.
        """
        if isnan(self.value):
            return "-"
        if isnan(self.low):
            (value,) = with_equal_decimals(self.value)
            return f"{value} ({self._reason})"
        value, low, high = with_equal_decimals(self.value, self.low, self.high)
        return f"{value} [{low}, {high}]"

    @property
    def _reason(self) -> str:
        if self.n < FEWEST:
            return f"no interval: n < {FEWEST}"
        is_clustered = self.method is IntervalMethod.CLUSTER_BOOTSTRAP
        return "no interval: one prompt" if is_clustered else "no interval"


def with_equal_decimals(*values: float) -> tuple[str, ...]:
    """Return figures with three decimals; fewer above 10, and three digits below 0.01."""
    largest = max(map(abs, values))
    if largest < ROUNDING:
        decimals = MOST_DECIMALS
    elif largest < SMALL:
        decimals = MOST_DECIMALS - 1 - floor(log10(largest))
    else:
        decimals = max(MOST_DECIMALS - max(floor(log10(largest)), 0), 0)
    return tuple(f"{round(value, decimals) + 0.0:.{decimals}f}" for value in values)


def three_digits(value: float) -> str:
    """Return a figure with three digits; "0.000" for a rounding error such as 1.7e-17."""
    return "0.000" if 0 < abs(value) < ROUNDING else f"{value:.3g}"


def no_interval(method: IntervalMethod, missing: int, level: float = LEVEL) -> Interval:
    """Return the interval of no values."""
    return Interval(value=nan, low=nan, high=nan, n=0, missing=missing, method=method, level=level)
