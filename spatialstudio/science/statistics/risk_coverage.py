"""Risk over coverage of a checker that abstains, against labels of people.

Sources: Rostane 2026, SpatialBench-UC, arXiv:2601.13462, section 6 and its code; El-Yaniv and
Wiener 2010, JMLR 11:1605 (risk and coverage); Geifman and El-Yaniv 2017, arXiv:1705.08500 (choice
of an operating point). The code excludes verdicts on samples that people call UNDECIDABLE from the
risk, and counts every sample once although its strata are equalised; both choices are arguments
here. A verdict is covered if it is PASS or FAIL with a confidence of at least the threshold.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.audit_figures import (
    AuditedSample,
    HumanUndecidable,
    RiskPoint,
)
from spatialstudio.domain.verdict import Outcome

GRID_STEP = 0.05
"""Step of the published grid of thresholds."""


def unique_thresholds(samples: Sequence[AuditedSample]) -> tuple[float, ...]:
    """Return 0, 1 and the confidences of all decided samples, ascending, as published."""
    decided = {one.confidence for one in samples if one.checker is not Outcome.UNDECIDABLE}
    return tuple(sorted({0.0, 1.0} | decided))


def grid_thresholds(step: float = GRID_STEP) -> tuple[float, ...]:
    """Return the thresholds from 0 to 1 with a constant step."""
    return tuple(float(value) for value in np.linspace(0, 1, round(1 / step) + 1))


def risk_coverage_curve(
    samples: Sequence[AuditedSample],
    thresholds: Sequence[float] | None = None,
    undecidable: HumanUndecidable = HumanUndecidable.EXCLUDED,
    *,
    weighted: bool = False,
    risk_of_nothing: float = 0.0,
) -> tuple[RiskPoint, ...]:
    """Return the risk and coverage at each threshold.

    If samples are covered but none is evaluated, the risk is 1, as published.

    Args:
        samples: All samples of the audit; those without a label count for the coverage alone.
        thresholds: None for ``unique_thresholds``.
        undecidable: Treatment of verdicts on samples that people call UNDECIDABLE.
        weighted: Whether a sample counts by its weight, else as 1.
        risk_of_nothing: Risk where nothing is covered: 0 as in the release, 1 in its first version.
    """
    chosen = unique_thresholds(samples) if thresholds is None else thresholds
    table = _Table(samples, undecidable, weighted=weighted)
    return tuple(table.point(threshold, risk_of_nothing) for threshold in chosen)


def risk_at(
    samples: Sequence[AuditedSample],
    threshold: float,
    undecidable: HumanUndecidable = HumanUndecidable.EXCLUDED,
    *,
    weighted: bool = False,
) -> RiskPoint:
    """Return the risk and coverage at one threshold."""
    (point,) = risk_coverage_curve(samples, (threshold,), undecidable, weighted=weighted)
    return point


def area_under_curve(curve: Sequence[RiskPoint]) -> float | None:
    """Return the mean risk up to the largest coverage, [0, 1]; None if nothing is covered.

    The curve is a step function: the risk of a point holds down to the next smaller coverage.
    """
    ascending = sorted({point.coverage: point.risk for point in curve if point.covered}.items())
    if not ascending:
        return None
    coverages, risks = (np.array(each) for each in zip(*ascending, strict=True))
    return float(np.diff(coverages, prepend=0.0) @ risks / coverages[-1])


def widest_within_risk(curve: Sequence[RiskPoint], most_risk: float) -> RiskPoint | None:
    """Return the point with the largest coverage whose risk stays in a limit; None if none does."""
    within = [point for point in curve if point.covered and point.risk <= most_risk]
    return max(within, key=lambda point: (point.coverage, -point.risk), default=None)


def safest_with_coverage(curve: Sequence[RiskPoint], least_coverage: float) -> RiskPoint | None:
    """Return the point with the least risk that covers a share of the samples; None if none."""
    wide = [point for point in curve if point.covered and point.coverage >= least_coverage]
    return min(wide, key=lambda point: (point.risk, -point.coverage), default=None)


def changing_sides(
    samples: Sequence[AuditedSample], first: float, second: float
) -> tuple[AuditedSample, ...]:
    """Return the decided samples that are covered at one of two thresholds only."""
    low, high = sorted((first, second))
    return tuple(
        one
        for one in samples
        if one.checker is not Outcome.UNDECIDABLE and low <= one.confidence < high
    )


class _Table:
    """The samples as (n,) arrays."""

    def __init__(
        self, samples: Sequence[AuditedSample], undecidable: HumanUndecidable, *, weighted: bool
    ) -> None:
        self.confidence = _array(one.confidence for one in samples)
        self.weight = _array(one.weight if weighted else 1.0 for one in samples)
        self.decided = np.array([one.checker is not Outcome.UNDECIDABLE for one in samples], bool)
        counts_open = undecidable is HumanUndecidable.ERROR
        self.evaluated = np.array(
            [_is_evaluated(one, counts_open=counts_open) for one in samples], bool
        )
        self.right = np.array([one.checker is one.human for one in samples], bool)

    def point(self, threshold: float, risk_of_nothing: float) -> RiskPoint:
        covered = self.decided & (self.confidence >= threshold)
        evaluated = covered & self.evaluated
        total, tested = self.weight.sum(), self.weight[evaluated].sum()
        right = self.weight[evaluated & self.right].sum()
        return RiskPoint(
            threshold=threshold,
            coverage=float(self.weight[covered].sum() / total) if total else 0.0,
            risk=_risk(right, tested) if covered.any() else risk_of_nothing,
            covered=int(covered.sum()),
            evaluated=int(evaluated.sum()),
        )


def _is_evaluated(sample: AuditedSample, *, counts_open: bool) -> bool:
    if sample.human is None:
        return False
    return counts_open or sample.human is not Outcome.UNDECIDABLE


def _risk(right: float, tested: float) -> float:
    return float(1.0 - right / tested) if tested else 1.0


def _array(values: Iterable[float]) -> npt.NDArray[np.float64]:
    return np.array(list(values), np.float64)
