"""The risk-coverage curve of an analysis as the window shows it: points, and what changes sides."""

from collections.abc import Sequence

from spatialstudio.domain.audit_figures import AuditedSample, HumanUndecidable, RiskPoint
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.verdict import Outcome
from spatialstudio.science.statistics.risk_coverage import (
    area_under_curve,
    changing_sides,
    risk_at,
    risk_coverage_curve,
    safest_with_coverage,
    unique_thresholds,
    widest_within_risk,
)


@frozen(eq=False)
class RiskCurve:
    """A curve, its area, and how it was computed.

    Attributes:
        samples: The samples.
        points: The points, thresholds ascending.
        area: Mean risk over coverage; None if nothing is covered.
        undecidable: Treatment of samples that people call UNDECIDABLE.
        weighted: Whether samples count by their weights.
    """

    samples: tuple[AuditedSample, ...]
    points: tuple[RiskPoint, ...]
    area: float | None
    undecidable: HumanUndecidable
    weighted: bool

    def at(self, threshold: float) -> RiskPoint:
        """Return risk and coverage at any threshold."""
        return risk_at(self.samples, threshold, self.undecidable, weighted=self.weighted)

    def leaving(self, point: RiskPoint) -> tuple[AuditedSample, ...]:
        """Return the decided samples that are covered at a point, but not at the next one."""
        higher = [each for each in unique_thresholds(self.samples) if each > point.threshold]
        return changing_sides(self.samples, point.threshold, min(higher, default=2.0))

    def changed(self, first: float, second: float) -> tuple[AuditedSample, ...]:
        """Return the decided samples that are covered at one of two thresholds only."""
        return changing_sides(self.samples, first, second)

    def widest(self, most_risk: float) -> RiskPoint | None:
        """Return the point with the largest coverage within a risk; None if there is none."""
        return widest_within_risk(self.points, most_risk)

    def safest(self, least_coverage: float) -> RiskPoint | None:
        """Return the point with the least risk at a coverage; None if there is none."""
        return safest_with_coverage(self.points, least_coverage)


def curve_of(
    samples: Sequence[AuditedSample], undecidable: HumanUndecidable, *, weighted: bool
) -> RiskCurve:
    """Return the curve over samples.

    Args:
        samples: All samples of the audit.
        undecidable: Treatment of samples that people call UNDECIDABLE.
        weighted: Whether samples count by their weights.
    """
    points = risk_coverage_curve(samples, None, undecidable, weighted=weighted)
    return RiskCurve(
        samples=tuple(samples),
        points=points,
        area=area_under_curve(points),
        undecidable=undecidable,
        weighted=weighted,
    )


def is_wrong(sample: AuditedSample, undecidable: HumanUndecidable) -> bool:
    """Return True if people contradict a decided verdict."""
    if sample.checker is Outcome.UNDECIDABLE or sample.human in (None, sample.checker):
        return False
    return sample.human is not Outcome.UNDECIDABLE or undecidable is HumanUndecidable.ERROR
