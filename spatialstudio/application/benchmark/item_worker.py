"""Draws and judges one item after the other in an engine, and waits for each."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from queue import Empty, SimpleQueue

from spatialstudio.application.jobs.messages import (
    CostCounted,
    Engine,
    EngineStopped,
    EvaluateJob,
    GenerateJob,
    Job,
    JobFailed,
    PictureJudged,
)
from spatialstudio.domain.errors import Cancelled, ErrorReport
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import (
    GenerationCancelled,
    GenerationEvent,
    GenerationFailed,
    GenerationFinished,
    GenerationStarted,
    StepEvent,
)
from spatialstudio.domain.verdict import Evaluation

SECONDS = 0.3
"""Between two checks for cancellation."""


@frozen(eq=False)
class ItemResult:
    """What an engine reported on one item.

    Attributes:
        events: All events of the drawing, those of trials and candidates included.
        evaluation: None if it was not judged.
        judging_seconds: Time that the evaluation took.
        flops: Floating-point operations of a denoiser pass; None if unknown.
        error: Why it was not drawn or not judged; None without a failure.
        is_lost: Whether the engine ended during the item.
    """

    events: tuple[GenerationEvent, ...] = ()
    evaluation: Evaluation | None = None
    judging_seconds: float = 0.0
    flops: int | None = None
    error: ErrorReport | None = None
    is_lost: bool = False

    @property
    def last_call(self) -> tuple[GenerationEvent, ...]:
        """The events since the last start: those of the stored picture."""
        starts = [n for n, each in enumerate(self.events) if isinstance(each, GenerationStarted)]
        return self.events[starts[-1] :] if starts else ()

    @property
    def finished(self) -> GenerationFinished | None:
        """The end of the drawing; None if it failed."""
        last = self.events[-1] if self.events else None
        return last if isinstance(last, GenerationFinished) else None


class ItemWorker:
    """One engine of a benchmark; used by one thread at a time.

    Args:
        engine: An engine that is not started.
        device: Where to draw; empty for the fastest device.
        name: Name in progress.
        is_ready: Returns True if the engine takes a job; raises ``StudioError`` if it never will.
    """

    def __init__(
        self,
        engine: Engine,
        device: str = "",
        name: str = "",
        is_ready: Callable[[], bool] = lambda: True,
    ) -> None:
        self._engine = engine
        self._reports: SimpleQueue[object] = SimpleQueue()
        self.device = device
        self.name = name or device or "engine"
        self.is_ready = is_ready

    def start(self) -> None:
        """Start the engine."""
        self._engine.start(self._reports.put)

    def close(self) -> None:
        """End the engine and its job."""
        self._engine.close()

    def do(self, job: Job, check: Callable[[], object]) -> ItemResult:
        """Do a job and wait for its end.

        Args:
            job: Draws a picture and judges it, or judges one.
            check: Called regularly; raises ``Cancelled`` to stop.

        Raises:
            Cancelled: The job was cancelled.
        """
        events: list[GenerationEvent] = []
        flops: int | None = None
        self._engine.submit(job)
        try:
            while True:
                check()
                with suppress(Empty):
                    report = self._reports.get(timeout=SECONDS)
                    if isinstance(report, CostCounted):
                        flops = report.flops
                    result = _end_of(job, report, events)
                    if result is not None:
                        return replace(result, flops=flops)
        except Cancelled:
            self._engine.cancel(job.job_id)
            raise


def _end_of(job: Job, report: object, events: list[GenerationEvent]) -> ItemResult | None:
    """Collect a report; return the result if it is the last one of a job."""
    match report:
        case GenerationStarted() | StepEvent() | GenerationFinished():
            events.append(report)
            is_last = isinstance(job, GenerateJob) and not job.judge
            if isinstance(report, GenerationFinished) and is_last:
                return ItemResult(events=tuple(events))
        case PictureJudged(request_id=job.job_id, evaluation=evaluation, seconds=seconds):
            return ItemResult(events=tuple(events), evaluation=evaluation, judging_seconds=seconds)
        case (
            JobFailed(request_id=job.job_id, error=error)
            | GenerationFailed(request_id=job.job_id, error=error)
        ):
            return ItemResult(events=tuple(events), error=error)
        case EngineStopped(error=error, lost=job.job_id | None):
            return ItemResult(error=error, is_lost=True)
        case GenerationCancelled(request_id=job.job_id):
            raise Cancelled
    return None


def evaluation_job(job: GenerateJob, finished: GenerationFinished) -> EvaluateJob:
    """Return the job that judges a drawn picture as another job would."""
    return EvaluateJob(
        job_id=job.job_id,
        image=finished.image,
        scene=job.request.scene,
        judges=job.judges,
        assertions=job.assertions,
    )
