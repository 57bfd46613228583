"""Sessions of an audit: planned from a population, voted on, stored vote by vote."""

import random
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from uuid import uuid4

from spatialstudio.application.audit.audits import PUBLISHED_ALLOCATION, draw_items
from spatialstudio.domain.audit import AuditItem, StratifiedSample
from spatialstudio.domain.audit_session import (
    LONGEST_S,
    USUAL_TOLERANCE,
    Answer,
    AuditSession,
    AuditTask,
    EntryKind,
    GoldItem,
    JournalEntry,
    SessionState,
    Showing,
    VoteJournal,
    VoteJournals,
    state_of,
)
from spatialstudio.domain.errors import SettingsError, StudioError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import relation_types
from spatialstudio.science.statistics.sampling import PUBLISHED_SEED, PUBLISHED_SIZE

LEAST_GAP = 8
"""Showings between a picture and its repeat, where the session is long enough."""
PACE_VOTES = 20
"""Latest votes whose median time is the pace."""
BREAK_S = 25 * 60.0
"""Time without a break after which a break is suggested."""
PAUSE_S = 3 * 60.0
"""Time without a vote that counts as a break."""
NAME_LETTERS = 40
EVEN = 0.5
AHEAD = 3
"""Showings whose pictures are read ahead."""


@frozen
class SessionPlan:
    """What a session is planned from.

    Attributes:
        rater: Name of the rater.
        task: The question.
        size: Number of pictures, or of pairs for a preference; None for the whole population.
        seed: Seed of sample, order, gold items and repeats.
        allocation: ``PUBLISHED_ALLOCATION`` or a key of ``ALLOCATIONS``.
        repeats: Number of pictures that are shown twice.
        gold: Number of gold items.
        tolerance: Largest error of a gold score that counts as correct, [0, 100].
        is_blind: Whether verdicts stay hidden until the session ends.
        population: Description of the population: a filter, or folders.
    """

    rater: str
    task: AuditTask = AuditTask.VERDICT
    size: int | None = PUBLISHED_SIZE
    seed: int = PUBLISHED_SEED
    allocation: str = PUBLISHED_ALLOCATION
    repeats: int = 0
    gold: int = 0
    tolerance: float = USUAL_TOLERANCE
    is_blind: bool = True
    population: str = ""


def plan_session(
    population: Sequence[AuditItem],
    plan: SessionPlan,
    correct: Sequence[GoldItem] = (),
    *,
    is_adjudication: bool = False,
) -> AuditSession:
    """Draw the sample of a session, and the order in which it is shown.

    Args:
        population: All pictures, in the order of their records.
        plan: The plan.
        correct: Pictures or pairs with correct answers, for gold items. Pictures are drawn from
            those outside the sample; pairs are drawn first, and their pictures are in no other.
        is_adjudication: Whether the session settles disagreements.

    Raises:
        SettingsError: There is no rater, no picture or no pair of pictures, there are too few
            gold items, or two of their answers contradict each other.
    """
    if not plan.rater.strip() or not population:
        raise SettingsError(
            "The session has no rater or no pictures.",
            hint="Enter a name, and choose runs or a filter with judged pictures.",
        )
    chance = random.Random(plan.seed)
    sample, showings, gold = _drawn(population, plan, correct, chance)
    showings += [Showing(sample_ids=each.sample_ids) for each in gold]
    chance.shuffle(showings)
    created = datetime.now(UTC)
    return AuditSession(
        id=_file_name(plan.rater, created),
        rater=plan.rater.strip(),
        task=plan.task,
        seed=plan.seed,
        created=created.isoformat(timespec="seconds"),
        population=plan.population,
        allocation=plan.allocation,
        items=(*sample, *_shown_in(gold, population)),
        showings=_with_repeats(showings, plan.repeats, chance),
        gold=tuple(gold),
        tolerance=plan.tolerance,
        is_blind=plan.is_blind,
        is_adjudication=is_adjudication,
    )


def _drawn(
    population: Sequence[AuditItem],
    plan: SessionPlan,
    correct: Sequence[GoldItem],
    chance: random.Random,
) -> tuple[list[AuditItem], list[Showing], list[GoldItem]]:
    """Return the sample, the showings of its pictures, and the gold items."""
    if plan.task is AuditTask.PREFERENCE:
        gold = _gold_items(population, plan, correct, chance)
        showings = _pairs(_without(population, gold), plan, chance)
        sample = _shown_in(showings, population)
    else:
        sample = _sample_of(population, plan)
        showings = [Showing(sample_ids=(each.candidate.id,)) for each in sample]
        gold = _gold_items(_without(population, showings), plan, correct, chance)
    return sample, showings, gold


def preview_sample(population: Sequence[AuditItem], plan: SessionPlan) -> StratifiedSample:
    """Return the sample that a plan draws, for its counts by stratum.

    Raises:
        SettingsError: The size is not positive, or two pictures share an id.
    """
    size = len(population) if plan.size is None else plan.size
    return draw_items(population, size, plan.seed, plan.allocation)[1]


def _sample_of(population: Sequence[AuditItem], plan: SessionPlan) -> list[AuditItem]:
    if plan.size is None or plan.task is AuditTask.PREFERENCE:
        return list(population)
    return list(draw_items(population, plan.size, plan.seed, plan.allocation)[0])


def _pairs(
    population: Sequence[AuditItem], plan: SessionPlan, chance: random.Random
) -> list[Showing]:
    """Return pairs of pictures of the same prompt and relation, of different methods if possible.

    Raises:
        SettingsError: No two pictures share prompt and relation.
    """
    groups: dict[tuple[str, str], list[AuditItem]] = defaultdict(list)
    for item in population:
        groups[item.fields["prompt"], sentence_of(item)].append(item)
    pairs = []
    for members in groups.values():
        chance.shuffle(members)
        members.sort(key=lambda item: item.candidate.stratum.method)
        half = len(members) // 2
        for first, second in zip(members[:half], members[-half:] if half else (), strict=True):
            ids = [first.candidate.id, second.candidate.id]
            chance.shuffle(ids)
            pairs.append(Showing(sample_ids=tuple(ids)))
    if not pairs:
        raise SettingsError(
            "No two pictures show the same relation of the same prompt.",
            hint="Choose runs of several seeds or methods.",
        )
    chance.shuffle(pairs)
    return pairs[: plan.size]


def _gold_items(
    population: Sequence[AuditItem],
    plan: SessionPlan,
    correct: Sequence[GoldItem],
    chance: random.Random,
) -> list[GoldItem]:
    """Return random gold items of a population; each pair in random order.

    Raises:
        SettingsError: There are fewer than the plan has, or two answers contradict each other.
    """
    if not plan.gold:
        return []
    _check_pairs(correct)
    places = {item.candidate.id: place for place, item in enumerate(population)}
    claims = [(item.fields["prompt"], sentence_of(item)) for item in population]
    free = [
        one
        for one in {frozenset(each.sample_ids): each for each in correct}.values()
        if places.keys() >= set(one.sample_ids)
        and len({claims[places[each]] for each in one.sample_ids}) == 1
    ]
    free.sort(key=lambda one: [places[each] for each in one.sample_ids])
    if plan.task is AuditTask.PREFERENCE:
        chance.shuffle(free)
        pairs = _disjoint(free)
        if len(pairs) < plan.gold:
            raise SettingsError(
                f"Only {len(pairs)} of {plan.gold} gold pairs compare two of these pictures for "
                "one prompt and relation, and share none with another gold pair.",
                hint="Choose fewer gold items, more runs, or a file with more answers.",
            )
        return [one if chance.random() < EVEN else one.turned for one in pairs[: plan.gold]]
    if len(free) < plan.gold:
        raise SettingsError(
            f"Only {len(free)} of {plan.gold} gold items are in the pictures outside the sample.",
            hint="Draw fewer pictures, choose fewer gold items, or a file with more answers.",
        )
    return chance.sample(free, plan.gold)


def _disjoint(pairs: Sequence[GoldItem]) -> list[GoldItem]:
    """Return the pairs, in their order, that share no picture with an earlier one of them."""
    taken: set[str] = set()
    kept = []
    for one in pairs:
        if taken.isdisjoint(one.sample_ids):
            kept.append(one)
            taken.update(one.sample_ids)
    return kept


def _check_pairs(correct: Sequence[GoldItem]) -> None:
    """Raise SettingsError for two answers on one pair of pictures that contradict each other."""
    answers: dict[tuple[str, ...], Answer] = {}
    for one in correct:
        first, *others = one.sample_ids
        ordered = one.turned if others and first > others[0] else one
        if others and answers.setdefault(ordered.sample_ids, ordered.correct) != ordered.correct:
            names = " and ".join(f'"{each}"' for each in ordered.sample_ids)
            raise SettingsError(
                f"The correct answers on the pair {names} contradict each other.",
                hint="Keep one of them in the file.",
            )


Shown = Sequence[Showing] | Sequence[GoldItem]


def _shown_in(shown: Shown, population: Sequence[AuditItem]) -> list[AuditItem]:
    ids = {each for one in shown for each in one.sample_ids}
    return [item for item in population if item.candidate.id in ids]


def _without(population: Sequence[AuditItem], shown: Shown) -> list[AuditItem]:
    ids = {each for one in shown for each in one.sample_ids}
    return [item for item in population if item.candidate.id not in ids]


def _with_repeats(
    showings: Sequence[Showing], count: int, chance: random.Random
) -> tuple[Showing, ...]:
    """Insert repeats of random showings, each some showings after the first one."""
    total = len(showings)
    places = [(float(place), showing) for place, showing in enumerate(showings)]
    gap = min(LEAST_GAP, total // 2)
    for place in chance.sample(range(total - gap), min(count, total - gap)):
        again = Showing(sample_ids=showings[place].sample_ids, is_repeat=True)
        places.append((chance.uniform(place + gap, total), again))
    return tuple(showing for _, showing in sorted(places, key=lambda pair: pair[0]))


def _file_name(rater: str, created: datetime) -> str:
    letters = "".join(letter if letter.isalnum() else "-" for letter in rater.strip())
    return f"{created:%Y-%m-%d_%H%M%S}_{letters[:NAME_LETTERS]}_{uuid4().hex[:6]}"


def sentence_of(item: AuditItem) -> str:
    """Return the claim on a picture as one sentence: "The cat is to the left of the dog."."""
    relation = item.candidate.stratum.relation
    phrase = relation_types[relation].phrase if relation in relation_types else relation
    subject, other = item.fields["object_a"], item.fields["object_b"]
    return f"The {subject} is {phrase.replace('_', ' ')} the {other}."


@frozen
class Progress:
    """How far a session is.

    Attributes:
        done: Showings with a vote.
        total: All showings.
        skipped: Showings left for the end.
        seconds_per_vote: Median time of the latest votes; None before the first.
        seconds_left: Estimated time for the rest; None before the first vote.
        needs_break: Whether a break is due.
    """

    done: int
    total: int
    skipped: int
    seconds_per_vote: float | None
    seconds_left: float | None
    needs_break: bool


class Voting:
    """A session while it is voted on; every vote is on disk before the next picture is shown.

    Args:
        journal: The open journal.
        clock: Monotonic time in seconds.
        now: The present time.
    """

    def __init__(
        self,
        journal: VoteJournal,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._journal = journal
        self._clock = clock
        self._now = now
        self._shown_at = self._break_at = clock()
        self.session = journal.session
        self.state = state_of(self.session, journal.entries)
        self._items = {item.candidate.id: item for item in self.session.items}

    @property
    def items(self) -> tuple[AuditItem, ...]:
        """The pictures of the current showing; empty when every showing has a vote."""
        return self.items_of(self.state.current)

    @property
    def next_items(self) -> tuple[AuditItem, ...]:
        """The pictures of the next showings, to be read ahead."""
        current, total = self.state.current, len(self.session.showings)
        following = range(total if current is None else current + 1, total)
        return tuple(item for each in following[:AHEAD] for item in self.items_of(each))

    def items_of(self, showing: int | None) -> tuple[AuditItem, ...]:
        """Return the pictures of a showing."""
        if showing is None:
            return ()
        return tuple(self._items[each] for each in self.session.showings[showing].sample_ids)

    @property
    def progress(self) -> Progress:
        """How far the session is."""
        state, votes = self.state, sorted(self.state.votes.values(), key=lambda each: each.number)
        pace = median(each.seconds for each in votes[-PACE_VOTES:]) if votes else None
        total = len(self.session.showings)
        return Progress(
            done=len(votes),
            total=total,
            skipped=len(state.skipped),
            seconds_per_vote=pace,
            seconds_left=None if pace is None else pace * (total - len(votes)),
            needs_break=self._clock() - self._break_at > BREAK_S,
        )

    def vote(self, answer: Answer, note: str = "") -> None:
        """Store a vote on the current showing, and go to the next one.

        Raises:
            StoreError: The vote cannot be written; the showing stays.
        """
        self._append(EntryKind.VOTE, self._current(), answer, note)

    def skip(self) -> None:
        """Leave the current showing for the end.

        Raises:
            StoreError: The journal cannot be written.
        """
        self._append(EntryKind.SKIP, self._current())

    def undo(self) -> bool:
        """Take back the latest vote and return to its showing; False without a vote.

        Raises:
            StoreError: The journal cannot be written.
        """
        last = self.state.last_vote
        if last is None:
            return False
        self._append(EntryKind.UNDO, last.showing)
        return True

    def reveal(self) -> AuditItem:
        """Return the current picture with its verdict; the journal records that it was shown.

        Raises:
            StoreError: The journal cannot be written.
        """
        current = self._current()
        self._append(EntryKind.REVEAL, current)
        return self.items_of(current)[0]

    def reveal_rest(self) -> None:
        """Record that the verdicts of all pictures without a vote were revealed.

        Raises:
            StoreError: The journal cannot be written.
        """
        for place in range(len(self.session.showings)):
            if place not in self.state.votes and place not in self.state.revealed:
                self._append(EntryKind.REVEAL, place)

    def take_break(self) -> None:
        """Begin to count the time to the next break."""
        self._break_at = self._shown_at = self._clock()

    def close(self) -> None:
        """Release the journal."""
        self._journal.close()

    def _current(self) -> int:
        current = self.state.current
        if current is None:
            raise ValueError("Every picture has a vote.")
        return current

    def _append(
        self, kind: EntryKind, showing: int, answer: Answer | None = None, note: str = ""
    ) -> None:
        now, is_vote = self._clock(), kind is EntryKind.VOTE
        entry = JournalEntry(
            number=len(self.state.entries),
            kind=kind,
            showing=showing,
            time=self._now().isoformat(timespec="milliseconds"),
            answer=answer,
            note=note,
            seconds=round(min(now - self._shown_at, LONGEST_S), 3) if is_vote else 0.0,
        )
        self._journal.append(entry)
        self.state = state_of(self.session, self._journal.entries)
        if now - self._shown_at > PAUSE_S:
            self._break_at = now
        if kind is not EntryKind.REVEAL:
            self._shown_at = now


class AuditSessions:
    """The sessions in a folder.

    Args:
        folder: Folder of the journals.
        journals: Creates, opens and reads them.
    """

    def __init__(self, folder: Path, journals: VoteJournals) -> None:
        self.folder = folder
        self._journals = journals

    def start(self, session: AuditSession) -> Voting:
        """Store a new session and open it.

        Raises:
            StoreError: The folder cannot be written.
        """
        return Voting(self._journals.create(session, self.folder))

    def open(self, path: Path) -> Voting:
        """Open a session to continue it.

        Raises:
            StoreError: The file is damaged, or open in another program.
        """
        return Voting(self._journals.open(path))

    def read(self, path: Path) -> SessionState:
        """Read a session and its votes.

        Raises:
            StoreError: The file is damaged or too large.
        """
        return self._journals.read(path)

    def list(self) -> tuple[tuple[Path, SessionState], ...]:
        """Return the readable sessions of the folder, the newest first."""
        found = []
        for path in self._journals.paths(self.folder):
            try:
                found.append((path, self._journals.read(path)))
            except StudioError:
                continue
        return tuple(found)
