"""Opens benchmarks and follows their results in the background, whichever process draws them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from spatialstudio.application.benchmark.background_run import BackgroundRun
from spatialstudio.application.error_reports import report_on
from spatialstudio.application.jobs.background_jobs import (
    BackgroundJobs,
    CancellableJob,
    Progress,
)
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.domain.benchmark_cells import CellTable
from spatialstudio.domain.benchmark_plan import BenchmarkPlan
from spatialstudio.domain.errors import ErrorReport, StudioError
from spatialstudio.domain.frozen import frozen

if TYPE_CHECKING:
    from spatialstudio.application.benchmark.runner import ItemFiles
    from spatialstudio.application.studio import Studio

OPENING = "Opening the benchmark"
HOLDING = "Pausing the benchmark"
POLL_S = 0.4


@frozen(eq=False)
class BenchmarkView:
    """The state of the open benchmark.

    Attributes:
        folder: Its folder.
        plan: Its plan.
        judges: Name of the judge set whose verdicts are shown.
        table: Its cells.
        held: "pause" or "drain" while its process is asked to; empty otherwise.
        expected: Seconds per picture in earlier benchmarks, by method; unknown ones lack.
        unjudged: Number of pictures that are left to judge, without the left cells of the table.
    """

    folder: Path
    plan: BenchmarkPlan
    judges: str
    table: CellTable
    held: str = ""
    expected: Mapping[str, float] = field(default_factory=dict)
    unjudged: int = 0


@frozen(eq=False)
class BenchmarkChanged:
    """The open benchmark, or a part of it, changed. Published by ``BenchmarkMonitor``."""

    view: BenchmarkView


@frozen(eq=False)
class BenchmarkRefused:
    """A folder cannot be opened. Published by ``BenchmarkMonitor``."""

    folder: Path
    error: ErrorReport


class BenchmarkMonitor(CancellableJob):
    """Follows one benchmark at a time.

    Plans are read with the default relation extractor and judge sets, as in the terminal, so that
    the user's choices in the window change no benchmark.

    Args:
        open_studio: Opens a studio with default choices; called in the background.
        publish: Receives ``BenchmarkChanged`` and ``BenchmarkRefused``, in the background.

    Attributes:
        view: The open benchmark; None before one is open.
        run: Draws a benchmark in a process.
        open_studio: Opens a studio with default choices.
    """

    def __init__(
        self, open_studio: Callable[[], "Studio"], publish: Callable[[object], None]
    ) -> None:
        self.open_studio = open_studio
        self._publish = publish
        self.view: BenchmarkView | None = None
        self.run = BackgroundRun(open_studio, publish)
        self._orders = BackgroundJobs(publish, "benchmark-orders")

    def hold(self, kind: str) -> None:
        """Ask the process that draws the open benchmark to pause or drain, whichever it is.

        Args:
            kind: "pause" or "drain"; empty to let it go on.
        """
        if self.view is not None:
            self._orders.run(HOLDING, partial(self._hold, self.view.folder, kind))

    def close(self) -> None:
        """End the process that draws, and return when the threads have ended."""
        self.run.close()
        self._orders.close()
        super().close()

    def _hold(self, folder: Path, kind: str, _progress: Progress) -> None:
        from spatialstudio.application.benchmark.open_items import store_in

        with closing(self.open_studio()) as studio:
            store = store_in(studio, folder)
            store.hold(kind) if kind else store.release()

    def open(self, folder: Path, judges: str = "") -> None:
        """Open a benchmark and follow it until another one is opened; return at once.

        Args:
            folder: Its folder.
            judges: The judge set to show; empty for the first of the plan.
        """
        self._start(partial(self._follow, folder, judges))

    def _follow(self, folder: Path, judges: str, flag: CancelFlag) -> None:
        from spatialstudio.application.benchmark.open_items import items_in
        from spatialstudio.application.benchmark.picture_times import expected_seconds, read_times

        try:
            with closing(self.open_studio()) as studio:
                items = items_in(studio, folder)
                expected = expected_seconds(items.opened, read_times(studio.paths.cache))
                for view in _views(items, judges, expected, flag):
                    flag.raise_if_cancelled()
                    self.view = view
                    self._publish(BenchmarkChanged(view=view))
        except (StudioError, OSError) as error:
            self._publish(BenchmarkRefused(folder=folder, error=report_on(error, OPENING)))


def _views(
    items: "ItemFiles", judges: str, expected: Mapping[str, float], flag: CancelFlag
) -> Iterator[BenchmarkView]:
    """Yield the first view, then one after each change until the flag is set."""
    from spatialstudio.application.benchmark.follow_results import ResultFollower

    plan, store = items.opened.plan, items.store
    judged_by = next((each for each in plan.judges if each.name == judges), plan.judges[0])
    follower = ResultFollower(items, judged_by)
    view = partial(
        BenchmarkView,
        folder=store.folder,
        plan=plan,
        judges=judged_by.name,
        expected=expected,
    )
    held: str | None = None
    while not flag.is_cancelled:
        for table in follower.read(flag.raise_if_cancelled):
            yield view(table=table, held=store.held, unjudged=follower.unjudged)
        if store.held != held:
            held = store.held
            yield view(table=follower.table, held=held, unjudged=follower.unjudged)
        flag.wait(POLL_S)
