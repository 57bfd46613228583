"""What the library tells of a kept run: its summary, the user's marks, and what is asked of it."""

from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import date, datetime
from enum import Enum
from pathlib import Path
from typing import NamedTuple, NewType, TypeAlias

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import ModelSetup, RequestId
from spatialstudio.domain.record import Reproduction, RunId
from spatialstudio.domain.relation import RelationId
from spatialstudio.domain.sweep import SweepCell
from spatialstudio.domain.verdict import Outcome, joint_outcome

MOST_STARS = 5


@frozen
class Marks:
    """What the user says of a run.

    Attributes:
        stars: 0 for none, to ``MOST_STARS``.
        is_rejected: Whether it was sorted out, without being deleted.
        tags: Words of the user's own, in the order in which they were given.
        note: A text of the user's own.
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
    """One relation of a run, by names, and what came of it.

    Attributes:
        relation_id: In the run's scene.
        type_id: Of its relation type.
        subject: Head of the first mention.
        object: Head of the second; of "between", both, joined by " and ".
        pos: PoS at the last step that was guided or watched, before that step's updates, [0, 1];
            None without.
        outcome: None when the picture was not judged.
        pse: [0, 1], 0 where a thing was not seen; None when it was not measured.
        confidence: [0, 1]; None when the picture was not judged.
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
    """All of a run that it is listed and found by.

    Attributes:
        id: Name of its files, without the ending.
        request_id: Of the request that drew it; runs of one request and its baseline share a seed.
        created: UTC.
        prompt: The text drawn from.
        model_id: Which weights.
        seed: Of the first noise.
        steps: Denoising steps.
        method_id: Which guidance.
        strength: Of the guidance.
        width: Of the picture, pixels.
        height: Likewise.
        device: Where it was drawn.
        parent_run_id: The run it was made from; empty for none.
        objects: Heads of all mentions.
        claims: One for each relation.
        sweep: Where it stands in a sweep; None for a run that belongs to none.
        setup: How the model computed.
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

    @property
    def has_settings(self) -> bool:
        """Whether it is known how the picture was made; not for those of most other programs."""
        return self.steps > 0

    @property
    def outcome(self) -> Outcome | None:
        """FAIL when a relation failed, else UNDECIDABLE when one is; None when none was judged."""
        return joint_outcome(claim.outcome for claim in self.claims if claim.outcome)


@frozen
class LibraryEntry:
    """A run in the library. Made by the index only; may cross threads.

    Attributes:
        path: Of the picture.
        summary: What it is listed by.
        marks: What the user says of it.
        is_missing: Whether the picture is no longer where it was.
        repetition: What came of it when it repeats an earlier run; None where nobody compared.
        deleted: When it went into the trash, UTC; None for a run that is not there.
        is_damaged: Whether it is listed by its picture alone as none of its other files is sound.
    """

    path: Path
    summary: RunSummary
    marks: Marks
    is_missing: bool = False
    repetition: Reproduction | None = None
    deleted: datetime | None = None
    is_damaged: bool = False


EntryId = NewType("EntryId", int)
"""Of a run in the index, until that is built anew; never that of another run."""


class Field(Enum):
    """What a run can be asked for; the value is its name in the filter line."""

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
"""Those that are asked of one relation; all of a line are asked of the same relation."""


class Sign(Enum):
    """How a field is compared."""

    HAS = ":"
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="


class Flag(Enum):
    """What ``is:`` may ask."""

    REJECTED = "rejected"
    STARRED = "starred"
    TAGGED = "tagged"
    JUDGED = "judged"
    GUIDED = "guided"
    MISSING = "missing"
    TRASHED = "trashed"
    """Deleted, and not for good yet; other runs are found only where this is not asked."""


Wanted: TypeAlias = str | float | Outcome | Flag


@frozen
class Condition:
    """One field of a filter, as ``pos<0.6``.

    Attributes:
        field: What is looked at.
        sign: How.
        wanted: The alternatives, one of which must hold; texts in small letters, relation types
            by id, dates as the beginning of "2026-11-20".
        is_negated: Whether it must not hold.
    """

    field: Field
    sign: Sign
    wanted: tuple[Wanted, ...]
    is_negated: bool = False


@frozen
class Word:
    """A word that the prompt, the tags or the note must hold, or must not.

    Attributes:
        text: As typed; the beginning of a word is enough.
        is_phrase: Whether it was quoted, and must stand there as it is.
        is_negated: Whether it must not be there.
    """

    text: str
    is_phrase: bool = False
    is_negated: bool = False


@frozen
class Filter:
    """What runs are looked for; all parts must hold. Empty for all runs."""

    conditions: tuple[Condition, ...] = ()
    words: tuple[Word, ...] = ()


EVERYTHING = Filter()


@frozen
class LibraryChange:
    """What a look at the library's folders found.

    Attributes:
        added: Pictures that are new.
        changed: Pictures whose evaluation or marks are new.
        moved: Where pictures went, from to.
        missing: Pictures that are gone.
        nameless: How many pictures cannot be listed, as their names are no text.
    """

    added: tuple[Path, ...] = ()
    changed: tuple[Path, ...] = ()
    moved: Mapping[Path, Path] = field(default_factory=dict)
    missing: tuple[Path, ...] = ()
    nameless: int = 0

    @property
    def is_nothing(self) -> bool:
        """Whether all was as before."""
        is_same = not (self.added or self.changed or self.moved or self.missing)
        return is_same and not self.nameless


@frozen
class Deletion:
    """Runs in the trash that went there together; what undo needs.

    Attributes:
        id: Name of the deletion.
        deleted: When, UTC.
        paths: Where the pictures were.
        inside: Where they lie in the trash, in the same order.
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
    """One tile of the grid: a run, or a stack with one run on top.

    Attributes:
        id: Of the run in sight.
        members: Ids of all runs of its stack, newest first; its own alone where there is none.
        is_open: Whether the other runs of the stack have tiles of their own.
    """

    id: EntryId
    members: tuple[EntryId, ...]
    is_open: bool = False

    @property
    def stacked(self) -> int:
        """How many runs lie on each other here; 0 for a tile that shows one alone."""
        return 0 if self.is_open or len(self.members) == 1 else len(self.members)


class Day(NamedTuple):
    """The runs of one day.

    Attributes:
        date: UTC.
        start: Its first cell.
        runs: How many were drawn.
    """

    date: date
    start: int
    runs: int


@frozen(eq=False)
class Listing:
    """What a filter found, newest first, with as much as a grid of it needs; may cross threads.

    Attributes:
        ids: (N,) of the runs.
        days: (N,) on which they were drawn, UTC, as ``date.toordinal`` counts them.
        batches: (N,) equal for runs of one prompt and model.
        is_guided: (N,) whether their layout was held.
        ratios: (N,) width of the pictures over their height.
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
    """The tiles of a grid, in columns; a cell is made only when it is asked for.

    Attributes:
        runs: (N,) ids of all runs, newest first.
        tops: (M,) place in ``runs`` of the run that each tile shows.
        starts: (M,) where the stack of each begins in ``runs``.
        stops: (M,) one past its last.
        is_open: (M,) whether the stack's other runs have tiles of their own.
        ratios: (M,) width of the pictures over their height.
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
        """Ids of the runs that are shown, one a tile."""
        ids: list[int] = self.runs[self.tops].tolist()
        return ids

    def of(self, entry_id: EntryId) -> Cell | None:
        """Return the cell that shows a run; None when there is none."""
        tiles = np.flatnonzero(self.runs[self.tops] == entry_id)
        return self[int(tiles[0])] if len(tiles) else None
