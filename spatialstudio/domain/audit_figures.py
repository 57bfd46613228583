"""Figures that compare the checker with people: agreement, risk and coverage, calibration."""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Protocol

from spatialstudio.domain.export import ExportFile, ExportLook, FigureCaption
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.interval import Interval
from spatialstudio.domain.verdict import Outcome

OUTCOMES = (Outcome.PASS, Outcome.FAIL, Outcome.UNDECIDABLE)
"""Rows and columns of a confusion matrix."""


class HumanUndecidable(Enum):
    """How risk treats a decided verdict on a sample that people call UNDECIDABLE."""

    EXCLUDED = "excluded"
    """As published: the sample counts as covered, and leaves the risk."""
    ERROR = "error"
    """The verdict counts as wrong."""


@frozen
class AuditedSample:
    """One sample with the checker's verdict and the label of people.

    Attributes:
        id: Id of the sample.
        checker: The checker's outcome.
        confidence: The checker's confidence in it, [0, 1].
        human: The label; None while the sample has none.
        weight: Samples of the population that this one represents, > 0.
    """

    id: str
    checker: Outcome
    confidence: float
    human: Outcome | None
    weight: float = 1.0


@frozen
class Confusion:
    """Number of samples by the checker's outcome and by the label.

    Attributes:
        counts: By (checker, human), every combination.
    """

    counts: Mapping[tuple[Outcome, Outcome], int]

    def count(self, checker: Outcome, human: Outcome) -> int:
        """Return the number of samples with these two outcomes."""
        return self.counts[checker, human]

    @property
    def total(self) -> int:
        """Number of labelled samples."""
        return sum(self.counts.values())

    @property
    def decided_by_both(self) -> int:
        """Number of samples on which checker and people decide."""
        open_ = Outcome.UNDECIDABLE
        return sum(count for pair, count in self.counts.items() if open_ not in pair)

    @property
    def undecidable_checker(self) -> int:
        """Number of samples on which the checker abstains."""
        return sum(self.count(Outcome.UNDECIDABLE, human) for human in OUTCOMES)

    @property
    def undecidable_human(self) -> int:
        """Number of samples that people call UNDECIDABLE."""
        return sum(self.count(checker, Outcome.UNDECIDABLE) for checker in OUTCOMES)

    @property
    def accuracy(self) -> float | None:
        """Share of equal outcomes among the samples decided by both, [0, 1]."""
        equal = self.count(Outcome.PASS, Outcome.PASS) + self.count(Outcome.FAIL, Outcome.FAIL)
        return _share(equal, self.decided_by_both)

    @property
    def precision(self) -> float | None:
        """Share of human PASS among the checker's PASS, decided by both, [0, 1]."""
        hits = self.count(Outcome.PASS, Outcome.PASS)
        return _share(hits, hits + self.count(Outcome.PASS, Outcome.FAIL))

    @property
    def recall(self) -> float | None:
        """Share of the checker's PASS among human PASS, decided by both, [0, 1]."""
        hits = self.count(Outcome.PASS, Outcome.PASS)
        return _share(hits, hits + self.count(Outcome.FAIL, Outcome.PASS))

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall, [0, 1]."""
        hits = self.count(Outcome.PASS, Outcome.PASS)
        wrong = self.count(Outcome.PASS, Outcome.FAIL) + self.count(Outcome.FAIL, Outcome.PASS)
        return _share(2 * hits, 2 * hits + wrong)


@frozen
class RiskPoint:
    """One point of a risk-coverage curve.

    Attributes:
        threshold: Least confidence of a covered verdict, [0, 1].
        coverage: Covered share of the samples, [0, 1].
        risk: Share of wrong verdicts among the evaluated, [0, 1].
        covered: Number of samples decided with at least this confidence.
        evaluated: Number of covered samples whose label enters the risk.
    """

    threshold: float
    coverage: float
    risk: float
    covered: int
    evaluated: int

    @property
    def accuracy(self) -> float:
        """1 - risk, [0, 1]."""
        return 1.0 - self.risk


@frozen
class ReliabilityBin:
    """One bin of a reliability diagram.

    Attributes:
        low: Lower edge, [0, 1].
        high: Upper edge, [0, 1].
        count: Number of verdicts.
        weight: Sum of their weights.
        confidence: Weighted mean confidence, [0, 1].
        accuracy: Weighted share that people confirm, [0, 1].
    """

    low: float
    high: float
    count: int
    weight: float
    confidence: float
    accuracy: float


@frozen
class ObjectiveRow:
    """One candidate of a threshold search with its figures.

    Attributes:
        settings: Values of the searched settings, by name.
        threshold: Confidence threshold tau, [0, 1].
        false_pass_rate: Human FAIL among covered PASS, [0, 1]; 1 if no PASS is covered.
        risk: At the threshold, [0, 1].
        coverage: At the threshold, [0, 1].
        objective: J, lower is better.
    """

    settings: Mapping[str, float]
    threshold: float
    false_pass_rate: float
    risk: float
    coverage: float
    objective: float


@frozen
class BinaryFigures:
    """A thresholded score against binary labels.

    Attributes:
        threshold: A score at or above it counts as positive.
        true_positive: Positive and labelled True.
        false_positive: Positive and labelled False.
        true_negative: Negative and labelled False.
        false_negative: Negative and labelled True.
    """

    threshold: float
    true_positive: int
    false_positive: int
    true_negative: int
    false_negative: int

    @property
    def accuracy(self) -> float | None:
        """Share of correct answers, [0, 1]."""
        right = self.true_positive + self.true_negative
        return _share(right, right + self.false_positive + self.false_negative)

    @property
    def precision(self) -> float | None:
        """Share of True among positives, [0, 1]."""
        return _share(self.true_positive, self.true_positive + self.false_positive)

    @property
    def recall(self) -> float | None:
        """Share of positives among True, [0, 1]."""
        return _share(self.true_positive, self.true_positive + self.false_negative)

    @property
    def specificity(self) -> float | None:
        """Share of negatives among False, [0, 1]."""
        return _share(self.true_negative, self.true_negative + self.false_positive)

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall, [0, 1]."""
        wrong = self.false_positive + self.false_negative
        return _share(2 * self.true_positive, 2 * self.true_positive + wrong)


@frozen
class HeatMap:
    """A matrix of figures.

    Attributes:
        rows: Names of the rows.
        columns: Names of the columns.
        heading: What rows, columns or cells are.
        texts: Texts of the cells, by row.
        shades: Strength of the cells, by row, [-1, 1].
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    heading: str
    texts: tuple[tuple[str, ...], ...]
    shades: tuple[tuple[float, ...], ...]


@frozen
class IntervalGroup:
    """Figures with intervals that are compared on one axis.

    Attributes:
        title: What the figures are.
        rows: Name and figure; figures without a value are named only.
    """

    title: str
    rows: tuple[tuple[str, Interval], ...]


@frozen
class AgreementFigure:
    """A matrix above figures with intervals; either may be missing.

    Attributes:
        heat_map: The matrix; None for none.
        groups: The figures, on a common axis.
        caption: Written below.
    """

    heat_map: HeatMap | None
    groups: tuple[IntervalGroup, ...]
    caption: FigureCaption


class AuditFigures(Protocol):
    """Draws figures of audits for papers."""

    def risk_coverage(
        self,
        curve: Sequence[RiskPoint],
        threshold: float | None,
        caption: FigureCaption,
        look: ExportLook,
        ending: str,
    ) -> ExportFile:
        """Draw risk over coverage.

        Args:
            curve: Its points.
            threshold: Threshold of the operating point to mark; None for none.
            caption: Written below.
            look: Colours.
            ending: "png", "svg" or "pdf".
        """

    def reliability(
        self,
        bins: Sequence[ReliabilityBin],
        caption: FigureCaption,
        look: ExportLook,
        ending: str,
    ) -> ExportFile:
        """Draw accuracy over confidence; arguments as for ``risk_coverage``."""

    def agreement(self, figure: AgreementFigure, look: ExportLook, ending: str) -> ExportFile:
        """Draw a matrix and intervals; arguments as for ``risk_coverage``."""


def labelled(samples: Sequence[AuditedSample]) -> tuple[AuditedSample, ...]:
    """Return the samples that have a label."""
    return tuple(sample for sample in samples if sample.human is not None)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
