"""Draws a benchmark in a child process of the window, which can be killed at any moment.

Items are stored as they end, so that nothing is lost but the items in flight, whichever process is
killed; the child ends by itself when the window does.
"""

import multiprocessing
import pickle
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING

from spatialstudio.application.benchmark.executors import EnginePlan, open_workers
from spatialstudio.application.error_reports import report_on
from spatialstudio.application.jobs.child_environment import environment_for_children
from spatialstudio.domain.errors import Cancelled, ErrorReport
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.search_paths import leave_out_current_folder

if TYPE_CHECKING:
    from spatialstudio.application.benchmark.runner import BenchmarkProgress, BenchmarkRunner
    from spatialstudio.application.studio import Studio

TITLE = "Drawing the benchmark"
CLOSING_TIMEOUT_S = 3.0
EVERY_CAUSE = ""


@frozen
class RunOrder:
    """What to draw, and where.

    Attributes:
        folder: Folder of a benchmark that has begun.
        engines: The engines; their threads are those of the plan.
        retry: Cause of the failed items to try again; ``EVERY_CAUSE`` for all, None for none.
        only_smoke: Whether to end after the two pictures of the smoke test.
        choose: Score by which the best method is chosen while drawing (OPSE); empty to draw all.
    """

    folder: Path
    engines: EnginePlan = EnginePlan()
    retry: str | None = None
    only_smoke: bool = False
    choose: str = ""


@frozen(eq=False)
class RunProgressed:
    """Progress of a run. Published by ``BackgroundRun`` after each item; may cross threads."""

    folder: Path
    progress: "BenchmarkProgress"


@frozen(eq=False)
class RunBegan:
    """A process was started. Published by ``BackgroundRun``; may cross threads."""

    order: RunOrder


@frozen(eq=False)
class RunEnded:
    """A run ended. Published by ``BackgroundRun``; may cross threads.

    Attributes:
        order: What was drawn.
        error: Why it ended early; None if it is complete, was drained or stopped.
        is_stopped: Whether it was stopped at once.
        best: The method that was chosen with certainty; empty without a choice.
    """

    order: RunOrder
    error: ErrorReport | None = None
    is_stopped: bool = False
    best: str = ""


class BackgroundRun:
    """Runs at most one benchmark at a time.

    Args:
        open_studio: Opens a studio with default choices; called in the child, so it is picklable.
        publish: Receives ``RunBegan``, ``RunProgressed`` and ``RunEnded``, in a thread.

    Attributes:
        order: What is drawn now; None while nothing is.
        progress: The last progress of ``order``; None before its first item.
    """

    def __init__(
        self, open_studio: "Callable[[], Studio]", publish: Callable[[object], None]
    ) -> None:
        self._open_studio = open_studio
        self._publish = publish
        self._child: _Child | None = None
        self.order: RunOrder | None = None
        self.progress: BenchmarkProgress | None = None

    def start(self, order: RunOrder) -> None:
        """Start to draw, unless a benchmark is drawn already; return at once."""
        if self.order is None:
            self.order, self.progress = order, None
            self._child = _Child(self._open_studio, order, self._take)
            self._publish(RunBegan(order=order))

    def stop(self) -> None:
        """Stop at once; the items in flight are lost and drawn again later."""
        if self._child is not None:
            self._child.stop()

    def close(self) -> None:
        """Stop, and return when the process has ended."""
        if self._child is not None:
            self._child.close()

    def _take(self, event: "RunProgressed | RunEnded") -> None:
        if isinstance(event, RunEnded):
            self.order = self._child = None
        else:
            self.progress = event.progress
        self._publish(event)


class _Child:
    """The process that draws, and the thread that reads its events."""

    def __init__(
        self,
        open_studio: "Callable[[], Studio]",
        order: RunOrder,
        take: "Callable[[RunProgressed | RunEnded], None]",
    ) -> None:
        context = multiprocessing.get_context("spawn")
        commands, self._life = context.Pipe(duplex=False)
        self._events, events = context.Pipe(duplex=False)
        self._order, self._take = order, take
        self._lock = Lock()
        self._is_stopped = False
        self._process = context.Process(
            target=run_in_child, args=(open_studio, order, commands, events), name="benchmark"
        )
        with environment_for_children():
            self._process.start()
        commands.close()
        events.close()
        self._reader = Thread(target=self._read, name="benchmark-events", daemon=True)
        self._reader.start()

    def stop(self) -> None:
        """Ask the process to end at once, by closing its pipe."""
        with self._lock:
            if not self._is_stopped:
                self._is_stopped = True
                self._life.close()

    def close(self) -> None:
        self.stop()
        self._process.join(CLOSING_TIMEOUT_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._reader.join()

    def _read(self) -> None:
        ended = None
        with suppress(EOFError, OSError):
            while True:
                event = pickle.loads(self._events.recv_bytes())
                if isinstance(event, RunEnded):
                    ended = event
                else:
                    self._take(event)
        self._events.close()
        self._process.join()
        self._take(ended or self._cut_off())

    def _cut_off(self) -> RunEnded:
        """Return the end of a process that did not report one."""
        if self._is_stopped:
            return RunEnded(order=self._order, is_stopped=True)
        error = ErrorReport(
            title=TITLE,
            message="The process that draws the benchmark stopped unexpectedly.",
            hint="Start it again; finished pictures are kept.",
            details=f"Exit code {self._process.exitcode}.",
        )
        return RunEnded(order=self._order, error=error)


def run_in_child(
    open_studio: "Callable[[], Studio]", order: RunOrder, life: Connection, events: Connection
) -> None:
    """Draw in this process, and send its events.

    Args:
        open_studio: Opens a studio that draws in this process.
        order: What to draw.
        life: A pipe that is closed when the process has to end.
        events: Receives ``RunProgressed`` and one ``RunEnded``, pickled.
    """
    leave_out_current_folder()  # multiprocessing has copied the parent's search path

    def send(event: "RunProgressed | RunEnded") -> None:
        with suppress(OSError):  # the parent has ended
            events.send_bytes(pickle.dumps(event))

    def end_with_parent(runner: "BenchmarkRunner") -> None:
        def wait() -> None:
            with suppress(EOFError, OSError):
                life.recv_bytes()
            runner.cancel()

        Thread(target=wait, name="benchmark-life", daemon=True).start()

    with closing(open_studio()) as studio:
        send(draw(studio, order, send, end_with_parent))


def draw(
    studio: "Studio",
    order: RunOrder,
    send: "Callable[[RunProgressed], object]",
    begin: "Callable[[BenchmarkRunner], object]",
) -> RunEnded:
    """Draw what is not done, and write the results; return how it ended.

    Args:
        studio: Draws in this process if a single worker is wanted.
        order: What to draw.
        send: Receives the progress, on the threads of the engines.
        begin: Called with the runner before it draws.
    """
    from spatialstudio.application.benchmark.choice_asking import choice_asking
    from spatialstudio.application.benchmark.gather import write_results
    from spatialstudio.application.benchmark.method_race import MethodRace, score_reader
    from spatialstudio.application.benchmark.open_items import items_in
    from spatialstudio.application.benchmark.picture_times import learn_times
    from spatialstudio.application.benchmark.runner import BenchmarkRunner, failures_of

    try:
        items = items_in(studio, order.folder)
        items.store.release()
        failed = failures_of(items) if order.retry is not None else ()
        retry = [each.key for each in failed if order.retry in (EVERY_CAUSE, each.cause)]
        race = None
        if order.choose:
            race = MethodRace(items.opened.items, score_reader(items, order.choose))
        engines = replace(order.engines, threads=items.opened.plan.threads)
        with open_workers(studio, engines, studio.engine) as workers:
            runner = BenchmarkRunner(
                items,
                studio.storage.store,
                workers.all,
                lambda progress: send(RunProgressed(folder=order.folder, progress=progress)),
                choice_asking(studio, items),
            )
            begin(runner)
            runner.run(retry=retry, only_smoke=order.only_smoke, race=race)
        learn_times(items, studio.paths.cache)
        if runner.is_cancelled:
            raise Cancelled  # noqa: TRY301 - it may also come from an item in progress
        write_results(items)
    except Cancelled:
        return RunEnded(order=order, is_stopped=True)
    except Exception as error:  # noqa: BLE001 - the border of the process, as in the worker
        return RunEnded(order=order, error=report_on(error, TITLE))
    is_chosen = race is not None and race.race.is_decided
    return RunEnded(order=order, best=race.names[race.race.best] if race and is_chosen else "")
