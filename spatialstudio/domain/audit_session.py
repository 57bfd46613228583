"""Sessions of an audit: what one rater is shown, in which order, and the journal of the answers."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Protocol

from spatialstudio.domain.audit import AuditItem, HumanLabel
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.verdict import Outcome

LARGEST_SCORE = 100.0
USUAL_TOLERANCE = 10.0
"""Largest error of a score that counts as correct, where none is chosen."""
ROUNDING = 1e-9
MOST_SHOWINGS = 100_000
"""Pictures of a session, repeats included."""
MOST_LETTERS = 4000
"""Characters of a note, or of a name."""
LONGEST_S = 1e6
"""Time of a vote; longer ones count as this."""


class AuditTask(Enum):
    """The question that the rater answers on each picture."""

    VERDICT = "verdict"
    """Does the picture satisfy the relation? PASS, FAIL or UNDECIDABLE."""
    SCORE = "score"
    """How well does it, from 0 to 100?"""
    PREFERENCE = "preference"
    """Which of two pictures satisfies it better?"""

    @property
    def pictures(self) -> int:
        """Number of pictures that a showing has."""
        return 2 if self is AuditTask.PREFERENCE else 1


class Preference(Enum):
    """The answer on two pictures."""

    FIRST = "first"
    SECOND = "second"
    EQUAL = "equal"


TURNED = {
    Preference.FIRST: Preference.SECOND,
    Preference.SECOND: Preference.FIRST,
    Preference.EQUAL: Preference.EQUAL,
}
"""The answers on two pictures in the other order."""


@frozen
class Showing:
    """One picture, or two to compare, at its place in the order of a session.

    Attributes:
        sample_ids: Id of the sample; of two samples for a preference.
        is_repeat: Whether an earlier showing of the session is repeated, unknown to the rater.
    """

    sample_ids: tuple[str, ...]
    is_repeat: bool = False


@frozen
class Answer:
    """What a rater answers; exactly one of the three is set.

    Attributes:
        verdict: On the task VERDICT.
        score: On the task SCORE, [0, ``LARGEST_SCORE``].
        preferred: On the task PREFERENCE.
    """

    verdict: Outcome | None = None
    score: float | None = None
    preferred: Preference | None = None

    def __post_init__(self) -> None:
        given = [each for each in (self.verdict, self.score, self.preferred) if each is not None]
        in_range = self.score is None or 0 <= self.score <= LARGEST_SCORE
        if len(given) != 1 or not in_range:
            raise SettingsError(
                "A vote needs one answer.",
                hint=f"Scores are numbers from 0 to {LARGEST_SCORE:g}.",
            )

    @property
    def task(self) -> AuditTask:
        """The task that it answers."""
        if self.verdict is not None:
            return AuditTask.VERDICT
        return AuditTask.SCORE if self.score is not None else AuditTask.PREFERENCE

    def agrees(self, other: "Answer", tolerance: float = 0.0) -> bool:
        """Return True for the same answer, or for scores that differ by the tolerance at most."""
        if self.score is None or other.score is None:
            return self == other
        return abs(self.score - other.score) <= tolerance + ROUNDING


@frozen
class GoldItem:
    """A picture, or two to compare, with its correct answer.

    Attributes:
        sample_ids: Ids of the pictures, as in a ``Showing``.
        correct: The correct answer.
    """

    sample_ids: tuple[str, ...]
    correct: Answer

    def __post_init__(self) -> None:
        if not len(self.sample_ids) == len(set(self.sample_ids)) == self.correct.task.pictures:
            raise ValueError("A gold item has the wrong number of pictures.")

    @property
    def turned(self) -> "GoldItem":
        """The same pair in the other order."""
        answer = self.correct.preferred
        turned = Answer(preferred=answer and TURNED[answer])
        return GoldItem(sample_ids=self.sample_ids[::-1], correct=turned)


@frozen(eq=False)
class AuditSession:
    """All that is fixed when a session begins. Created only by ``plan_session``.

    Attributes:
        id: Name of its file, without extension.
        rater: Name of the rater.
        task: The question.
        seed: Seed of sample, order, gold items and repeats.
        created: Time in ISO form.
        population: The filter or the folders that the sample was drawn from.
        allocation: Division among strata.
        items: The pictures with their strata and weights, and the verdicts that blindness hides.
        showings: The order in which they are shown.
        gold: Gold items; they are not part of the sample.
        tolerance: Largest error of a gold score that counts as correct, [0, ``LARGEST_SCORE``].
        is_blind: Whether verdicts stay hidden until the session ends.
        is_adjudication: Whether the answers settle disagreements of other raters.
    """

    id: str
    rater: str
    task: AuditTask
    seed: int
    created: str
    population: str
    allocation: str
    items: tuple[AuditItem, ...]
    showings: tuple[Showing, ...]
    gold: tuple[GoldItem, ...] = ()
    tolerance: float = 0.0
    is_blind: bool = True
    is_adjudication: bool = False

    def __post_init__(self) -> None:
        known = {item.candidate.id for item in self.items}
        is_valid = all(
            len(one.sample_ids) == self.task.pictures and known.issuperset(one.sample_ids)
            for one in self.showings
        )
        is_valid &= all(one.correct.task is self.task for one in self.gold)
        if not (is_valid and known.issuperset(self.gold_ids) and len(known) == len(self.items)):
            raise ValueError("A showing or a gold item has no picture in the session.")
        if max(map(len, (self.rater, self.population))) > MOST_LETTERS:
            raise ValueError("The name of the rater or the population is too long.")
        if not 0 <= self.tolerance <= LARGEST_SCORE:
            raise ValueError("The tolerance is out of range.")

    @property
    def gold_ids(self) -> frozenset[str]:
        """The pictures of gold items."""
        return frozenset(each for one in self.gold for each in one.sample_ids)

    @property
    def sample(self) -> tuple[AuditItem, ...]:
        """The pictures of the sample, without gold items."""
        gold = self.gold_ids
        return tuple(item for item in self.items if item.candidate.id not in gold)


class EntryKind(Enum):
    """What an entry of a journal records."""

    VOTE = "vote"
    UNDO = "undo"
    SKIP = "skip"
    REVEAL = "reveal"
    """The rater saw the checker's verdict before the end of the session."""


@frozen
class JournalEntry:
    """One line of the journal; entries are appended, never changed.

    Attributes:
        number: Its place in the journal, from 0.
        kind: What it records.
        showing: Index of the showing.
        time: In ISO form.
        answer: Of a vote; None for the other kinds.
        note: The rater's note on a vote.
        seconds: Time that the picture was shown before the vote, [0, ``LONGEST_S``].
    """

    number: int
    kind: EntryKind
    showing: int
    time: str
    answer: Answer | None = None
    note: str = ""
    seconds: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.seconds <= LONGEST_S:
            raise ValueError("The time of a vote is out of range.")


@frozen(eq=False)
class SessionState:
    """A session with the entries of its journal applied.

    Attributes:
        session: The session.
        entries: The journal.
        votes: The standing vote of each showing, by index.
        skipped: Showings without a vote that were skipped, in the order of skipping.
        revealed: Showings whose verdict was revealed before the vote.
    """

    session: AuditSession
    entries: tuple[JournalEntry, ...]
    votes: Mapping[int, JournalEntry]
    skipped: tuple[int, ...]
    revealed: frozenset[int]

    @property
    def current(self) -> int | None:
        """The next showing without a vote; skipped ones come last; None if all have one."""
        answered = self.votes.keys() | set(self.skipped)
        fresh = (each for each in range(len(self.session.showings)) if each not in answered)
        return next(fresh, next(iter(self.skipped), None))

    @property
    def is_complete(self) -> bool:
        """Whether every showing has a vote."""
        return len(self.votes) == len(self.session.showings)

    @property
    def is_open_to_analysis(self) -> bool:
        """Whether every showing has a vote, or was revealed before one."""
        return len(self.votes.keys() | self.revealed) == len(self.session.showings)

    @property
    def last_vote(self) -> JournalEntry | None:
        """The latest standing vote, which undo takes back."""
        return max(self.votes.values(), key=lambda entry: entry.number, default=None)

    @property
    def withdrawn(self) -> JournalEntry | None:
        """The vote on the current showing that undo took back; None without one."""
        showing = self.current
        own = (each for each in reversed(self.entries) if each.showing == showing)
        return next((each for each in own if each.kind is EntryKind.VOTE), None)

    @property
    def labels(self) -> tuple[HumanLabel, ...]:
        """The verdicts on the sample, without gold items, repeats and revealed pictures."""
        return tuple(
            HumanLabel(
                sample_id=ids[0],
                verdict=vote.answer.verdict,
                notes=vote.note,
                timestamp=vote.time,
                rater=self.session.rater,
                is_final=self.session.is_adjudication,
            )
            for ids, vote in self._first_votes()
            if vote.answer and vote.answer.verdict
        )

    @property
    def scores(self) -> Mapping[str, float]:
        """The scores by sample id, [0, ``LARGEST_SCORE``], of the pictures that have labels."""
        return {
            ids[0]: vote.answer.score
            for ids, vote in self._first_votes()
            if vote.answer and vote.answer.score is not None
        }

    @property
    def preferences(self) -> tuple[tuple[str, str, Preference], ...]:
        """First sample, second sample and the answer, of the pairs that have labels."""
        return tuple(
            (ids[0], ids[1], vote.answer.preferred)
            for ids, vote in self._first_votes()
            if vote.answer and vote.answer.preferred
        )

    @property
    def answers(self) -> tuple[GoldItem, ...]:
        """The answers on the sample, as correct ones for other raters."""
        return tuple(
            GoldItem(sample_ids=ids, correct=vote.answer)
            for ids, vote in self._first_votes()
            if vote.answer
        )

    @property
    def repeats(self) -> tuple[tuple[Answer, Answer], ...]:
        """The answers on pictures that were shown twice: first and repeated."""
        first = {
            showing.sample_ids: self.votes[place].answer
            for place, showing in enumerate(self.session.showings)
            if place in self.votes and not showing.is_repeat
        }
        return tuple(
            (answer, again)
            for place, showing in enumerate(self.session.showings)
            if showing.is_repeat and place in self.votes
            if (answer := first.get(showing.sample_ids)) and (again := self.votes[place].answer)
        )

    @property
    def gold_answers(self) -> tuple[tuple[Answer, Answer], ...]:
        """Correct and given answer of the gold items."""
        correct = {one.sample_ids: one.correct for one in self.session.gold}
        return tuple(
            (correct[ids], vote.answer)
            for ids, vote in self._first_votes(are_gold=True)
            if vote.answer
        )

    def _first_votes(
        self, *, are_gold: bool = False
    ) -> Iterator[tuple[tuple[str, ...], JournalEntry]]:
        """Yield the votes on the sample or on gold items, without repeats and revealed pictures."""
        gold = {one.sample_ids for one in self.session.gold}
        for place, showing in enumerate(self.session.showings):
            is_first = place in self.votes and not showing.is_repeat
            if is_first and place not in self.revealed and are_gold == (showing.sample_ids in gold):
                yield showing.sample_ids, self.votes[place]


def state_of(session: AuditSession, entries: Sequence[JournalEntry]) -> SessionState:
    """Apply a journal to its session.

    Raises:
        ValueError: An entry is out of order, or does not fit the session.
    """
    votes: dict[int, JournalEntry] = {}
    skipped: dict[int, None] = {}
    revealed: set[int] = set()
    for number, entry in enumerate(entries):
        if entry.number != number or not 0 <= entry.showing < len(session.showings):
            raise ValueError(f"Entry {number} of the journal is out of order.")
        match entry.kind:
            case EntryKind.VOTE:
                _check_vote(entry, session, votes)
                votes[entry.showing] = entry
                skipped.pop(entry.showing, None)
            case EntryKind.UNDO:
                if votes.pop(entry.showing, None) is None:
                    raise ValueError(f"Entry {number} takes back no vote.")
            case EntryKind.SKIP if entry.showing not in votes:
                skipped.pop(entry.showing, None)
                skipped[entry.showing] = None
            case EntryKind.REVEAL if entry.showing not in votes:
                revealed.add(entry.showing)
            case _:
                pass
    return SessionState(
        session=session,
        entries=tuple(entries),
        votes=votes,
        skipped=tuple(skipped),
        revealed=frozenset(revealed),
    )


def _check_vote(
    entry: JournalEntry, session: AuditSession, votes: Mapping[int, JournalEntry]
) -> None:
    if entry.answer is None or entry.answer.task is not session.task:
        raise ValueError(f"Entry {entry.number} does not answer the question.")
    if entry.showing in votes:
        raise ValueError(f"Entry {entry.number} repeats a vote.")
    if len(entry.note) > MOST_LETTERS:
        raise ValueError(f"The note of entry {entry.number} is too long.")


@frozen
class RaterQuality:
    """How consistent a rater is.

    Attributes:
        repeats: Number of repeated pictures with both answers.
        equal_repeats: Those with equal answers.
        gold: Number of answered gold items.
        right_gold: Those with the correct answer.
        tolerance: Largest error of a score that counts as correct; None for other answers.
    """

    repeats: int
    equal_repeats: int
    gold: int
    right_gold: int
    tolerance: float | None = None


def rater_quality(state: SessionState) -> RaterQuality:
    """Return the consistency of a rater with themself and with the gold items."""
    same = Counter(first == again for first, again in state.repeats)
    session = state.session
    right = Counter(
        correct.agrees(given, session.tolerance) for correct, given in state.gold_answers
    )
    return RaterQuality(
        repeats=same.total(),
        equal_repeats=same[True],
        gold=right.total(),
        right_gold=right[True],
        tolerance=session.tolerance if session.task is AuditTask.SCORE else None,
    )


def consistency_of(states: Sequence[SessionState]) -> tuple[tuple[str, RaterQuality], ...]:
    """Return rater and consistency of each session, except of blind ones that are not finished.

    There, a result after each vote would show the rater which items are gold.
    """
    return tuple(
        (state.session.rater, rater_quality(state))
        for state in states
        if state.is_open_to_analysis or not state.session.is_blind
    )


class VoteJournal(Protocol):
    """The open journal of one session; one program writes it at a time."""

    session: AuditSession

    @property
    def entries(self) -> tuple[JournalEntry, ...]:
        """All entries on disk."""

    def append(self, entry: JournalEntry) -> None:
        """Write an entry; returns when it is on disk.

        Raises:
            StoreError: The disk is full, or the file cannot be written.
        """

    def close(self) -> None:
        """Release the file for other programs."""


class VoteJournals(Protocol):
    """Creates, opens and reads journals of sessions."""

    def create(self, session: AuditSession, folder: Path) -> VoteJournal:
        """Create the journal of a new session in a folder.

        Raises:
            TargetExists: There is a session of this id.
            StoreError: The folder cannot be written.
        """

    def open(self, path: Path) -> VoteJournal:
        """Open a journal to continue its session.

        Raises:
            StoreError: The file is damaged, or open in another program.
        """

    def read(self, path: Path) -> SessionState:
        """Read a session and its votes, also while it is open elsewhere.

        Raises:
            StoreError: The file is damaged or too large.
        """

    def paths(self, folder: Path) -> tuple[Path, ...]:
        """Return the journals in a folder, the newest first."""
