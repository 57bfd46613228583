"""Queue of requests, generated one after the other in an order that the user can change."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from enum import Enum, auto

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
from spatialstudio.domain.derived_requests import is_search, unguided, with_memory_fix
from spatialstudio.domain.devices import AS_IT_WAS, MemoryFix
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import (
    GenerationCancelled,
    GenerationRequest,
    RequestId,
    StepEvent,
)
from spatialstudio.domain.sweep import SweepCell, SweepId
from spatialstudio.domain.verdict import (
    Evaluation,
    Looks,
    Outcome,
)

THUMBNAIL_SIDE = 160
"""Minimum side of a reduced image, pixels."""


class EntryState(Enum):
    """State of a queue entry."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"


PENDING = frozenset({EntryState.WAITING, EntryState.RUNNING})
REPEATABLE = frozenset({EntryState.FAILED, EntryState.CANCELLED, EntryState.INTERRUPTED})
"""States of entries that can be retried."""


@frozen(eq=False)
class QueueEntry:
    """An image in the queue. Created by the queue only, on the GUI thread.

    Attributes:
        run: The run; its request changes when a search has found its best image.
        baseline: Run of the same seed without guidance; None if not requested.
        state: State of the entry.
    """

    run: OpenRun
    baseline: OpenRun | None = None
    state: EntryState = EntryState.WAITING

    @property
    def id(self) -> RequestId:
        """Id of the image's request."""
        return self.run.id

    @property
    def runs(self) -> tuple[OpenRun, ...]:
        """The run and its baseline."""
        return (self.run,) if self.baseline is None else (self.run, self.baseline)

    @property
    def requests(self) -> tuple[GenerationRequest, ...]:
        """The requests of the runs."""
        return tuple(run.request for run in self.runs if run.request is not None)

    @property
    def ready(self) -> tuple[GenerationRequest, ...]:
        """Requests that can start now; a baseline waits for the seed that a search selects."""
        asked = self.requests
        return asked[:1] if is_search(asked[0]) and not self.run.is_over else asked

    @property
    def unfinished(self) -> tuple[GenerationRequest, ...]:
        """Requests without an image, or whose evaluation was lost with the engine."""
        undone = (run for run in self.runs if run.image is None or run.state is RunState.FAILED)
        return tuple(run.request for run in undone if run.request)

    @property
    def seed(self) -> int:
        """Seed of the initial noise."""
        return self.requests[0].sampling.seed

    @property
    def cell(self) -> SweepCell | None:
        """Cell of a sweep; None outside a sweep."""
        return self.run.request.sweep if self.run.request else None

    @property
    def sweep_id(self) -> SweepId | None:
        """Id of the sweep; None outside a sweep."""
        return self.cell.sweep_id if self.cell else None

    @property
    def outcome(self) -> Outcome | None:
        """Joint outcome of the image's relations; None without an evaluation."""
        return outcome_of(self.run)

    def after(self, event: object) -> "QueueEntry":
        """Return the entry after an event; the same object if the event is not its own."""
        run, baseline = both_after(self.run, self.baseline, event)
        if run is self.run and baseline is self.baseline:
            return self
        moved = replace(self, run=run, baseline=baseline)
        if self.state is EntryState.RUNNING and all(each.is_over for each in moved.runs):
            moved = replace(moved, state=_end_of(moved.runs))
        return moved

    def again(self, fix: MemoryFix) -> tuple[GenerationRequest, ...]:
        """Return the unfinished requests for a retry, with a fix that reduces memory."""
        first, *baselines = self.unfinished
        first = with_memory_fix(first, fix)
        return (first, *(unguided(first, each.id) for each in baselines))

    def lightened(self) -> "QueueEntry":
        """Return the entry without data that is also on disk, and with reduced images."""
        baseline = None if self.baseline is None else _light(self.baseline)
        return replace(self, run=_light(self.run), baseline=baseline)


def outcome_of(run: OpenRun) -> Outcome | None:
    """Return the outcome of a run's evaluation; None without one."""
    return run.evaluation.outcome if run.evaluation else None


def waiting(*requests: GenerationRequest) -> QueueEntry:
    """Return an entry for a request and its baseline, if given."""
    runs = [OpenRun(id=asked.id, scene=asked.scene, request=asked) for asked in requests]
    return QueueEntry(run=runs[0], baseline=runs[1] if len(runs) > 1 else None)


def entries_of(interrupted: Sequence[GenerationRequest]) -> tuple[QueueEntry, ...]:
    """Return interrupted entries for requests of an earlier session, joined with baselines."""
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
"""Number of finished entries that the queue keeps; the gallery shows older ones."""


class Place(Enum):
    """Where new entries are inserted into the queue."""

    LAST = auto()
    FIRST = auto()
    INSTEAD = auto()
    """Replaces all waiting entries."""


@frozen(eq=False)
class QueueChanged:
    """The queue changed. Published by the queue, on the GUI thread.

    Attributes:
        entries: All entries; waiting ones are in generation order.
        is_held: Whether the queue is paused.
    """

    entries: tuple[QueueEntry, ...] = ()
    is_held: bool = False


class RunQueue:
    """Submits entries to the engine one after the other, and tracks their states.

    Lives on the GUI thread; receives events through ``apply_event``. An entry is opened in the
    session when it starts, unless another run is open.

    Args:
        starter: Validates, records, submits and cancels runs.
        session: The session that shows the running entry.
        publish: Receives ``QueueChanged``.

    Attributes:
        most_done: Number of stored entries to keep.
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
        """All entries of this session, in order."""
        return self._entries

    @property
    def running(self) -> QueueEntry | None:
        """The running entry; None if none is running."""
        return next(iter(self._in(EntryState.RUNNING)), None)

    @property
    def waiting(self) -> tuple[QueueEntry, ...]:
        """Waiting entries, in order."""
        return self._in(EntryState.WAITING)

    @property
    def is_held(self) -> bool:
        """Whether the queue is paused."""
        return self._is_held

    def entry(self, entry_id: str) -> QueueEntry | None:
        """Return an entry by id; None if there is none."""
        return next((entry for entry in self._entries if entry.id == entry_id), None)

    def request(self, request_id: RequestId) -> GenerationRequest | None:
        """Return a request by id; None if it is not in the queue."""
        asked = (each for entry in reversed(self._entries) for each in entry.requests)
        return next((each for each in asked if each.id == request_id), None)

    def present(self) -> QueueChanged:
        """Return the current state of the queue, for a late subscriber."""
        return QueueChanged(entries=self._entries, is_held=self._is_held)

    def add(
        self,
        *requests: GenerationRequest,
        with_baseline: bool = False,
        place: Place = Place.LAST,
    ) -> None:
        """Add requests; a paused queue resumes.

        Args:
            requests: Requests, in order.
            with_baseline: Also generate each seed without guidance.
            place: Where they are inserted.

        Raises:
            PromptError: A scene contradicts itself; nothing is added.
            RequestError: A setting is out of range; nothing is added.
            ModelNotFound: A model is not installed; nothing is added.
            StoreError: The runs folder is not writable; nothing is added.
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
        """Reorder, remove or restore waiting entries.

        Args:
            wanted: Entries that wait afterwards, in order; started ones are not affected.
            among: Entries that may be moved or removed; other waiting entries follow them.
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
        """Pause the queue after the running entry, or resume it."""
        self._is_held = is_held
        self._go_on()

    def cancel(self) -> None:
        """Cancel the running entry before its next model call; the next one starts."""
        if (entry := self.running) is not None:
            over = {run.id for run in entry.runs if run.is_over}
            self._starter.cancel(each.id for each in entry.ready if each.id not in over)

    def cancel_sweep(self, sweep_id: SweepId) -> None:
        """Cancel all remaining images of a sweep; finished ones stay."""
        running = self.running
        if running is not None and running.sweep_id == sweep_id:
            self.cancel()
        self._drop(entry for entry in self.waiting if entry.sweep_id == sweep_id)
        self._tell()

    def retry(self, *entry_ids: str, fix: MemoryFix = AS_IT_WAS) -> None:
        """Repeat failed, cancelled or interrupted entries with all their inputs.

        Args:
            entry_ids: Ids of the entries; entries in other states are ignored.
            fix: Change that reduces memory for this attempt.

        Raises:
            ModelNotFound: A model is not installed; nothing is repeated.
            StoreError: The runs folder is not writable; nothing is repeated.
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
        """Remove ended entries from the list; their images stay in the library."""
        over = [entry for entry in self._named(entry_ids) if entry is not self.running]
        self._drop(over)
        self._tell()

    def restore(self, interrupted: Sequence[GenerationRequest]) -> None:
        """Add the unfinished requests of an earlier session as interrupted entries."""
        known = {entry.id for entry in self._entries}
        found = (entry for entry in entries_of(interrupted) if entry.id not in known)
        self._entries = (*self._entries, *found)
        self._tell()

    def apply_event(self, event: object) -> None:
        """Apply an event of the engine, or add the interrupted requests of an earlier session."""
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
        """Start the next entry if none is running; ``is_watched`` opens it in the session."""
        if self.running is None and not self._is_held and self.waiting:
            entry = self.waiting[0]
            begun = replace(entry, state=EntryState.RUNNING)
            self._entries = tuple(begun if each is entry else each for each in self._entries)
            if is_watched or self._session.run is None:
                self._session.open(*begun.runs)
            self._starter.submit(entry.ready)
        self._tell()

    def _draw_baseline(self, entry: QueueEntry) -> None:
        """Start the baseline after a search; cancel it if the search found no image."""
        if entry.run.image is not None:
            self._starter.submit(entry.ready[1:])
            return
        for request in entry.ready[1:]:
            self._starter.forget(request)
            self._publish(GenerationCancelled(request_id=request.id, at_step=0))

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
        """Entries with all images stored and evaluated."""
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
