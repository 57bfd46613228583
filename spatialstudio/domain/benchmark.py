"""Benchmark items, recorded samples with their verdicts, and the figures of a run."""

from collections.abc import Mapping

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import Relation, RelationType
from spatialstudio.domain.verdict import (
    CheckerSettings,
    Detection,
    Looks,
    Outcome,
    Perception,
    Verdict,
)


@frozen
class BenchmarkItem:
    """One benchmark prompt that states one relation between two objects.

    Attributes:
        id: Unique in the benchmark.
        prompt: The text.
        relation_type: The stated relation type.
        subject: Name of the object placed.
        object: Name of the object it is placed against.
    """

    id: str
    prompt: str
    relation_type: RelationType
    subject: str
    object: str


@frozen(eq=False)
class RecordedSample:
    """One image of a published run, with its perception. Created by ``RecordedRuns.read``.

    Attributes:
        id: Id of the image.
        item: The benchmark prompt.
        seed: Seed of the image.
        relation: The stated relation; its ends are the objects' names.
        perception: Perception by the first detector; None when no detector ran on the image.
        looks: The second detector's perception and the recorded stability.
        untouched: Fields of the file that evaluation does not change, by name.
    """

    id: str
    item: BenchmarkItem
    seed: int
    relation: Relation
    perception: Perception | None
    looks: Looks
    untouched: Mapping[str, object]


@frozen(eq=False)
class RecordedRun:
    """The contents of a run folder. Created by ``RecordedRuns.read``.

    Attributes:
        id: Name of the run.
        samples: In the order of the manifest.
        settings: The checker settings of the run.
        counts_full_reasons: Whether its figures count reasons by their full text, as the release
            did before its calibration.
    """

    id: str
    samples: tuple[RecordedSample, ...]
    settings: CheckerSettings
    counts_full_reasons: bool = False


@frozen(eq=False)
class JudgedSample:
    """A recorded sample with its new verdict.

    Attributes:
        sample: The recorded sample.
        verdict: None when there was nothing to evaluate: an error, included in the total.
        chosen: The detection used for each end of the relation; None where an end is missing.
    """

    sample: RecordedSample
    verdict: Verdict | None
    chosen: tuple[Detection | None, ...]

    @property
    def outcome(self) -> Outcome | None:
        """The verdict's outcome; None for an error."""
        return self.verdict.outcome if self.verdict else None

    @property
    def confidence(self) -> float:
        """The verdict's confidence; 0 for an error."""
        return self.verdict.confidence if self.verdict else 0.0


@frozen
class ScoredSample:
    """The outcome of one picture and relation, from any source.

    Attributes:
        item: The benchmark prompt.
        seed: Seed of the picture.
        outcome: None for an error: a picture that could not be drawn or judged.
        confidence: [0, 1]; 0 for an error.
        reason: Abstention reason, without its numbers; empty if decided.
    """

    item: BenchmarkItem
    seed: int
    outcome: Outcome | None
    confidence: float
    reason: str = ""


@frozen
class OutcomeCounts:
    """Number of verdicts by outcome.

    Attributes:
        passes: PASS.
        fails: FAIL.
        undecidable: UNDECIDABLE.
        errors: Samples that could not be evaluated; always included in the total.
    """

    passes: int
    fails: int
    undecidable: int
    errors: int = 0

    @property
    def total(self) -> int:
        """Number of all samples, errors included."""
        return self.passes + self.fails + self.undecidable + self.errors

    @property
    def coverage(self) -> float:
        """Fraction decided, [0, 1]."""
        return (self.passes + self.fails) / self.total

    @property
    def pass_rate_all(self) -> float:
        """PASS over all, [0, 1]."""
        return self.passes / self.total

    @property
    def pass_rate_decided(self) -> float | None:
        """PASS over decided, [0, 1]; None when nothing was decided."""
        decided = self.passes + self.fails
        return self.passes / decided if decided else None


@frozen
class PairCounts:
    """Number of counterfactual pairs by joint outcome.

    Attributes:
        both_pass: Both PASS.
        one_sided: One PASS, one FAIL.
        both_fail: Both FAIL.
        undecidable: At least one is UNDECIDABLE.
    """

    both_pass: int
    one_sided: int
    both_fail: int
    undecidable: int

    @property
    def pairs(self) -> int:
        """Number of all pairs."""
        return self.both_pass + self.one_sided + self.both_fail + self.undecidable


@frozen
class RunReport:
    """The figures of an evaluated run.

    Attributes:
        settings: The checker settings.
        all: Counts over all images.
        by_relation: Counts by relation type, in order of appearance.
        mean_confidence: Mean over all images; abstentions and errors count as 0.
        best_of: Counts over prompts: PASS when any image passes, FAIL when all fail.
        all_of: Counts over prompts: PASS when all images pass, FAIL when any fails.
        pairs: Counterfactual pairs, each prompt by its best image.
        pairs_by_seed: Counterfactual pairs, compared seed by seed.
    """

    settings: CheckerSettings
    all: OutcomeCounts
    by_relation: Mapping[RelationType, OutcomeCounts]
    mean_confidence: float
    best_of: OutcomeCounts
    all_of: OutcomeCounts
    pairs: PairCounts
    pairs_by_seed: PairCounts
