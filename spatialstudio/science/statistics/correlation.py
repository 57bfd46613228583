"""Rank and linear correlation of a metric with people, and the metric as a binary test.

Sources: Kendall 1945, Biometrika 33:239 (tau-b); Spearman 1904, American Journal of Psychology
15:72; Mann and Whitney 1947, Annals of Mathematical Statistics 18:50 (area under the ROC curve).
Discordant pairs are counted in O(n log n) after Knight 1966, JASA 61:436, one bit of the rank at a
time. Rezaei et al. 2025, arXiv:2506.23418, compare PSE with three raters this way.

A figure is None where it is undefined: fewer than two units, or no variation on one side.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.audit_figures import BinaryFigures

Scores: TypeAlias = npt.NDArray[np.float64]
"""(n,), finite."""
Flags: TypeAlias = npt.NDArray[np.bool_]
"""(n,)."""

LEAST_UNITS = 2


class Objective(Enum):
    """Figure that a best threshold maximises."""

    ACCURACY = "accuracy"
    F1 = "f1"
    INFORMEDNESS = "informedness"
    """Recall + specificity - 1."""


def pearson(first: Scores, second: Scores) -> float | None:
    """Return Pearson's correlation of two (n,) arrays, [-1, 1]."""
    if len(first) < LEAST_UNITS or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    one, other = (each - each.mean() for each in (first, second))
    one, other = (each / np.sqrt(each @ each) for each in (one, other))
    return float(np.clip(one @ other, -1.0, 1.0))


def spearman(first: Scores, second: Scores) -> float | None:
    """Return Spearman's correlation of two (n,) arrays, [-1, 1]; ties have their mean rank."""
    return pearson(mean_ranks(first), mean_ranks(second))


def kendall_tau_b(first: Scores, second: Scores) -> float | None:
    """Return Kendall's tau-b of two (n,) arrays, [-1, 1]; see ``PairCounts``."""
    return PairCounts(first, second).tau_b


def pairwise_accuracy(metric: Scores, human: Scores) -> float | None:
    """Return the share of pairs that a metric orders as people do, [0, 1]; see ``PairCounts``.

    Args:
        metric: (n,) scores of the metric.
        human: (n,) scores of people; higher is better on both sides.
    """
    return PairCounts(metric, human).accuracy


def preference_accuracy(first: Scores, second: Scores, prefers_first: Flags) -> float | None:
    """Return the share of preferences that a metric predicts, [0, 1]; its ties count one half.

    Args:
        first: (n,) scores of the first picture of each pair.
        second: (n,) scores of the second picture.
        prefers_first: (n,) whether people prefer the first.
    """
    if not len(first):
        return None
    agrees = np.where(prefers_first, first > second, second > first)
    return float((agrees + (first == second) / 2).mean())


def area_under_roc(scores: Scores, labels: Flags) -> float | None:
    """Return the chance that a True scores above a False, [0, 1]; ties count one half."""
    positives = int(labels.sum())
    negatives = len(labels) - positives
    if not positives or not negatives:
        return None
    ranks = float(mean_ranks(scores)[labels].sum())
    return (ranks - positives * (positives + 1) / 2) / (positives * negatives)


def binary_figures(scores: Scores, labels: Flags, threshold: float) -> BinaryFigures:
    """Count hits and errors of "score >= threshold" against (n,) labels."""
    positive = scores >= threshold
    return BinaryFigures(
        threshold=threshold,
        true_positive=int((positive & labels).sum()),
        false_positive=int((positive & ~labels).sum()),
        true_negative=int((~positive & ~labels).sum()),
        false_negative=int((~positive & labels).sum()),
    )


def best_threshold(
    scores: Scores, labels: Flags, objective: Objective = Objective.ACCURACY
) -> BinaryFigures | None:
    """Return the figures at the lowest score that maximises an objective; None without scores."""
    rows = [binary_figures(scores, labels, float(score)) for score in np.unique(scores)]
    return max(rows, key=OBJECTIVES[objective], default=None)


def mean_ranks(values: Scores) -> Scores:
    """Return the (n,) ranks from 1; equal values have the mean of their ranks."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.add.accumulate(counts)
    return ((last - counts + 1 + last) / 2)[place]


def _informedness(figures: BinaryFigures) -> float:
    return (figures.recall or 0.0) + (figures.specificity or 0.0) - 1.0


OBJECTIVES: Mapping[Objective, Callable[[BinaryFigures], float]] = {
    Objective.ACCURACY: lambda figures: figures.accuracy or 0.0,
    Objective.F1: lambda figures: figures.f1 or 0.0,
    Objective.INFORMEDNESS: _informedness,
}


class PairCounts:
    """Numbers of pairs by their order in two (n,) arrays.

    Raises:
        ValueError: The arrays have different lengths.
    """

    def __init__(self, first: Scores, second: Scores) -> None:
        if len(first) != len(second):
            raise ValueError("Both arrays need the same length.")
        _, x, of_x = np.unique(first, return_inverse=True, return_counts=True)
        _, y, of_y = np.unique(second, return_inverse=True, return_counts=True)
        self.all = len(x) * (len(x) - 1) // 2
        self.tied_first, self.tied_second = _pairs_within(of_x), _pairs_within(of_y)
        self.tied_both = _pairs_within(np.unique(x * len(of_y) + y, return_counts=True)[1])
        self.discordant = _inversions(y[np.lexsort((y, x))])
        untied = self.all - self.tied_first - self.tied_second + self.tied_both
        self.concordant = untied - self.discordant

    @property
    def tau_b(self) -> float | None:
        """Kendall's tau-b, [-1, 1].

        (concordant - discordant) / sqrt((pairs - ties of first) * (pairs - ties of second)).
        """
        untied = (self.all - self.tied_first) * (self.all - self.tied_second)
        if untied == 0:
            return None
        return float((self.concordant - self.discordant) / np.sqrt(float(untied)))

    @property
    def accuracy(self) -> float | None:
        """Share of pairs that the first array orders as the second one does, [0, 1].

        Pairs that are equal in the second are left out; a tie of the first counts one half.
        """
        judged = self.all - self.tied_second
        if judged == 0:
            return None
        tied = self.tied_first - self.tied_both
        return (self.concordant + tied / 2) / judged


def _pairs_within(counts: npt.NDArray[np.intp]) -> int:
    """Count the pairs within groups of these sizes."""
    return int((counts * (counts - 1) // 2).sum())


def _inversions(ranks: npt.NDArray[np.intp]) -> int:
    """Count the pairs whose earlier rank is greater; ranks from 0.

    Two ranks differ first at one bit. At each bit, in groups with equal higher bits, every 0 is
    inverted with the 1s before it.
    """
    total = 0
    for bit in range(int(ranks.max(initial=0)).bit_length()):
        group = ranks >> (bit + 1)
        order = np.argsort(group, kind="stable")
        ones = (ranks[order] >> bit) & 1
        before = np.add.accumulate(ones) - ones
        starts = np.searchsorted(group[order], group[order])
        total += int((before - before[starts])[ones == 0].sum())
    return total
