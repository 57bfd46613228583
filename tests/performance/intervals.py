"""Figures with their intervals at 95 %, for the scripts of this folder."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spatialstudio.science.statistics.intervals import wilson_bounds

RESAMPLES = 2000

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure and the ends of its interval."""

    value: float
    low: float
    high: float

    @property
    def percent(self) -> str:
        return f"{100 * self.value:.1f} [{100 * self.low:.1f}, {100 * self.high:.1f}]"


def wilson(successes: float, trials: float) -> Figure:
    """Give a share its Wilson score interval; 0 when there are no trials."""
    low, high = wilson_bounds(successes, trials)
    return Figure(successes / trials if trials else 0.0, float(low), float(high))


def bootstrap(figure: Callable[[Floats], float], sums: Sequence[Sequence[float]]) -> Figure:
    """Resample groups and take the middle 95 % of what the figure becomes.

    Args:
        figure: Makes it from (columns,) sums.
        sums: A row of sums for each group of what is alike: the pictures of a prompt, a scene.
    """
    rows = np.asarray(sums, dtype=np.float64)
    rng = np.random.default_rng(0)
    figures = [
        figure(rows[rng.integers(len(rows), size=len(rows))].sum(0)) for _ in range(RESAMPLES)
    ]
    low, high = np.percentile(figures, [2.5, 97.5])
    return Figure(figure(rows.sum(0)), float(low), float(high))


def ratio(sums: Floats) -> float:
    """Divide the first sum by the second; 0 when there is nothing to divide by."""
    return float(sums[0] / sums[1]) if sums[1] else 0.0


def difference(sums: Floats) -> float:
    """Subtract the ratio of the first two sums from that of the next two."""
    return ratio(sums[2:]) - ratio(sums[:2])
