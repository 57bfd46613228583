"""Many judged pictures: what a benchmark asked, what was recorded, and how it adds up."""

from collections.abc import Mapping

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.perception import (
    Detection,
    Looks,
    Perception,
)
from spatialstudio.domain.relation import Relation, RelationType
from spatialstudio.domain.verdict import (
    CheckerSettings,
    Outcome,
    Verdict,
)


@frozen
class BenchmarkItem:
    """One prompt of a benchmark that claims one relation of two objects.

    Attributes:
        id: Unique in the benchmark.
        prompt: The text.
        relation_type: What is claimed.
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
    """One picture of a run that somebody else drew and looked at. Made by ``RecordedRuns.read``.

    Attributes:
        id: Of the picture.
        item: What was asked.
        seed: Of the picture.
        relation: The claim; its ends are the objects' names.
        perception: What the first detector saw; None when the picture was never looked at.
        looks: The second detector's view and the recorded stability.
        untouched: Fields of the file that judging leaves alone, by name.
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
    """A run folder as it was read. Made by ``RecordedRuns.read``.

    Attributes:
        id: Name of the run.
        samples: In the order of the manifest.
        settings: Those the run was judged with.
        counts_full_reasons: Whether its figures count reasons by their whole text, as the release
            did before its calibration.
    """

    id: str
    samples: tuple[RecordedSample, ...]
    settings: CheckerSettings
    counts_full_reasons: bool = False


@frozen(eq=False)
class JudgedSample:
    """A recorded picture and its new verdict.

    Attributes:
        sample: The picture.
        verdict: None when there was nothing to judge: an error, counted among all.
        chosen: The detection judged by, one for each end; None where the end is missing.
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
class OutcomeCounts:
    """How often each outcome came.

    Attributes:
        passes: PASS.
        fails: FAIL.
        undecidable: UNDECIDABLE.
        errors: Nothing could be judged; counted among all, never left out.
    """

    passes: int
    fails: int
    undecidable: int
    errors: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.passes + self.fails + self.undecidable + self.errors

    @property
    def coverage(self) -> float:
        """Share decided, [0, 1]."""
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
    """How often two counterparts are both met, one of them, or none.

    Attributes:
        both_pass: Both PASS.
        one_sided: One PASS, one FAIL.
        both_fail: Both FAIL.
        undecidable: At least one is not decided.
    """

    both_pass: int
    one_sided: int
    both_fail: int
    undecidable: int

    @property
    def pairs(self) -> int:
        """All of them."""
        return self.both_pass + self.one_sided + self.both_fail + self.undecidable


@frozen
class RunReport:
    """The figures of a judged run.

    Attributes:
        settings: The checker's.
        all: Counts over all pictures.
        by_relation: Counts by relation type, in order of appearance.
        mean_confidence: Over all pictures, abstentions and errors counting 0.
        best_of: Counts over prompts: PASS when any picture passes, FAIL when all fail.
        all_of: Counts over prompts: PASS when all pictures pass, FAIL when any fails.
        pairs: Counterparts by their best picture.
        pairs_by_seed: Counterparts seed by seed.
    """

    settings: CheckerSettings
    all: OutcomeCounts
    by_relation: Mapping[RelationType, OutcomeCounts]
    mean_confidence: float
    best_of: OutcomeCounts
    all_of: OutcomeCounts
    pairs: PairCounts
    pairs_by_seed: PairCounts
