"""Evaluation of stored pictures in the engine; nothing is drawn."""

from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TypeAlias

from spatialstudio.application.jobs.messages import (
    Engine,
    EngineStopped,
    EvaluateJob,
    JobFailed,
    PictureJudged,
)
from spatialstudio.domain.errors import Cancelled, StudioError
from spatialstudio.domain.generation import GenerationCancelled, GenerationFailed
from spatialstudio.domain.verdict import Evaluation

Subscribe: TypeAlias = Callable[[Callable[[object], object]], Callable[[], None]]
SECONDS = 0.3
"""Between two checks for cancellation."""


def judge_in_engine(
    engine: Engine, subscribe: Subscribe, job: EvaluateJob, check: Callable[[], object]
) -> Evaluation:
    """Evaluate a picture in the engine and wait for the result; not on the GUI thread.

    Args:
        engine: A started engine.
        subscribe: Subscribes to its reports.
        job: The picture and its judge set.
        check: Called regularly; raises ``Cancelled`` to cancel the job.

    Raises:
        Cancelled: The job was cancelled.
        StudioError: The evaluation failed, or the engine ended.
    """
    reports: SimpleQueue[object] = SimpleQueue()
    end = subscribe(reports.put)
    try:
        engine.submit(job)
        while True:
            check()
            with suppress(Empty):
                result = _result_of(reports.get(timeout=SECONDS), job)
                if result is not None:
                    return result
    except Cancelled:
        engine.cancel(job.job_id)
        raise
    finally:
        end()


def _result_of(report: object, job: EvaluateJob) -> Evaluation | None:
    """Return the result in a report; None if the report is about something else."""
    match report:
        case PictureJudged(request_id=job.job_id, evaluation=evaluation):
            return evaluation
        case (
            JobFailed(request_id=job.job_id, error=error)
            | GenerationFailed(request_id=job.job_id, error=error)
            | EngineStopped(error=error, lost=job.job_id | None)
        ):
            raise StudioError(error.message, hint=error.hint)
        case GenerationCancelled(request_id=job.job_id):
            raise Cancelled
    return None
