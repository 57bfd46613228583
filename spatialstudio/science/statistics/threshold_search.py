"""Search for checker settings and a confidence threshold by an objective over audited samples.

Source: Rostane 2026, SpatialBench-UC, arXiv:2601.13462, and its code: J = 10 FPR + 2 risk +
0.5 (1 - coverage), the first least J wins. There, the search evaluates records whose detector is
cut at the candidate's score, and deploys the settings with the detector's old cut: the deployed
checker was not searched. ``deployed_gap`` shows the difference. The choice is judged on the samples
that made it; ``cross_validated`` judges each fold by the choice of the others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.audit_figures import (
    AuditedSample,
    HumanUndecidable,
    ObjectiveRow,
)
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.verdict import Outcome
from spatialstudio.science.statistics.risk_coverage import risk_at

THRESHOLDS = (0.3, 0.5, 0.7)
"""The published confidence thresholds."""


@frozen
class ObjectiveWeights:
    """Weights of the terms of J.

    Attributes:
        false_pass_rate: Of human FAIL among covered PASS, >= 0.
        risk: Of the risk, >= 0.
        abstention: Of 1 - coverage, >= 0.
    """

    false_pass_rate: float = 10.0
    risk: float = 2.0
    abstention: float = 0.5


PUBLISHED = ObjectiveWeights()


@frozen
class Candidate:
    """Audited samples under one setting of the checker.

    Attributes:
        settings: Values of the searched settings, by name.
        samples: The same samples in the same order for every candidate of a search.
    """

    settings: Mapping[str, float]
    samples: tuple[AuditedSample, ...]


@frozen
class FoldRow:
    """A fold judged by the candidate that the other folds chose.

    Attributes:
        chosen: The candidate's figures on the other folds.
        held_out: Its figures on this fold.
        size: Samples of this fold.
    """

    chosen: ObjectiveRow
    held_out: ObjectiveRow
    size: int


def objective_row(
    candidate: Candidate,
    threshold: float,
    weights: ObjectiveWeights = PUBLISHED,
    undecidable: HumanUndecidable = HumanUndecidable.EXCLUDED,
    *,
    weighted: bool = False,
) -> ObjectiveRow:
    """Return J and its terms for one candidate and threshold.

    As published, the false pass rate is over all covered PASS, samples that people call UNDECIDABLE
    included, and 1 if there is none.
    """
    point = risk_at(candidate.samples, threshold, undecidable, weighted=weighted)
    rate = _false_pass_rate(candidate.samples, threshold, weighted=weighted)
    return ObjectiveRow(
        settings=candidate.settings,
        threshold=threshold,
        false_pass_rate=rate,
        risk=point.risk,
        coverage=point.coverage,
        objective=objective_of(rate, point.risk, point.coverage, weights),
    )


def objective_of(
    false_pass_rate: float, risk: float, coverage: float, weights: ObjectiveWeights = PUBLISHED
) -> float:
    """Return J = 10 FPR + 2 risk + 0.5 (1 - coverage) with the published weights.

    Args:
        false_pass_rate: [0, 1].
        risk: [0, 1].
        coverage: [0, 1].
        weights: Weights of the terms.
    """
    return (
        weights.false_pass_rate * false_pass_rate
        + weights.risk * risk
        + weights.abstention * (1 - coverage)
    )


def search_thresholds(
    candidates: Sequence[Candidate],
    thresholds: Sequence[float] = THRESHOLDS,
    weights: ObjectiveWeights = PUBLISHED,
    undecidable: HumanUndecidable = HumanUndecidable.EXCLUDED,
    *,
    weighted: bool = False,
) -> tuple[ObjectiveRow, ...]:
    """Return the figures of all candidates, thresholds innermost, in their order."""
    return tuple(
        objective_row(candidate, threshold, weights, undecidable, weighted=weighted)
        for candidate in candidates
        for threshold in thresholds
    )


def best_row(rows: Sequence[ObjectiveRow]) -> ObjectiveRow:
    """Return the first row with the least J.

    Raises:
        ValueError: There are no rows.
    """
    return min(rows, key=lambda row: row.objective)


def deployed_gap(chosen: ObjectiveRow, deployed: Candidate) -> tuple[ObjectiveRow, float]:
    """Return the figures of the checker as deployed, and how much its J exceeds the chosen one."""
    row = objective_row(deployed, chosen.threshold)
    return row, row.objective - chosen.objective


def cross_validated(
    candidates: Sequence[Candidate],
    fold: npt.NDArray[np.intp],
    thresholds: Sequence[float] = THRESHOLDS,
    weights: ObjectiveWeights = PUBLISHED,
    undecidable: HumanUndecidable = HumanUndecidable.EXCLUDED,
) -> tuple[FoldRow, ...]:
    """Return, for each fold, the choice of the other folds and its figures on this fold.

    Args:
        candidates: At least one, with equal samples in equal order.
        fold: (n,) fold of each sample.
        thresholds: Confidence thresholds to search.
        weights: Weights of J.
        undecidable: Treatment of verdicts on samples that people call UNDECIDABLE.
    """
    rows = []
    for number in np.unique(fold):
        inside = fold == number
        rest = [_restricted(candidate, ~inside) for candidate in candidates]
        chosen = best_row(search_thresholds(rest, thresholds, weights, undecidable))
        own = next(one for one in candidates if one.settings == chosen.settings)
        held_out = objective_row(_restricted(own, inside), chosen.threshold, weights, undecidable)
        rows.append(FoldRow(chosen=chosen, held_out=held_out, size=int(inside.sum())))
    return tuple(rows)


def pooled_held_out(
    candidates: Sequence[Candidate],
    fold: npt.NDArray[np.intp],
    rows: Sequence[FoldRow],
    weights: ObjectiveWeights = PUBLISHED,
) -> ObjectiveRow:
    """Return the figures over all samples, each under the settings that the other folds chose.

    Folds are small: a fold without a covered PASS has a false pass rate of 1 by convention, which a
    mean over folds would repeat. Here rates are taken once, over all held-out samples.

    Args:
        candidates: As for ``cross_validated``.
        fold: As for ``cross_validated``.
        rows: Its result.
        weights: Weights of J.
    """
    pooled: list[AuditedSample] = []
    for number, row in zip(np.unique(fold), rows, strict=True):
        own = next(one for one in candidates if one.settings == row.chosen.settings)
        held_out = _restricted(own, fold == number).samples
        pooled += (_covered_only(one, row.chosen.threshold) for one in held_out)
    return objective_row(Candidate(settings={}, samples=tuple(pooled)), 0.0, weights)


def _covered_only(sample: AuditedSample, threshold: float) -> AuditedSample:
    """Return the sample with an abstention in place of a verdict below the threshold."""
    is_covered = sample.confidence >= threshold
    return sample if is_covered else replace(sample, checker=Outcome.UNDECIDABLE)


def _false_pass_rate(
    samples: Sequence[AuditedSample], threshold: float, *, weighted: bool
) -> float:
    passes = [one for one in samples if one.checker is Outcome.PASS and one.confidence >= threshold]
    total = sum(one.weight if weighted else 1.0 for one in passes)
    false = sum(one.weight if weighted else 1.0 for one in passes if one.human is Outcome.FAIL)
    return false / total if total else 1.0


def _restricted(candidate: Candidate, inside: npt.NDArray[np.bool_]) -> Candidate:
    samples = zip(candidate.samples, inside.tolist(), strict=True)
    return Candidate(
        settings=candidate.settings, samples=tuple(one for one, is_in in samples if is_in)
    )
