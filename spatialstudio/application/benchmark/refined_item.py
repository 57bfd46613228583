"""The rounds of an item that is drawn by Evaluate-and-Refine.

Each round is a run of its own, of the family of the first. It is stored with its cost before the
next one is drawn, and what the rules decide is read from the stored verdicts, so that a loop that
was interrupted draws what it would have drawn.
"""

from dataclasses import replace
from pathlib import Path

from spatialstudio.application.benchmark.item_records import refined_record
from spatialstudio.application.benchmark.item_worker import ItemResult
from spatialstudio.application.benchmark.plan_items import refinement_of
from spatialstudio.application.benchmark.result_store import ResultStore
from spatialstudio.application.jobs.messages import GenerateJob
from spatialstudio.application.refine.refine_loop import RefineLoop
from spatialstudio.application.storage.run_writer import run_of
from spatialstudio.domain.assertion import DA_RECOMMENDED
from spatialstudio.domain.benchmark_plan import PlannedItem
from spatialstudio.domain.benchmark_ports import Record
from spatialstudio.domain.errors import RequestError, StoreError
from spatialstudio.domain.generation import GenerationFinished, RequestId
from spatialstudio.domain.run_ports import RunStore
from spatialstudio.domain.safe_files import is_inside
from spatialstudio.domain.verdict import Evaluation


class RefinedItem:
    """The loop of one item, continued with its stored rounds.

    Args:
        item: An item whose method has rules of Evaluate-and-Refine.
        job: Draws the item and judges it by the judge set that scores the rounds.
        store: Folder of the benchmark.
        runs: Stores pictures.

    Attributes:
        unjudged: The stored picture of the next round, which has no verdicts; None without one.
    """

    def __init__(
        self, item: PlannedItem, job: GenerateJob, store: ResultStore, runs: RunStore
    ) -> None:
        self._key, self._job, self._store, self._runs = item.key, job, store, runs
        refinement = refinement_of(job.request, job.model, item.method)
        self._loop = RefineLoop(refinement, lambda _: None, DA_RECOMMENDED)
        self._attempts: list[Record] = []
        self.unjudged: GenerationFinished | None = None
        for record in store.attempts(item.key):
            if self.unjudged is not None or not self._take(record):
                break

    @property
    def is_over(self) -> bool:
        """Whether the loop has ended."""
        return self.unjudged is None and self._loop.is_over

    @property
    def next_job(self) -> GenerateJob:
        """The job that draws and judges the next round; it is the same after an interruption."""
        request, _ = self._loop.next_request()
        number = len(self._loop.refinement.attempts) + 1
        named = RequestId(self._key if number == 1 else f"{self._key}-{number}")
        return replace(
            self._job,
            request=replace(request, id=named),
            assertions=self._loop.refinement.assertions,
        )

    def add(self, record: Record) -> None:
        """Store a round that was drawn.

        Args:
            record: Its picture and cost.

        Raises:
            RequestError: Its picture cannot be scored.
            StoreError: The folder cannot be written or is full.
        """
        self._store.add_attempts(self._key, [*self._attempts, record])
        self._take(record)

    def add_verdicts(self, evaluation: Evaluation, seconds: float) -> None:
        """Store the verdicts of the picture that had none, and the time that they took.

        Raises:
            RequestError: The picture cannot be scored.
            StoreError: The folder cannot be written or is full.
        """
        drawn = self._attempts.pop()
        self._runs.judge(self._path_of(drawn), evaluation)
        self.unjudged = None
        self.add({**drawn, "judging_seconds": seconds})

    @property
    def best(self) -> ItemResult:
        """The picture of the best round, and its verdicts."""
        record, events = self._runs.load(self._path_of(self._best))
        return ItemResult(events=events, evaluation=record.evaluation)

    @property
    def record(self) -> Record:
        """The record of the item: the picture of its best round, and the cost of all."""
        scores = [None if each is None else each.value for each in self._loop.scores]
        return refined_record(self._best, self._attempts, scores)

    @property
    def _best(self) -> Record:
        return self._attempts[self._loop.decisions.best or 0]

    def _path_of(self, attempt: Record) -> Path:
        return self._store.folder / str(attempt["picture"])

    def _take(self, attempt: Record) -> bool:
        """Take a stored round; return False if its picture is missing or damaged."""
        path = self._path_of(attempt)
        if not is_inside(path, self._store.folder):
            return False
        try:
            record, events = self._runs.load(path)
        except StoreError:
            return False
        self._attempts.append(attempt)
        if record.evaluation is None:
            self.unjudged = ItemResult(events=events).finished
            return True
        request, weights = self._loop.next_request()
        self._loop.take(request.id, weights, run_of(record, events, path))
        if self._loop.refinement.attempts[-1].score is None:
            raise RequestError(
                "A round cannot be scored.", hint="Choose another judge set for the benchmark."
            )
        return True
