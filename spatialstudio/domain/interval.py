"""Confidence intervals of figures over many runs."""

from enum import Enum
from math import isnan, nan

from spatialstudio.domain.frozen import frozen

LEVEL = 0.95
"""Confidence level where none is given."""

ROUNDING = 1e-12
"""Figures nearer to zero are rounding errors of sums of float64."""


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
        """The figure with its bounds: "0.63 [0.55, 0.71]"; "-" without values."""
        if isnan(self.value):
            return "-"
        low, high = three_digits(self.low), three_digits(self.high)
        bounds = "" if isnan(self.low) else f" [{low}, {high}]"
        return f"{three_digits(self.value)}{bounds}"


def three_digits(value: float) -> str:
    """Return a figure with three digits; "0.000" for a rounding error such as 1.7e-17."""
    return "0.000" if 0 < abs(value) < ROUNDING else f"{value:.3g}"


def no_interval(method: IntervalMethod, missing: int, level: float = LEVEL) -> Interval:
    """Return the interval of no values."""
    return Interval(value=nan, low=nan, high=nan, n=0, missing=missing, method=method, level=level)
