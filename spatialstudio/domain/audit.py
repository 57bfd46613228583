"""Audits: samples for people to label, their labels, and the files that hold both."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import Enum
from pathlib import Path
from typing import Protocol

from spatialstudio.domain.audit_figures import ObjectiveRow
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.verdict import CheckerSettings, Outcome

ITEM_FIELDS = (
    *("image_path", "overlay_path", "prompt", "object_a", "object_b"),
    *("run_id", "run_path"),
)
"""Columns of the release's sample file that every picture of an audit has."""
LARGEST = 1e12
"""Largest weight, and largest magnitude of a stored score."""


@frozen
class Stratum:
    """A group of pictures that is sampled as one.

    Attributes:
        method: Name of the method that generated them.
        relation: Id of the relation type.
        verdict: The checker's outcome.
    """

    method: str
    relation: str
    verdict: Outcome

    @property
    def key(self) -> tuple[str, str, str]:
        """Sort key, and the stratum in files."""
        return self.method, self.relation, self.verdict.value


@frozen
class AuditCandidate:
    """A judged picture that may be sampled.

    Attributes:
        id: Id of the sample, unique in the audit.
        stratum: Method, relation and verdict.
        confidence: The checker's confidence, [0, 1].
    """

    id: str
    stratum: Stratum
    confidence: float

    def __post_init__(self) -> None:
        if not 0 <= self.confidence <= 1:
            raise ValueError("A confidence is not between 0 and 1.")


@frozen(eq=False)
class StratifiedSample:
    """A drawn sample.

    Attributes:
        drawn: The pictures, in order.
        weights: Pictures of the population that each represents, >= 1.
        sizes: Drawn and existing pictures of each stratum.
    """

    drawn: tuple[AuditCandidate, ...]
    weights: tuple[float, ...]
    sizes: Mapping[Stratum, tuple[int, int]]


@frozen
class AuditItem:
    """A row of an audit's sample file.

    Attributes:
        candidate: The picture, as sampled.
        weight: Pictures of the population that it represents, (0, ``LARGEST``].
        fields: The other columns of the release's file, by name; all of ``ITEM_FIELDS``.
        scores: Stored scores of metrics, by name; magnitudes up to ``LARGEST``.
    """

    candidate: AuditCandidate
    weight: float
    fields: Mapping[str, str]
    scores: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if missing := [name for name in ITEM_FIELDS if name not in self.fields]:
            raise ValueError(f'A picture has no field "{missing[0]}".')
        if not 0 < self.weight <= LARGEST:
            raise ValueError("A weight is out of range.")
        if not all(abs(score) <= LARGEST for score in self.scores.values()):
            raise ValueError("A score is out of range.")

    @property
    def picture(self) -> Path:
        """The picture's file."""
        return Path(self.fields["image_path"])


@frozen
class HumanLabel:
    """One rater's label of one sample.

    Attributes:
        sample_id: Id of the sample.
        verdict: PASS, FAIL or UNDECIDABLE.
        notes: The rater's note; "" without one.
        timestamp: Time in ISO form; "" if unknown.
        rater: Name of the rater.
        is_final: Whether it settles a disagreement of other raters (adjudication).
    """

    sample_id: str
    verdict: Outcome
    notes: str
    timestamp: str
    rater: str
    is_final: bool = False


@frozen
class LabelClash:
    """A sample that one rater labels differently in the merged files.

    Attributes:
        kept: The label with the latest time; of equal times, the last in sorted order.
        dropped: The other labels.
    """

    kept: HumanLabel
    dropped: tuple[HumanLabel, ...]


class LabelFormat(Enum):
    """File formats of labels."""

    CSV = "csv"
    JSON = "json"
    LABEL_STUDIO = "label-studio"


class AuditFiles(Protocol):
    """Reads and writes the files of an audit."""

    def read_population(self, folder: Path) -> tuple[AuditItem, ...]:
        """Read the judged pictures of a run folder, with weight 1, in the order of its records.

        Raises:
            StoreError: The folder holds no such run, or it is damaged.
        """

    def read_sample(self, path: Path) -> tuple[AuditItem, ...]:
        """Read a sample file; without a column of weights, every weight is 1.

        Raises:
            StoreError: The file is damaged or too large.
        """

    def write_sample(self, items: Sequence[AuditItem], path: Path, *, overwrite: bool) -> None:
        """Write a sample file in the release's columns, and the weight as the last.

        Raises:
            TargetExists: The file exists and ``overwrite`` is False.
            StoreError: The file cannot be written.
        """

    def read_labels(self, path: Path) -> tuple[HumanLabel, ...]:
        """Read labels: the release's CSV or JSON, or an export of Label Studio.

        Raises:
            StoreError: The file is damaged or too large.
        """

    def write_labels(
        self,
        labels: Sequence[HumanLabel],
        path: Path,
        label_format: LabelFormat,
        *,
        overwrite: bool,
    ) -> None:
        """Write labels.

        Raises:
            TargetExists: The file exists and ``overwrite`` is False.
            StoreError: The file cannot be written.
        """

    def read_scores(self, path: Path) -> Mapping[str, Mapping[str, float]]:
        """Read a table of metrics: scores by column name and sample id; empty cells are missing.

        Raises:
            StoreError: The file is damaged or too large.
        """

    def read_pairs(self, path: Path) -> tuple[tuple[str, str, str], ...]:
        """Read a table of compared pairs: first sample, second sample, and the preferred one.

        Raises:
            StoreError: The file is damaged or too large.
        """

    def read_search(self, path: Path) -> ObjectiveRow:
        """Read what a threshold search of the release chose: its ``audit_metrics.json``.

        Raises:
            StoreError: The file records no search, or it is damaged or too large.
        """

    def write(self, path: Path, content: bytes, *, overwrite: bool) -> None:
        """Write an exported table or figure.

        Raises:
            TargetExists: The file exists and ``overwrite`` is False.
            StoreError: The file cannot be written.
        """

    def write_settings(
        self,
        settings: CheckerSettings,
        evidence: Mapping[str, object],
        path: Path,
        *,
        overwrite: bool,
    ) -> None:
        """Write a checker configuration of the release, with the evidence for it.

        Raises:
            TargetExists: The file exists and ``overwrite`` is False.
            StoreError: The file cannot be written.
        """
