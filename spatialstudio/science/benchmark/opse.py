"""OPSE: choosing the best of several models or methods by an upper confidence bound on PSE.

Two procedures on stored scores:

- ``published``: the PoS paper's online choice, as in its code ``PSE/opse.py``. One pull is the mean
  of 5 scores drawn with replacement, and the bound is mean + alpha sqrt(ln t / n) with n in pulls,
  while t begins at 5 G + 1 for G arms, a number of samples.
- ``corrected``: bonus and time count samples; all arms that are still compared draw the same prompt
  and seed, without replacement, so that differences are paired; an arm is dropped as soon as its
  paired difference to the best arm is below 0 with certainty, and the choice ends when one is left.

The stopping rule holds at every sample at once. Differences lie in [-1, 1], so a sum of n of them
exceeds its mean by more than n r with probability at most exp(-n r^2 / 2) (Hoeffding); with the
failure probability of sample n set to error 6 / (pi^2 n^2) / (G - 1), all samples and arms together
fail with at most ``error``. Empirical Bernstein bounds (Maurer and Pontil 2009) replace Hoeffding's
where they are tighter: r = sqrt(2 V l / n) + 14 l / (3 (n - 1)) with l = ln(4 / failure), V the
sample variance. The prompts count as independent draws from the prompts that the choice is about.
"""

from collections.abc import Sequence
from dataclasses import field
from math import log, pi, sqrt

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.frozen import frozen

Floats = npt.NDArray[np.float64]
ALPHA = 2.0
BATCH = 5
HORIZON = 100
"""t of the last published pull."""
ERROR = 0.05
FEWEST = 2
"""Smallest number of values with a variance."""


@frozen(eq=False)
class Choice:
    """The result of a choice between arms.

    Attributes:
        best: Index of the chosen arm.
        pulls: Number of scores read from each arm; of batches for the published procedure.
        is_certain: Whether the stopping rule decided; False where the scores ran out.
        history: (T, G) number of pulls of each arm after each step.
        leads: (T, G) lead of the best arm over each arm after each step; NaN once it is dropped.
            Empty for the published procedure.
        radii: (T, G) how far the expectation of a lead may be from it, at the stated error.
    """

    best: int
    pulls: tuple[int, ...]
    is_certain: bool
    history: npt.NDArray[np.int64]
    leads: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    radii: Floats = field(default_factory=lambda: np.zeros((0, 0)))


def published(
    scores: Sequence[npt.ArrayLike],
    rng: np.random.Generator,
    alpha: float = ALPHA,
    batch: int = BATCH,
    horizon: int = HORIZON,
) -> Choice:
    """Replay the published procedure: one pull of each arm, then t = batch G + 1 to ``horizon``.

    Args:
        scores: For each of G arms its (N,) stored scores, in [0, 1].
        rng: Draws scores with replacement, and breaks ties.
        alpha: Weight of the bonus.
        batch: Scores of a pull.
        horizon: Last value of t.
    """
    arms = [np.asarray(each, np.float64) for each in scores]
    count = len(arms)
    sums = np.array([_pull(arm, batch, rng) for arm in arms])
    pulls = np.ones(count, np.int64)
    history = [pulls.copy()]
    for t in range(batch * count + 1, horizon + 1):
        bounds = sums / pulls + alpha * np.sqrt(log(t) / pulls)
        order = rng.permutation(count)
        chosen = int(order[np.argmax(bounds[order])])
        sums[chosen] += _pull(arms[chosen], batch, rng)
        pulls[chosen] += 1
        history.append(pulls.copy())
    return Choice(
        best=int(np.argmax(pulls)),
        pulls=tuple(map(int, pulls)),
        is_certain=False,
        history=np.array(history),
    )


def _pull(scores: Floats, batch: int, rng: np.random.Generator) -> float:
    return float(scores[rng.integers(0, len(scores), batch)].mean())


def corrected(scores: npt.ArrayLike, rng: np.random.Generator, error: float = ERROR) -> Choice:
    """Choose the best arm with a stated probability of error, from paired scores.

    Args:
        scores: (G, N) scores in [0, 1]; column n is the same prompt and seed for all arms.
        rng: Shuffles the columns.
        error: Largest probability of dropping the best arm, (0, 1).
    """
    table = np.asarray(scores, np.float64)
    race = Race(len(table), error)
    history, bounds = [], []
    for column in rng.permutation(table.shape[1]):
        race.add(table[:, column])
        history.append(race.pulls.copy())
        bounds.append((race.leads.copy(), race.radii.copy()))
        if race.is_decided:
            break
    return Choice(
        best=race.best,
        pulls=tuple(map(int, race.pulls)),
        is_certain=race.is_decided,
        history=np.array(history),
        leads=np.array([leads for leads, _ in bounds]),
        radii=np.array([radii for _, radii in bounds]),
    )


class Race:
    """Arms that draw the same samples one after the other, and drop out once they are worse.

    Args:
        count: Number of arms, at least 2.
        error: Largest probability of dropping the best arm, (0, 1).

    Attributes:
        is_open: (G,) whether an arm may still be the best.
        pulls: (G,) number of scores of each arm.
        leads: (G,) mean of the best arm minus that of each after the last sample; NaN for arms
            dropped before it.
        radii: (G,) how far the expectation of a lead may be from it; an arm whose lead exceeds it
            is dropped. NaN as for ``leads``.
    """

    def __init__(self, count: int, error: float = ERROR) -> None:
        self.is_open = np.ones(count, bool)
        self.pulls = np.zeros(count, np.int64)
        self.leads, self.radii = np.full((2, count), np.nan)
        self._error = error / max(count - 1, 1)
        self._seen = np.empty((count, 0))

    @property
    def is_decided(self) -> bool:
        """Whether one arm is left."""
        return bool(self.is_open.sum() == 1)

    @property
    def best(self) -> int:
        """Index of the open arm with the highest mean."""
        return int(np.argmax(self._means))

    @property
    def _means(self) -> Floats:
        means = self._seen.mean(1) if self._seen.size else np.zeros(len(self.is_open))
        return np.where(self.is_open, means, -np.inf)

    def add(self, scores: npt.ArrayLike) -> None:
        """Add a sample and drop the arms that are worse than the best one by more than the radius.

        Args:
            scores: (G,) in [0, 1]; those of dropped arms do not matter.
        """
        self._seen = np.column_stack([self._seen, np.asarray(scores, np.float64)])
        self.pulls[self.is_open] += 1
        best = self._seen[self.best]
        self.leads[:] = self.radii[:] = np.nan
        for arm in np.flatnonzero(self.is_open):
            differences = best - self._seen[arm]
            self.leads[arm] = differences.mean()
            self.radii[arm] = radius(differences, self._error)
            self.is_open[arm] = self.leads[arm] <= self.radii[arm]


def radius(differences: npt.ArrayLike, error: float) -> float:
    """Return how far the mean of differences in [-1, 1] may exceed its expectation.

    Args:
        differences: (n,) paired differences.
        error: Failure probability over all n together, (0, 1).
    """
    values = np.asarray(differences, np.float64)
    n = len(values)
    failure = error * 6 / (pi**2 * n**2)
    hoeffding = sqrt(2 * log(2 / failure) / n)
    if n < FEWEST:
        return hoeffding
    certainty = log(4 / failure)
    bernstein = sqrt(2 * values.var(ddof=1) * certainty / n) + 14 * certainty / (3 * (n - 1))
    return min(hoeffding, bernstein)
