"""Runs the items of a plan on one or several engines; an interrupted run continues.

An item is named by its content, so that it is never drawn twice; its files are complete or absent.
Order, number of engines and interruptions change no figure, as results are gathered from the items
in the order of the plan.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

from spatialstudio.application.benchmark.benchmarks import OpenPlan
from spatialstudio.application.benchmark.item_queue import ItemQueue
from spatialstudio.application.benchmark.item_records import (
    ASKING_SECONDS,
    judged_record,
    passes_of,
    relative_to,
)
from spatialstudio.application.benchmark.item_worker import (
    ItemResult,
    ItemWorker,
    evaluation_job,
)
from spatialstudio.application.benchmark.plan_file import asks_questions
from spatialstudio.application.benchmark.plan_items import Drawing, key_of
from spatialstudio.application.benchmark.refined_item import RefinedItem
from spatialstudio.application.benchmark.result_store import Failure, ResultStore, grouped
from spatialstudio.application.error_reports import report_on
from spatialstudio.application.evaluate.metrics import (
    ChosenMetrics,
    all_metrics,
    choose_metrics,
)
from spatialstudio.application.jobs.messages import GenerateJob, Job
from spatialstudio.application.storage.run_writer import environment_on, record_of
from spatialstudio.domain.benchmark_plan import JudgePlan, PlannedItem
from spatialstudio.domain.benchmark_ports import Record
from spatialstudio.domain.errors import Cancelled, ErrorReport, StudioError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import (
    GenerationFinished,
    GenerationRequest,
    GenerationStarted,
)
from spatialstudio.domain.multiple_choice import AskSettings
from spatialstudio.domain.ports import CancelToken
from spatialstudio.domain.run_ports import RunStore
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.verdict import Evaluation
from spatialstudio.science.checker.decide import decide_again
from spatialstudio.science.metrics.choice_questions import (
    CHOICES,
    PERCEPTION_RULES,
    answers_by_perception,
)

SMOKE_ITEMS = 2
POLL_S = 0.5
PAUSE, DRAIN = "pause", "drain"


@frozen
class EngineProgress:
    """What an engine has done in this process.

    Attributes:
        items: Number of its items.
        seconds: Time that it spent on them.
        lost: Number of items during which it ended.
    """

    items: int = 0
    seconds: float = 0.0
    lost: int = 0

    @property
    def per_hour(self) -> float | None:
        """Items per hour; None before the first."""
        return 3600 * self.items / self.seconds if self.items and self.seconds > 0 else None


@frozen
class BenchmarkProgress:
    """The state of a benchmark. Reported after each item, on the thread of its engine.

    Attributes:
        total: Number of pictures of the plan that can be drawn.
        done: Drawn and judged.
        failed: Failed in this run or an earlier one.
        seconds: Since this process began to draw, without pauses.
        engines: Progress by engine.
        item: Key of the item that has ended; empty in other reports.
        is_paused: Whether it waits.
    """

    total: int
    done: int
    failed: int
    seconds: float
    engines: Mapping[str, EngineProgress]
    item: str = ""
    is_paused: bool = False

    @property
    def drawn(self) -> int:
        """Items drawn or judged in this process."""
        return sum(each.items for each in self.engines.values())

    @property
    def per_hour(self) -> float | None:
        """Items per hour of all engines; None before the first."""
        return 3600 * self.drawn / self.seconds if self.drawn and self.seconds > 0 else None

    @property
    def left(self) -> int:
        """Items that are neither done nor failed."""
        return self.total - self.done - self.failed

    @property
    def seconds_left(self) -> float | None:
        """Expected time of the rest; None before the first item."""
        rate = self.per_hour
        return None if rate is None else 3600 * self.left / rate

    def left_for(self, engine: str) -> float | None:
        """Return how many items of the rest an engine is expected to do; None before its first.

        Engines take items from one queue, so that their shares are those of their throughput.
        """
        rates = {name: each.per_hour or 0.0 for name, each in self.engines.items()}
        return self.left * rates[engine] / sum(rates.values()) if rates[engine] else None


ReportProgress = Callable[[BenchmarkProgress], object]
AskChoices = Callable[[PlannedItem, str, CancelToken], Mapping[str, Any]]
"""Asks about the picture of an item; returns the values of the metric ``choices``."""


class ItemFiles:
    """What is done of each item of a plan.

    Args:
        opened: The plan.
        store: Its folder.
        drawing: Judge sets by the origin of a picture.
    """

    def __init__(self, opened: OpenPlan, store: ResultStore, drawing: Drawing) -> None:
        names = opened.plan.metrics
        self.metrics: ChosenMetrics = choose_metrics(names) if names else all_metrics()
        self.opened = opened
        self.store = store
        self._drawing = drawing

    def job(self, item: PlannedItem, judges: JudgePlan) -> GenerateJob:
        """Return the job that draws an item and judges it by a judge set.

        Raises:
            ModelNotFound: A model is not installed.
            SettingsError: The judge set does not exist.
        """
        assert item.request is not None
        model = self._drawing.model(item.request.model.id)
        choice = self._drawing.judges_of(judges, model.id, item.request.scene)
        has_judge = choice.detector_id is not None
        return GenerateJob(
            request=item.request,
            model=model,
            judge=has_judge,
            judges=choice,
            counts_cost=True,
        )

    def judge_id(self, job: GenerateJob) -> str:
        """Return the name of the verdicts of a job's judge set under the plan's settings."""
        plan = self.opened.plan
        usual = ("", AskSettings())
        answered = [each for each in (plan.choice_answerer, plan.asking) if each not in usual]
        return key_of([job.judges, self.opened.checker, self.metrics.names, *answered])[:12]

    def missing(self, item: PlannedItem) -> tuple[JudgePlan, ...]:
        """Return the judge sets that have not judged an item."""
        judges = self.opened.plan.judges
        return tuple(
            each
            for each in judges
            if self.store.judged(item.key, self.judge_id(self.job(item, each))) is None
        )

    def asking_seconds(self, item: PlannedItem) -> float:
        """Return the time that the answerer took over an item, where verdicts state it."""
        if not asks_questions(self.opened.plan.metrics):
            return 0.0
        jobs = (self.job(item, each) for each in self.opened.plan.judges)
        judged = (self.store.judged(item.key, self.judge_id(job)) or {} for job in jobs)
        return sum(float(each[ASKING_SECONDS]) for each in judged if ASKING_SECONDS in each)

    def is_done(self, item: PlannedItem) -> bool:
        """Return True if an item is drawn and judged."""
        return self.store.item(item.key) is not None and not self.missing(item)


class BenchmarkRunner:
    """Draws and judges the items that are not done.

    Args:
        items: The items of the plan and their files.
        runs: Stores pictures.
        workers: The engines, started and closed by this class.
        report: Receives the progress.
        ask: Answers the multiple-choice questions on an item; None for the perception.
    """

    def __init__(
        self,
        items: ItemFiles,
        runs: RunStore,
        workers: Sequence[ItemWorker],
        report: ReportProgress,
        ask: AskChoices | None = None,
    ) -> None:
        self._ask = ask
        self._items = items
        self._store = items.store
        self._runs = runs
        self._workers = workers
        self._report = report
        self._lock = Lock()
        self._stop = Event()
        self._fault: BaseException | None = None
        self._engines = {each.name: EngineProgress() for each in workers}
        self._done = self._failed = self._total = 0
        self._began, self._paused_s = 0.0, 0.0

    def cancel(self) -> None:
        """Stop at once, from any thread; the items in flight are lost."""
        self._stop.set()

    @property
    def is_cancelled(self) -> bool:
        """Whether ``cancel`` was called, or an item raised an error that ended the run."""
        return self._stop.is_set()

    def run(
        self,
        *,
        retry: Sequence[str] = (),
        only_smoke: bool = False,
        race: ItemQueue | None = None,
    ) -> BenchmarkProgress:
        """Run the items that are not done: two as a smoke test first, then the others.

        Args:
            retry: Keys of failed items to try again; other failed items are left out.
            only_smoke: Whether to end after the smoke test.
            race: Gives out the items after the smoke test; None for all of them.

        Raises:
            StudioError: Both pictures of the smoke test fail for the same reason.
            StoreError: The folder cannot be written.
            Cancelled: ``cancel`` was called.
        """
        pending = self._pending(frozenset(retry))
        for worker in self._workers:
            worker.start()
        self._began = time.monotonic()
        try:
            first, rest = _smoke(pending)
            is_first = self._done == 0
            self._work_through(ItemQueue(first))
            failures = [found for item in first if (found := self._store.failure(item.key))]
            if (
                is_first
                and len(first) == len(failures) == SMOKE_ITEMS
                and len(grouped(failures)) == 1
            ):
                raise StudioError(
                    f"The smoke test failed: {failures[0].message}", hint=failures[0].hint
                )
            if not only_smoke:
                self._work_through(race or ItemQueue(rest))
        finally:
            for worker in self._workers:
                worker.close()
        return self._progress()

    def _pending(self, retry: frozenset[str]) -> list[PlannedItem]:
        drawable = self._items.opened.drawable
        open_items = [item for item in drawable if not self._items.is_done(item)]
        failed = {item.key for item in open_items if self._store.failure(item.key)} - retry
        self._total, self._failed = len(drawable), len(failed)
        self._done = len(drawable) - len(open_items)
        return [item for item in open_items if item.key not in failed]

    def _work_through(self, waiting: ItemQueue) -> None:
        if len(self._workers) == 1:
            self._serve(self._workers[0], waiting)
        else:
            threads = [
                Thread(target=self._serve, args=(worker, waiting), name=f"benchmark-{worker.name}")
                for worker in self._workers
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        if self._fault is not None:
            raise self._fault

    def _serve(self, worker: ItemWorker, waiting: ItemQueue) -> None:
        try:
            while not self._is_over(waiting):
                item = waiting.take() if worker.is_ready() else None
                if item is None:
                    waiting.wait(POLL_S)
                else:
                    self._do(item, worker, waiting)
        except Exception as error:  # noqa: BLE001 - raised again in the thread that waits
            with self._lock:
                self._fault = self._fault or error
            self._stop.set()

    def _is_over(self, waiting: ItemQueue) -> bool:
        """Wait while the benchmark is paused; return True at its end."""
        while (held := self._store.held) == PAUSE and not self._stop.is_set():
            self._report(replace(self._progress(), is_paused=True))
            began = time.monotonic()
            self._stop.wait(POLL_S)
            with self._lock:  # the mean over the engines
                self._paused_s += (time.monotonic() - began) / len(self._workers)
        return self._stop.is_set() or held == DRAIN or waiting.is_over

    def _do(self, item: PlannedItem, worker: ItemWorker, waiting: ItemQueue) -> None:
        began = time.monotonic()
        try:
            error = self._error_of(item, worker)
        except EngineLost as lost:
            error = lost.report
            self._count(worker, EngineProgress(lost=1))
            if waiting.put_back(item):
                return
        if error is not None:
            self._store.add_failure(item.key, error)
        with self._lock:
            self._done += error is None
            self._failed += error is not None
        self._count(worker, EngineProgress(items=1, seconds=time.monotonic() - began))
        waiting.end(item)
        self._report(replace(self._progress(), item=item.key))

    def _count(self, worker: ItemWorker, more: EngineProgress) -> None:
        with self._lock:
            known = self._engines[worker.name]
            self._engines[worker.name] = EngineProgress(
                items=known.items + more.items,
                seconds=known.seconds + more.seconds,
                lost=known.lost + more.lost,
            )

    def _error_of(self, item: PlannedItem, worker: ItemWorker) -> ErrorReport | None:
        """Draw and judge what is missing of an item; return why it failed, or None.

        Raises:
            EngineLost: The engine ended during the item.
        """
        try:
            image, judge_sets = self._stored_picture(item), self._items.opened.plan.judges
            missing = self._items.missing(item) or judge_sets[:1]
            if image is None and item.method.refine is not None:
                missing = judge_sets  # the first one scores the rounds
            for judges in missing:
                job = self._items.job(item, judges)
                if image is None:
                    draw = self._drawn if item.method.refine is None else self._refined
                    result = draw(item, job, worker)
                    image = result.finished
                else:
                    result = self._judged(item, job, worker, image)
                if result.evaluation is None:
                    return result.error or _no_judges()
        except StudioError as error:
            return report_on(error, "The benchmark")
        return None

    def raise_if_cancelled(self) -> None:
        """Raise ``Cancelled`` after ``cancel``; see ``CancelToken``."""
        if self._stop.is_set():
            raise Cancelled

    def _stored_picture(self, item: PlannedItem) -> GenerationFinished | None:
        record = self._store.item(item.key)
        if record is None:
            return None
        _, events = self._runs.load(self._store.folder / str(record["picture"]))
        return next(event for event in events if isinstance(event, GenerationFinished))

    def _drawn(self, item: PlannedItem, job: GenerateJob, worker: ItemWorker) -> ItemResult:
        """Draw an item, judge it, and store the run, its verdicts and its item."""
        result, record = self._stored(job, worker)
        if record is not None:
            self._add(item, job, result.evaluation, record)
        return result

    def _stored(self, job: GenerateJob, worker: ItemWorker) -> tuple[ItemResult, Record | None]:
        """Draw a picture, judge it, and store its run.

        Returns:
            The result, with the evaluation under the checker of the plan; and the picture and its
            cost, None if it was not drawn.
        """
        request = with_values(job.request, device=worker.device)
        result = self._result(worker, replace(job, request=request))
        if result.finished is None:
            return result, None
        evaluation = result.evaluation and self._under_checker(request, result.evaluation)
        result = replace(result, evaluation=evaluation)
        record = record_of(request, result.last_call, evaluation)
        path = self._runs.save(record, result.last_call, self._store.runs)
        return result, self._item_record(job, result, record.created, path)

    def _refined(self, item: PlannedItem, job: GenerateJob, worker: ItemWorker) -> ItemResult:
        """Draw the remaining rounds of an item, and store its best one as the item."""
        rounds = RefinedItem(item, job, self._store, self._runs)
        while not rounds.is_over:
            waiting, next_job = rounds.unjudged, rounds.next_job
            if waiting is None:
                result, record = self._stored(next_job, worker)
                if record is not None:
                    rounds.add(record)
            else:
                result = self._result(worker, evaluation_job(next_job, waiting))
                if result.evaluation is not None:
                    evaluation = self._under_checker(next_job.request, result.evaluation)
                    rounds.add_verdicts(evaluation, result.judging_seconds)
            if result.evaluation is None:
                return result
        best = rounds.best
        scored = best.evaluation and self._under_checker(job.request, best.evaluation)
        self._add(item, job, scored, rounds.record)
        return best

    def _judged(
        self, item: PlannedItem, job: GenerateJob, worker: ItemWorker, image: GenerationFinished
    ) -> ItemResult:
        """Judge a stored picture by the judge set of a job, and store the verdicts."""
        if not job.judge:
            return ItemResult()
        result = self._result(worker, evaluation_job(job, image))
        record = self._store.item(item.key)
        if result.evaluation is not None and record is not None:
            evaluation = self._under_checker(job.request, result.evaluation)
            self._add_judged(item, job, evaluation, record)
        return result

    def _result(self, worker: ItemWorker, job: Job) -> ItemResult:
        """Do a job.

        Raises:
            EngineLost: The engine ended during the job.
            Cancelled: The benchmark is cancelled.
        """
        result = worker.do(job, self.raise_if_cancelled)
        if result.is_lost and result.error is not None:
            raise EngineLost(result.error)
        return result

    def _item_record(
        self, job: GenerateJob, result: ItemResult, created: datetime, path: Path
    ) -> Record:
        finished = result.finished
        assert finished is not None
        passes = passes_of(job.request, result.events)
        (device,) = (
            each.device for each in result.last_call if isinstance(each, GenerationStarted)
        )
        return {
            "picture": relative_to(path, self._store.folder),
            "pipeline": job.model.pipeline_class,
            "height": finished.image.shape[0],
            "width": finished.image.shape[1],
            "created": created.isoformat(),
            "versions": dict(environment_on(device, finished.setup).libraries),
            "seconds": finished.seconds,
            "judging_seconds": result.judging_seconds,
            "passes": passes,
            "flops": None if result.flops is None else passes * result.flops,
            "device": device,
        }

    def _add(
        self, item: PlannedItem, job: GenerateJob, evaluation: Evaluation | None, record: Record
    ) -> None:
        """Store the verdicts and the picture of an item; the picture also if questions fail."""
        try:
            if evaluation is not None:
                self._add_judged(item, job, evaluation, record)
        finally:
            self._store.add_item(item.key, record)

    def _add_judged(
        self, item: PlannedItem, job: GenerateJob, evaluation: Evaluation, record: Record
    ) -> None:
        judged = judged_record(item, evaluation, self._items.metrics, self._store.files)
        began = time.monotonic()
        answers = self._answers(item, evaluation, str(record["picture"]))
        judged = {**judged, "row": {**judged["row"], **answers}}
        if self._ask is not None:
            judged = {**judged, ASKING_SECONDS: time.monotonic() - began}
        self._store.add_judged(item.key, self._items.judge_id(job), judged)

    def _answers(
        self, item: PlannedItem, evaluation: Evaluation, picture: str
    ) -> Mapping[str, Any]:
        """Return the answers to multiple-choice questions, unless the metrics gave them."""
        questions = item.prompt.questions
        if self._ask is not None:
            return self._ask(item, picture, self)
        if questions is None or item.request is None or CHOICES not in self._items.metrics.rules:
            return {}
        leaves_out = self._items.opened.plan.asking.rules.leaves_out_defects
        rules = replace(PERCEPTION_RULES, leaves_out_defects=leaves_out)
        return answers_by_perception(questions, item.request.scene, evaluation, rules)

    def _under_checker(self, request: GenerationRequest, evaluation: Evaluation) -> Evaluation:
        checker = self._items.opened.checker
        if evaluation.checker == checker:
            return evaluation
        return decide_again(evaluation, request.scene, checker)

    def _progress(self) -> BenchmarkProgress:
        with self._lock:
            return BenchmarkProgress(
                total=self._total,
                done=self._done,
                failed=self._failed,
                seconds=time.monotonic() - self._began - self._paused_s if self._began else 0.0,
                engines=dict(self._engines),
            )


class EngineLost(Exception):  # noqa: N818 - what happened, as ``Cancelled``
    """The engine ended during an item.

    Args:
        report: What is known about the cause.
    """

    def __init__(self, report: ErrorReport) -> None:
        super().__init__(report.message)
        self.report = report


def failures_of(items: ItemFiles) -> tuple[Failure, ...]:
    """Return the failures of a plan's items, in order."""
    found = (items.store.failure(item.key) for item in items.opened.drawable)
    return tuple(failure for failure in found if failure)


def _smoke(pending: Sequence[PlannedItem]) -> tuple[list[PlannedItem], list[PlannedItem]]:
    """Return the items of the smoke test, of the first and the last method, and the others."""
    if not pending:
        return [], []
    other = next((item for item in pending if item.method.name == pending[-1].method.name), None)
    first = [pending[0]]
    if other is not None and other.key != pending[0].key:
        first.append(other)
    elif len(pending) > 1:
        first.append(pending[1])
    keys = {item.key for item in first}
    return first, [item for item in pending if item.key not in keys]


def _no_judges() -> ErrorReport:
    return ErrorReport(
        title="The benchmark",
        message="No judge set is installed for this picture.",
        hint="Add [[judges]] to the plan, or install the models of a judge set.",
    )
