"""One thing in the queue: a picture that is asked for, with the baseline that belongs to it."""

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum

from spatialstudio.application.session import OpenRun, RunState, both_after
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.derived_requests import fitted, is_search, unguided
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GenerationRequest, RequestId
from spatialstudio.domain.memory import MemoryFix
from spatialstudio.domain.perception import Looks
from spatialstudio.domain.sweep import SweepCell, SweepId
from spatialstudio.domain.verdict import Evaluation, Outcome, joint_outcome

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


@frozen
class InterruptedFound:
    """Earlier programs left requests undone. Published once a start; may cross threads."""

    requests: tuple[GenerationRequest, ...]


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
        return self.requests[0].seed

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
        first = fitted(first, fix)
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
