"""The queue: what is asked for, drawn one after the other, in an order that can be changed."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from enum import Enum, auto

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.jobs.messages import EngineStopped
from spatialstudio.application.run.start_run import RunStarter
from spatialstudio.application.session import (
    OpenRun,
    RunState,
    Session,
    both_after,
)
from spatialstudio.application.storage.storage import InterruptedFound
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.devices import AS_IT_WAS, MemoryFix
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import (
    GenerationCancelled,
    GenerationFailed,
    GenerationRequest,
    RequestId,
    StepEvent,
    is_search,
    unguided,
    with_memory_fix,
)
from spatialstudio.domain.perception import Looks
from spatialstudio.domain.sweep import SweepCell, SweepId
from spatialstudio.domain.verdict import (
    Evaluation,
    Outcome,
    joint_outcome,
)

THUMBNAIL_SIDE = 160
"""Pixels; at least so many are left of each side."""


class EntryState(Enum):
    """What became of an entry so far."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"


PENDING = frozenset({EntryState.WAITING, EntryState.RUNNING})
REPEATABLE = frozenset({EntryState.FAILED, EntryState.CANCELLED, EntryState.INTERRUPTED})
"""Those that can be asked for once more."""


@frozen(eq=False)
class QueueEntry:
    """A picture in the queue. Made by the queue only, on the thread of the window.

    Attributes:
        run: The picture; its request changes when a search has found its best one.
        baseline: The same seed without guidance; None when it was not asked for.
        state: What became of it so far.
    """

    run: OpenRun
    baseline: OpenRun | None = None
    state: EntryState = EntryState.WAITING

    @property
    def id(self) -> RequestId:
        """Of the picture's request."""
        return self.run.id

    @property
    def runs(self) -> tuple[OpenRun, ...]:
        """The picture and its baseline."""
        return (self.run,) if self.baseline is None else (self.run, self.baseline)

    @property
    def requests(self) -> tuple[GenerationRequest, ...]:
        """What was asked."""
        return tuple(run.request for run in self.runs if run.request is not None)

    @property
    def ready(self) -> tuple[GenerationRequest, ...]:
        """What can be drawn now: a baseline waits for a search to tell the seed of its picture."""
        asked = self.requests
        return asked[:1] if is_search(asked[0]) and not self.run.is_over else asked

    @property
    def unfinished(self) -> tuple[GenerationRequest, ...]:
        """What has no picture yet, or lost its judge to a dead engine."""
        undone = (run for run in self.runs if run.image is None or run.state is RunState.FAILED)
        return tuple(run.request for run in undone if run.request)

    @property
    def seed(self) -> int:
        """Of the first noise."""
        return self.requests[0].sampling.seed

    @property
    def cell(self) -> SweepCell | None:
        """Where it stands in a sweep; None when it belongs to none."""
        return self.run.request.sweep if self.run.request else None

    @property
    def sweep_id(self) -> SweepId | None:
        """Of the sweep that it belongs to; None when it belongs to none."""
        return self.cell.sweep_id if self.cell else None

    @property
    def outcome(self) -> Outcome | None:
        """Of the picture's relations together; None when it was not judged."""
        return outcome_of(self.run)

    def after(self, event: object) -> "QueueEntry":
        """Return the entry as it is after an event; itself when the event is not its own."""
        run, baseline = both_after(self.run, self.baseline, event)
        if run is self.run and baseline is self.baseline:
            return self
        moved = replace(self, run=run, baseline=baseline)
        if self.state is EntryState.RUNNING and all(each.is_over for each in moved.runs):
            moved = replace(moved, state=_end_of(moved.runs))
        return moved

    def again(self, fix: MemoryFix) -> tuple[GenerationRequest, ...]:
        """Return what is unfinished, to be asked once more; a fix may give something up."""
        first, *baselines = self.unfinished
        first = with_memory_fix(first, fix)
        return (first, *(unguided(first, each.id) for each in baselines))

    def lightened(self) -> "QueueEntry":
        """Return it without what its files on disk hold as well; pictures become small."""
        baseline = None if self.baseline is None else _light(self.baseline)
        return replace(self, run=_light(self.run), baseline=baseline)


def outcome_of(run: OpenRun) -> Outcome | None:
    """Return FAIL when a relation failed, else UNDECIDABLE when one is; None when not judged."""
    verdicts = run.evaluation.verdicts if run.evaluation else ()
    return joint_outcome(verdict.outcome for verdict in verdicts)


def waiting(*requests: GenerationRequest) -> QueueEntry:
    """Return an entry for a request and, where there are two, its baseline."""
    runs = [OpenRun(id=asked.id, scene=asked.scene, request=asked) for asked in requests]
    return QueueEntry(run=runs[0], baseline=runs[1] if len(runs) > 1 else None)


def entries_of(interrupted: Sequence[GenerationRequest]) -> tuple[QueueEntry, ...]:
    """Return what an earlier program left undone; baselines join the pictures before them."""
    entries: list[QueueEntry] = []
    for request in interrupted:
        last = entries[-1] if entries else None
        if last and last.baseline is None and unguided(last.requests[0], request.id) == request:
            entries[-1] = waiting(*last.requests, request)
        else:
            entries.append(waiting(request))
    return tuple(replace(entry, state=EntryState.INTERRUPTED) for entry in entries)


def _end_of(runs: Sequence[OpenRun]) -> EntryState:
    states = {run.state for run in runs}
    if RunState.FAILED in states:
        return EntryState.FAILED
    return EntryState.DONE if RunState.DONE in states else EntryState.CANCELLED


def _light(run: OpenRun) -> OpenRun:
    if run.path is None or run.image is None:
        return run
    return replace(run, steps=(), image=_small(run.image), evaluation=_words_of(run.evaluation))


def _words_of(evaluation: Evaluation | None) -> Evaluation | None:
    """Return an evaluation without its arrays."""
    if evaluation is None:
        return None
    seen = replace(evaluation.perception, masks=(), depth=None)
    return replace(evaluation, perception=seen, looks=Looks())


def _small(image: RgbImage) -> RgbImage:
    every = max(min(image.shape[:2]) // THUMBNAIL_SIDE, 1)
    return image[::every, ::every].copy()


MOST_DONE = 50
"""Older pictures are let go: they are in the gallery, and a long session stays light."""


class Place(Enum):
    """Where in the queue something new goes."""

    LAST = auto()
    FIRST = auto()
    INSTEAD = auto()
    """Of all that waits."""


@frozen(eq=False)
class QueueChanged:
    """The queue is another one. Published by the queue, on the thread of the window.

    Attributes:
        entries: In order; those that wait are drawn in this order.
        is_held: Whether nothing more is begun until the user says so.
    """

    entries: tuple[QueueEntry, ...] = ()
    is_held: bool = False


class RunQueue:
    """Hands the engine one entry after the other, and knows what became of each.

    Lives on the thread of the window; hears the bus through ``follow``. The newest entry is opened
    in the session, unless the user looks at something else meanwhile.

    Args:
        starter: Checks, remembers, starts and stops runs.
        session: Where the entry that is drawn can be watched.
        publish: Takes ``QueueChanged``.

    Attributes:
        most_done: How many stored pictures are listed; older ones are let go.
    """

    def __init__(
        self, starter: RunStarter, session: Session, publish: Callable[[object], None]
    ) -> None:
        self._starter = starter
        self._session = session
        self._publish = publish
        self._entries: tuple[QueueEntry, ...] = ()
        self._is_held = False
        self.most_done = MOST_DONE

    @property
    def entries(self) -> tuple[QueueEntry, ...]:
        """All of this session, in order."""
        return self._entries

    @property
    def running(self) -> QueueEntry | None:
        """The entry that is drawn; None when none is."""
        return next(iter(self._in(EntryState.RUNNING)), None)

    @property
    def waiting(self) -> tuple[QueueEntry, ...]:
        """Those that are not begun, in order."""
        return self._in(EntryState.WAITING)

    @property
    def is_held(self) -> bool:
        """Whether nothing more is begun until the user says so."""
        return self._is_held

    def entry(self, entry_id: str) -> QueueEntry | None:
        """Return an entry by its id; None when it is not there."""
        return next((entry for entry in self._entries if entry.id == entry_id), None)

    def request(self, request_id: RequestId) -> GenerationRequest | None:
        """Return what was asked under an id; None when it was not asked here."""
        asked = (each for entry in reversed(self._entries) for each in entry.requests)
        return next((each for each in asked if each.id == request_id), None)

    def present(self) -> QueueChanged:
        """Return how the queue stands, for a late listener."""
        return QueueChanged(entries=self._entries, is_held=self._is_held)

    def add(
        self,
        *requests: GenerationRequest,
        with_baseline: bool = False,
        place: Place = Place.LAST,
    ) -> None:
        """Ask for pictures; a queue that was held goes on.

        Args:
            requests: What to draw, in order.
            with_baseline: Draw each seed without guidance as well.
            place: Where they go.

        Raises:
            PromptError: A scene contradicts itself; nothing is added then.
            RequestError: A number of a request is out of its range; nothing is added then.
            ModelNotFound: There is no such model; nothing is added then.
            StoreError: The folder for runs cannot be written; nothing is added then.
        """
        prepare = self._starter.prepare
        new = tuple(waiting(*prepare(asked, with_baseline=with_baseline)) for asked in requests)
        if place is Place.INSTEAD:
            self._drop(self.waiting)
        was_waiting = self.waiting
        in_order = (*new, *was_waiting) if place is Place.FIRST else (*was_waiting, *new)
        self._line_up(in_order)
        self._is_held = False
        self._go_on(is_watched=self.running is None)

    def rearrange(self, wanted: Sequence[QueueEntry], among: Iterable[QueueEntry]) -> None:
        """Let entries wait in another order, take some out, or put them back.

        Args:
            wanted: Those that shall wait, in order; those that are begun already are let be.
            among: All that may be moved or taken out; others that wait stay, behind them.
        """
        begun = {entry.id for entry in self._entries if entry.state is not EntryState.WAITING}
        wanted = [entry for entry in wanted if entry.id not in begun]
        names = {entry.id for entry in wanted}
        self._drop(entry for entry in among if entry.id not in names | begun)
        for entry in wanted:
            self._starter.remember(*entry.requests)
        others = [entry for entry in self.waiting if entry.id not in names]
        self._line_up((*wanted, *others))
        self._go_on()

    def hold(self, is_held: bool) -> None:
        """Begin nothing more after what is drawn now; or go on."""
        self._is_held = is_held
        self._go_on()

    def cancel(self) -> None:
        """Stop what is drawn before its next model call; what waits comes next."""
        if (entry := self.running) is not None:
            over = {run.id for run in entry.runs if run.is_over}
            self._starter.cancel(each.id for each in entry.ready if each.id not in over)

    def cancel_sweep(self, sweep_id: SweepId) -> None:
        """Draw nothing more of a sweep; what it has drawn already stays."""
        running = self.running
        if running is not None and running.sweep_id == sweep_id:
            self.cancel()
        self._drop(entry for entry in self.waiting if entry.sweep_id == sweep_id)
        self._tell()

    def retry(self, *entry_ids: str, fix: MemoryFix = AS_IT_WAS) -> None:
        """Ask once more for what failed, was cancelled or interrupted, with all its inputs.

        Args:
            entry_ids: Of which entries; others are let be.
            fix: What is given up this time to draw with less memory.

        Raises:
            ModelNotFound: A model is no longer there; nothing is asked then.
            StoreError: The folder for runs cannot be written; nothing is asked then.
        """
        again = [entry for entry in self._named(entry_ids) if entry.state in REPEATABLE]
        fresh = []
        for entry in again:
            asked = entry.again(fix)
            for request in asked:
                self._starter.prepare(request)
            fresh.append(waiting(*asked))
        self._starter.settle(*(each for entry in again for each in entry.requests))
        self._let_go(again)
        self._line_up((*self.waiting, *fresh))
        self._is_held = False
        self._go_on(is_watched=self.running is None)

    def dismiss(self, *entry_ids: str) -> None:
        """Take entries off the list that are over; their pictures stay in the library."""
        over = [entry for entry in self._named(entry_ids) if entry is not self.running]
        self._drop(over)
        self._tell()

    def restore(self, interrupted: Sequence[GenerationRequest]) -> None:
        """List what an earlier program was asked and has not drawn."""
        known = {entry.id for entry in self._entries}
        found = (entry for entry in entries_of(interrupted) if entry.id not in known)
        self._entries = (*self._entries, *found)
        self._tell()

    def follow(self, event: object) -> None:
        """Take in what the engine says of the entries, and what an earlier program left undone."""
        if isinstance(event, InterruptedFound):
            self.restore(event.requests)
            return
        entry = self._hit(event)
        if entry is None or (moved := entry.after(event)) is entry:
            return
        has_ended = entry.state is EntryState.RUNNING and moved.state is not EntryState.RUNNING
        if all(run.path is not None for run in moved.runs):
            moved = moved.lightened()
        self._entries = tuple(moved if each is entry else each for each in self._entries)
        self._let_go(self._stored[: -self.most_done])
        if not has_ended and len(moved.ready) > len(entry.ready):
            self._draw_baseline(moved)
        if has_ended:
            open_run = self._session.run
            self._go_on(is_watched=open_run is not None and open_run.id == entry.id)
        elif not isinstance(event, StepEvent):
            self._tell()

    def _go_on(self, *, is_watched: bool = False) -> None:
        """Begin the next entry where none is drawn; ``is_watched`` opens it in the session."""
        if self.running is None and not self._is_held and self.waiting:
            self._begin(self.waiting[0], is_watched=is_watched or self._session.run is None)
        self._tell()

    def _begin(self, entry: QueueEntry, *, is_watched: bool) -> None:
        begun = replace(entry, state=EntryState.RUNNING)
        self._entries = tuple(begun if each is entry else each for each in self._entries)
        if is_watched:
            self._session.open(*begun.runs)
        self._submit(entry.ready)

    def _draw_baseline(self, entry: QueueEntry) -> None:
        """Draw what waited for a search; where that found no picture, both can be asked again."""
        if entry.run.image is not None:
            self._submit(entry.ready[1:])
            return
        for request in entry.ready[1:]:
            self._starter.forget(request)
            self._publish(GenerationCancelled(request_id=request.id, at_step=0))

    def _submit(self, requests: Sequence[GenerationRequest]) -> None:
        try:
            self._starter.submit(requests)
        except StudioError as error:
            report = report_on(error, "Starting the run")
            for request in requests:
                self._publish(GenerationFailed(request_id=request.id, error=report))

    def _drop(self, entries: Iterable[QueueEntry]) -> None:
        entries = tuple(entries)
        for entry in entries:
            if entry.state is EntryState.INTERRUPTED:
                self._starter.settle(*entry.requests)
            else:
                self._starter.forget(*entry.unfinished)
        self._let_go(entries)

    def _let_go(self, entries: Iterable[QueueEntry]) -> None:
        gone = {entry.id for entry in entries}
        self._entries = tuple(entry for entry in self._entries if entry.id not in gone)

    def _line_up(self, in_order: Iterable[QueueEntry]) -> None:
        others = (entry for entry in self._entries if entry.state is not EntryState.WAITING)
        self._entries = (*others, *in_order)

    @property
    def _stored(self) -> tuple[QueueEntry, ...]:
        """Those whose pictures are all on disk, judged."""
        done = self._in(EntryState.DONE)
        return tuple(each for each in done if all(run.path is not None for run in each.runs))

    def _in(self, state: EntryState) -> tuple[QueueEntry, ...]:
        return tuple(entry for entry in self._entries if entry.state is state)

    def _named(self, entry_ids: Iterable[str]) -> tuple[QueueEntry, ...]:
        names = frozenset(entry_ids)
        return tuple(entry for entry in self._entries if entry.id in names)

    def _hit(self, event: object) -> QueueEntry | None:
        if isinstance(event, EngineStopped):
            return self.running
        request_id: RequestId | None = getattr(event, "request_id", None)
        if request_id is None:
            return None
        owns = (e for e in reversed(self._entries) if request_id in {run.id for run in e.runs})
        return next(owns, None)

    def _tell(self) -> None:
        self._publish(self.present())
