"""Fix it in the window: attempts that go through the queue, one after another."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.evaluate.pictures import Pictures
from spatialstudio.application.refine.fix_run import FixRun, plan_fix
from spatialstudio.application.refine.refine_loop import find_pictures
from spatialstudio.application.run.queue import Place, RunQueue
from spatialstudio.application.session import OpenRun, RunState, StoreFailed, after
from spatialstudio.application.storage.storage import Storage
from spatialstudio.domain.errors import ErrorReport, StudioError
from spatialstudio.domain.fix import BUDGET, Fix, FixReason
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GenerationRequest
from spatialstudio.domain.ports import ModelCard


@frozen
class FixChanged:
    """A fix was begun, got an attempt, or ended. Published by ``Fixing`` on the GUI thread.

    Attributes:
        fix: Plan and attempts so far.
        is_running: Whether an attempt is waiting or being drawn.
        error: Why it stopped early; None otherwise.
    """

    fix: Fix
    is_running: bool
    error: ErrorReport | None = None


class Fixing:
    """Runs one fix at a time through the queue. Lives on the GUI thread.

    Args:
        queue: Draws the attempts; an attempt is drawn before any waiting run.
        storage: Stores the state of fixes, and the pictures that local repairs start from.
        model: Returns the card of a model.
        pictures: Judges stored attempts again.
        publish: Receives ``FixChanged``.
    """

    def __init__(
        self,
        queue: RunQueue,
        storage: Storage,
        model: Callable[[str], ModelCard],
        pictures: Pictures,
        publish: Callable[[object], None],
    ) -> None:
        self._queue = queue
        self._storage = storage
        self._model = model
        self._pictures = pictures
        self._publish = publish
        self._fix_run: FixRun | None = None
        self._attempt: OpenRun | None = None

    @property
    def fix(self) -> Fix | None:
        """The last fix of this session; None before the first."""
        return None if self._fix_run is None else self._fix_run.fix

    @property
    def is_running(self) -> bool:
        """Whether an attempt is waiting or being drawn."""
        return self._attempt is not None

    def plan(self, run: OpenRun, budget: int = BUDGET, reason: FixReason | None = None) -> Fix:
        """Plan a fix; arguments and errors as for ``plan_fix``.

        Raises:
            RequestError: There is nothing to fix, or the budget is out of range.
            ModelNotFound: The model of the picture is not installed.
        """
        model_id = run.request.model.id if run.request else ""
        return plan_fix(run, self._model(model_id), budget=budget, reason=reason)

    def stored(self, run: OpenRun) -> Fix | None:
        """Return the newest fix of a run, or with it among its attempts; None if there is none."""
        return self._storage.fixes.of_run(run.id)

    def prepare(self, fix: Fix) -> None:
        """Keep the picture of the start, which local repairs redraw.

        Raises:
            ImageError: Its file is missing or damaged.
        """
        if fix.repair is not None:
            self._storage.repairs.keep_file(Path(fix.start.picture))

    def requests(self, fix: Fix) -> tuple[GenerationRequest, ...]:
        """Return the requests that a fix may still draw, for ``RunEstimates.estimate``."""
        return self._run_of(fix).remaining_requests()

    def start(self, fix: Fix) -> None:
        """Begin a planned fix, or continue a stored one; no effect while one is running.

        Raises:
            RequestError: A setting of an attempt is out of range.
            ModelNotFound: The model is not installed.
            StoreError: The runs folder, or the state, is not writable.
            ImageError: The picture of the start is missing or damaged.
            NoDetectorChosen: A stored attempt cannot be judged.
        """
        if self.is_running:
            return
        self.prepare(fix)
        self._fix_run = self._run_of(fix)
        self._storage.fixes.save(fix)
        self._draw_next()

    def cancel(self) -> None:
        """Stop the running attempt; the attempts so far are kept, and it can be continued."""
        attempt, self._attempt = self._attempt, None
        if attempt is None:
            return
        running = self._queue.running
        if running is not None and running.id == attempt.id:
            self._queue.cancel()
        else:
            self._queue.dismiss(attempt.id)
        self._tell()

    def apply_event(self, event: object) -> None:
        """Apply an event of the bus: take an attempt, and draw the next one."""
        if self._attempt is None:
            return
        self._attempt = attempt = after(self._attempt, event)
        if attempt.state is RunState.CANCELLED:
            self._attempt = None
            self._tell()
        elif attempt.is_over and self._is_stored(attempt, event):
            self._take(attempt)

    def _is_stored(self, attempt: OpenRun, event: object) -> bool:
        """Return True if nothing more is heard of an attempt that is over."""
        is_lost = isinstance(event, StoreFailed) and event.request_id == attempt.id
        return attempt.path is not None or attempt.state is RunState.FAILED or is_lost

    def _take(self, attempt: OpenRun) -> None:
        self._attempt = None
        if self._fix_run is None:
            return
        try:
            taken = self._fix_run.take(attempt)
            if taken.outcomes:
                self._draw_next()
            else:
                self._tell(attempt.failure)
        except StudioError as error:
            self._tell(report_on(error, "Fixing the picture"))

    def _draw_next(self) -> None:
        if self._fix_run is not None and not self._fix_run.is_over:
            try:
                self._begin(self._fix_run)
            except StudioError:
                self._attempt = None
                raise
        self._tell()

    def _begin(self, fix_run: FixRun) -> None:
        """Draw the next attempt, or judge its stored picture."""
        if fix_run.unjudged is None:
            request = fix_run.next_request()
            fix_run.begin(request)
            self._attempt = OpenRun(id=request.id, scene=request.scene, request=request)
            self._queue.add(request, place=Place.FIRST)
        else:
            run = self._storage.read_run(fix_run.unjudged)
            self._attempt = replace(run, state=RunState.WAITING, failure=None)
            self._pictures.judge_run(run)

    def _run_of(self, fix: Fix) -> FixRun:
        storage = self._storage
        find = find_pictures(storage.picture_of_request, storage.read_run)
        return FixRun(fix, storage.fixes.save, find)

    def _tell(self, error: ErrorReport | None = None) -> None:
        if self.fix is not None:
            self._publish(FixChanged(fix=self.fix, is_running=self.is_running, error=error))
