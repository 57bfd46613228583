"""Records of finished runs; the library's summaries, marks, filters and grid cells."""

from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import date, datetime
from enum import Enum
from pathlib import Path
from typing import NamedTuple, NewType, TypeAlias

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.attention import AttentionFile, TextLayer
from spatialstudio.domain.devices import MemoryEstimate
from spatialstudio.domain.frozen import SPARSE, frozen
from spatialstudio.domain.generation import CandidateScore, GenerationRequest, ModelSetup, RequestId
from spatialstudio.domain.scene import RelationId, TokenSpan
from spatialstudio.domain.steering import ParticleStep
from spatialstudio.domain.sweep import SweepCell
from spatialstudio.domain.verdict import Evaluation, Outcome, Verdict, joint_outcome

RunId = NewType("RunId", str)

SCHEMA_VERSION = 2


@frozen
class ArtifactRef:
    """A file that belongs to a run.

    Attributes:
        kind: "image", "attention", "preview", "evaluation", "perception".
        path: Name of the file, or of the member in the trace archive; forward slashes.
        sha256: Hash of the file; for an image, whose metadata may change, of its pixels.
        bytes: Size of the hashed content.
    """

    kind: str
    path: str
    sha256: str
    bytes: int


@frozen
class StepSummary:
    """One step of a stored trace: the numbers of a ``StepEvent`` and references to its arrays.

    ``attention`` refers to the file with the attention before and after the step's updates.
    """

    step: int
    timestep: float
    pos: Mapping[RelationId, float]
    guidance_loss: float | None = None
    step_size: float | None = None
    pos_after: Mapping[RelationId, float] = field(default_factory=dict)
    guiding_passes: int = 0
    attention: ArtifactRef | None = None
    preview: ArtifactRef | None = None
    particles: ParticleStep | None = field(default=None, metadata=SPARSE)
    clipped_updates: int = field(default=0, metadata=SPARSE)


@frozen
class Environment:
    """Software and hardware environment of a run.

    Attributes:
        app: Version of Spatial Studio.
        python: Version of Python.
        libraries: Name to version of torch, diffusers, transformers.
        device: "cpu", "cuda:0", ...
        platform: Operating system and machine.
        setup: Numerical setup of the model.
        code_sha256: Hash of Spatial Studio's source files; empty where there are none.
    """

    app: str
    python: str
    libraries: Mapping[str, str]
    device: str
    platform: str
    setup: ModelSetup = field(default_factory=ModelSetup)
    code_sha256: str = ""


@frozen
class PictureOrigin:
    """The file of an imported image.

    Attributes:
        name: Name of the file.
        sha256: Hash of its content; empty for an image that was not read from a file.
        is_marked: Whether its XMP marks it as AI-generated.
    """

    name: str
    sha256: str = ""
    is_marked: bool = False


@frozen(eq=False)
class RunRecord:
    """The record of one generation or of an evaluated import. Created only by ``run_writer``.

    Attributes:
        schema_version: Schema version of the files it was read from.
        id: Name of the run's files, without extension.
        created: UTC.
        request: The request; for a search, the request that reproduces its best image alone.
        token_spans: Positions of the mentions in the text encoders' sequences.
        trace: One summary per step, in order.
        evaluation: None when the image was not evaluated.
        artifacts: Files of the run outside the trace, the image first.
        environment: Software and hardware environment.
        seconds: Generation time, model loading included.
        peak_memory_bytes: Peak memory during generation.
        candidates: Candidates of a noise search, best first; empty without one.
        attention_files, self_attention_files: Stored on disk separately from the artifacts.
        memory: Estimated memory of the run; None without an estimate.
        text_layers: Cross-attention layers of the model; empty if not recorded.
        is_marked: Whether the XMP of its image marks it as AI-generated.
        origin: File of an imported image, whose request has the scene, no steps, and as model the
            one in this application's metadata of the file; None for a generated image.
    """

    schema_version: int = SCHEMA_VERSION
    id: RunId
    created: datetime
    request: GenerationRequest
    token_spans: tuple[TokenSpan, ...]
    trace: tuple[StepSummary, ...]
    evaluation: Evaluation | None
    artifacts: tuple[ArtifactRef, ...]
    environment: Environment
    seconds: float
    peak_memory_bytes: int
    candidates: tuple[CandidateScore, ...] = ()
    attention_files: tuple[AttentionFile, ...] = ()
    self_attention_files: tuple[AttentionFile, ...] = field(default=(), metadata=SPARSE)
    memory: MemoryEstimate | None = None
    text_layers: tuple[TextLayer, ...] = ()
    is_marked: bool = True
    origin: PictureOrigin | None = field(default=None, metadata=SPARSE)

    @property
    def layer_files(self) -> tuple[AttentionFile, ...]:
        """All recorded layers: of cross-attention, then of self-attention."""
        return self.attention_files + self.self_attention_files

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Verdicts of the evaluation; empty without one."""
        return self.evaluation.verdicts if self.evaluation else ()


@frozen
class Fault:
    """A defect in one part of a run.

    Attributes:
        part: "picture", "trace", "evaluation", "metadata"; "verdict" after re-evaluation.
        message: One sentence for the user.
    """

    part: str
    message: str


class Sameness(Enum):
    """How closely a run reproduces an earlier one."""

    SAME = "same"
    """Every pixel is equal."""
    CLOSE = "close"
    """The difference is not visible."""
    DIFFERENT = "different"


@frozen
class Reproduction:
    """The result of reproducing a run exactly. Created only by ``flow.compare_runs``.

    Attributes:
        sameness: How closely the images match.
        mean_difference: Mean absolute difference over all channels, [0, 255].
        largest_difference: Largest absolute difference, 0 to 255; both None when the sizes differ.
        reasons: Differences between the environments: device, versions, weights.
    """

    sameness: Sameness
    mean_difference: float | None
    largest_difference: int | None
    reasons: tuple[str, ...]


MOST_STARS = 5


@frozen
class Marks:
    """The user's rating and annotations of a run.

    Attributes:
        stars: 0 for none, to ``MOST_STARS``.
        is_rejected: Whether the user rejected it without deleting it.
        tags: The user's tags, in the order in which they were added.
        note: The user's note.
    """

    stars: int = 0
    is_rejected: bool = False
    tags: tuple[str, ...] = ()
    note: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.stars <= MOST_STARS:
            raise ValueError(f"A run has 0 to {MOST_STARS} stars, not {self.stars}.")


@frozen
class ClaimSummary:
    """One relation of a run by names, with its results.

    Attributes:
        relation_id: Id in the run's scene; of a count or colour, of its verdict.
        type_id: Id of its relation type; of a count or colour, one of ``JUDGED_KINDS``.
        subject: Head of the subject.
        object: Head of the object; of "between", both objects, joined by " and "; of a count or
            colour, the requirement: "three", "dark blue".
        pos: PoS at the last guided or observed step, before that step's updates, [0, 1]; None if
            not measured.
        outcome: None when the image was not evaluated.
        pse: [0, 1], 0 where an object was not detected; None if not measured.
        confidence: [0, 1]; None when the image was not evaluated.
    """

    relation_id: RelationId
    type_id: str
    subject: str
    object: str
    pos: float | None = None
    outcome: Outcome | None = None
    pse: float | None = None
    confidence: float | None = None


@frozen
class RunSummary:
    """The indexed fields of a run, for listing and filtering.

    Attributes:
        id: Name of its files, without extension.
        request_id: Id of its request; a request and its baseline share a seed.
        created: UTC.
        prompt: The prompt.
        model_id: The model.
        seed: Seed of the first noise.
        steps: Denoising steps.
        method_id: Guidance method.
        strength: Guidance strength.
        width: Image width, pixels.
        height: Image height, pixels.
        device: The device it ran on.
        parent_run_id: The run that it was derived from; empty for none.
        objects: Heads of all mentions.
        claims: One per relation, then one per judged count and colour.
        sweep: The cell in a sweep; None outside a sweep.
        setup: Numerical setup of the model.
        source: File name of an imported image; empty for a generated one.
        is_left_unguided: Whether its trial needed no guidance.
    """

    id: RunId
    request_id: RequestId
    created: datetime
    prompt: str
    model_id: str
    seed: int
    steps: int
    method_id: str
    strength: float
    width: int
    height: int
    device: str
    parent_run_id: str = ""
    objects: tuple[str, ...] = ()
    claims: tuple[ClaimSummary, ...] = ()
    sweep: SweepCell | None = None
    setup: ModelSetup = field(default_factory=ModelSetup)
    source: str = field(default="", metadata=SPARSE)
    is_left_unguided: bool = field(default=False, metadata=SPARSE)

    @property
    def has_settings(self) -> bool:
        """Whether the generation settings are known; False for imported images."""
        return self.steps > 0

    @property
    def outcome(self) -> Outcome | None:
        """FAIL if any claim fails, else UNDECIDABLE if any is; None without evaluation."""
        return joint_outcome(claim.outcome for claim in self.claims if claim.outcome)


@frozen
class LibraryEntry:
    """A run in the library. Created only by the index; may cross threads.

    Attributes:
        path: Path of the image.
        summary: The indexed fields.
        marks: The user's marks.
        is_missing: Whether the image file is missing.
        repetition: Comparison with the run that it reproduces; None if not compared.
        deleted: When it was moved to the trash, UTC; None for a run outside the trash.
        is_damaged: Whether it is listed by its image only, as none of its other files is intact.
        is_unsuited: Whether sticker models judged an image of another origin.
    """

    path: Path
    summary: RunSummary
    marks: Marks
    is_missing: bool = False
    repetition: Reproduction | None = None
    deleted: datetime | None = None
    is_damaged: bool = False
    is_unsuited: bool = False


EntryId = NewType("EntryId", int)
"""Id of a run in the index; unique and never reused until the index is rebuilt."""


class Field(Enum):
    """Fields of a filter; the value is the name in the filter line."""

    VERDICT = "verdict"
    RELATION = "relation"
    SUBJECT = "subject"
    OBJECT = "object"
    POS = "pos"
    PSE = "pse"
    CONFIDENCE = "confidence"
    MODEL = "model"
    METHOD = "method"
    SEED = "seed"
    STEPS = "steps"
    STRENGTH = "strength"
    STARS = "stars"
    TAG = "tag"
    SWEEP = "sweep"
    DATE = "date"
    IS = "is"


CLAIM_FIELDS = frozenset(
    {
        Field.VERDICT,
        Field.RELATION,
        Field.SUBJECT,
        Field.OBJECT,
        Field.POS,
        Field.PSE,
        Field.CONFIDENCE,
    }
)
"""Fields of a relation; all such conditions of a filter apply to the same relation."""


class Sign(Enum):
    """Comparison operators."""

    HAS = ":"
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="


class Flag(Enum):
    """Values of ``is:``."""

    REJECTED = "rejected"
    STARRED = "starred"
    TAGGED = "tagged"
    JUDGED = "judged"
    GUIDED = "guided"
    IMPORTED = "imported"
    """A picture file that was evaluated, not generated by this application."""
    MISSING = "missing"
    TRASHED = "trashed"
    """In the trash; without this flag a filter matches only runs outside the trash."""


Wanted: TypeAlias = str | float | Outcome | Flag


@frozen
class Condition:
    """One field of a filter, as ``pos<0.6``.

    Attributes:
        field: The compared field.
        sign: The comparison operator.
        wanted: Alternative values, one of which must match; text in lower case, relation types by
            id, dates as a prefix of "2026-11-20".
        is_negated: Whether the condition is negated.
    """

    field: Field
    sign: Sign
    wanted: tuple[Wanted, ...]
    is_negated: bool = False


@frozen
class Word:
    """A search term for the prompt, the tags and the note.

    Attributes:
        text: As typed; matches prefixes of words.
        is_phrase: Whether it was quoted and must match exactly.
        is_negated: Whether it must not match.
    """

    text: str
    is_phrase: bool = False
    is_negated: bool = False


@frozen
class Filter:
    """A library filter; all parts must match. An empty filter matches all runs."""

    conditions: tuple[Condition, ...] = ()
    words: tuple[Word, ...] = ()


EVERYTHING = Filter()


@frozen
class LibraryChange:
    """Changes found by a scan of the library's folders.

    Attributes:
        added: New images.
        changed: Images whose evaluation or marks changed.
        moved: Old path to new path of moved images.
        missing: Images that are missing.
        nameless: Number of images that cannot be listed as their names are not valid text.
    """

    added: tuple[Path, ...] = ()
    changed: tuple[Path, ...] = ()
    moved: Mapping[Path, Path] = field(default_factory=dict)
    missing: tuple[Path, ...] = ()
    nameless: int = 0

    @property
    def is_nothing(self) -> bool:
        """Whether nothing changed."""
        is_same = not (self.added or self.changed or self.moved or self.missing)
        return is_same and not self.nameless


@frozen
class Deletion:
    """Runs moved to the trash together; used for undo.

    Attributes:
        id: Id of the deletion.
        deleted: Time of the deletion, UTC.
        paths: Original paths of the images.
        inside: Paths of the images in the trash, in the same order.
    """

    id: str
    deleted: datetime
    paths: tuple[Path, ...]
    inside: tuple[Path, ...]


Whole: TypeAlias = npt.NDArray[np.int64]
Truth: TypeAlias = npt.NDArray[np.bool_]
Number: TypeAlias = npt.NDArray[np.float64]


def _whole() -> Whole:
    return np.zeros(0, np.int64)


def _truth() -> Truth:
    return np.zeros(0, np.bool_)


def _number() -> Number:
    return np.zeros(0)


class Cell(NamedTuple):
    """One tile of the grid: a run, or a stack of runs with one on top.

    Attributes:
        id: Id of the visible run.
        members: Ids of all runs of its stack, newest first; only its own id without a stack.
        is_open: Whether the stack is expanded into separate tiles.
    """

    id: EntryId
    members: tuple[EntryId, ...]
    is_open: bool = False

    @property
    def stacked(self) -> int:
        """Number of runs in a collapsed stack; 0 for a tile of a single run."""
        return 0 if self.is_open or len(self.members) == 1 else len(self.members)


class Day(NamedTuple):
    """The runs of one day.

    Attributes:
        date: UTC.
        start: Index of its first cell.
        runs: Number of runs.
    """

    date: date
    start: int
    runs: int


@frozen(eq=False)
class Listing:
    """Runs that match a filter, newest first, with the columns of a grid; may cross threads.

    Attributes:
        ids: (N,) ids of the runs.
        days: (N,) creation days, UTC, as in ``date.toordinal``.
        batches: (N,) batch numbers; equal for runs of the same prompt and model.
        is_guided: (N,) whether the run was guided.
        ratios: (N,) width of the images over their height.
    """

    ids: Whole = field(default_factory=_whole)
    days: Whole = field(default_factory=_whole)
    batches: Whole = field(default_factory=_whole)
    is_guided: Truth = field(default_factory=_truth)
    ratios: Number = field(default_factory=_number)

    def __len__(self) -> int:
        return len(self.ids)


@frozen(eq=False)
class Cells:
    """The tiles of a grid as columns; a ``Cell`` is created on access.

    Attributes:
        runs: (N,) ids of all runs, newest first.
        tops: (M,) index in ``runs`` of the visible run of each tile.
        starts: (M,) index in ``runs`` of the first run of each stack.
        stops: (M,) index in ``runs`` after the last run of each stack.
        is_open: (M,) whether the stack is expanded into separate tiles.
        ratios: (M,) width of the images over their height.
    """

    runs: Whole = field(default_factory=_whole)
    tops: Whole = field(default_factory=_whole)
    starts: Whole = field(default_factory=_whole)
    stops: Whole = field(default_factory=_whole)
    is_open: Truth = field(default_factory=_truth)
    ratios: Number = field(default_factory=_number)

    def __len__(self) -> int:
        return len(self.tops)

    def __getitem__(self, tile: int) -> Cell:
        members = self.runs[self.starts[tile] : self.stops[tile]].tolist()
        shown = EntryId(int(self.runs[self.tops[tile]]))
        return Cell(shown, tuple(map(EntryId, members)), bool(self.is_open[tile]))

    def __iter__(self) -> Iterator[Cell]:
        return map(self.__getitem__, range(len(self)))

    @property
    def ids(self) -> list[int]:
        """Ids of the visible runs, one per tile."""
        ids: list[int] = self.runs[self.tops].tolist()
        return ids

    def of(self, entry_id: EntryId) -> Cell | None:
        """Return the cell that shows a run; None when there is none."""
        tiles = np.flatnonzero(self.runs[self.tops] == entry_id)
        return self[int(tiles[0])] if len(tiles) else None
