"""Evaluation of stored pictures in the engine; nothing is drawn."""

from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TypeAlias

from spatialstudio.application.evaluate.judge_choice import is_used, no_detector_chosen
from spatialstudio.application.evaluate.object_quality import with_quality
from spatialstudio.application.jobs.messages import (
    Engine,
    EngineStopped,
    EvaluateJob,
    JobFailed,
    PictureJudged,
)
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.assertion import Assertions
from spatialstudio.domain.errors import Cancelled, StudioError
from spatialstudio.domain.generation import (
    GenerationCancelled,
    GenerationFailed,
    RequestId,
    new_request_id,
)
from spatialstudio.domain.judge_choice import JudgeSetChoice
from spatialstudio.domain.verdict import CheckerSettings, Evaluation
from spatialstudio.science.checker.decide import decide_again

Subscribe: TypeAlias = Callable[[Callable[[object], object]], Callable[[], None]]
JudgedBy: TypeAlias = tuple[JudgeSetChoice, CheckerSettings]
"""The models and the settings of the checker of an evaluation."""
SECONDS = 0.3
"""Between two checks for cancellation."""


def judge_run(
    run: OpenRun,
    judges: JudgedBy,
    judge: Callable[[EvaluateJob], Evaluation],
    assertions: Assertions | None = None,
) -> Evaluation:
    """Return the verdicts on a stored run, from as much of the stored evaluation as applies.

    Verdicts of the same judge set and settings are returned as stored; those of other settings are
    decided again from the stored perception; else ``judge`` evaluates the picture. A missing
    quality score is added.

    Raises:
        NoDetectorChosen: There is no picture or no detector.
        StudioError: The evaluation failed.
    """
    (choice, checker), stored = judges, run.evaluation
    if run.image is None or choice.detector_id is None:
        raise no_detector_chosen()
    if stored is None or stored.judge_set is None or not is_used(choice, stored.judge_set):
        return judge(evaluate_job(run, judges, new_request_id(), assertions))
    stored = with_quality(stored, run.image, run.scene)
    if stored.checker == checker:
        return stored
    if stored.checker.perturbations != checker.perturbations:
        return judge(evaluate_job(run, judges, new_request_id(), assertions))
    return decide_again(stored, run.scene, checker)


def evaluate_job(
    run: OpenRun, judges: JudgedBy, job_id: RequestId, assertions: Assertions | None = None
) -> EvaluateJob:
    """Return the job that evaluates the picture of a run.

    Args:
        run: The run.
        judges: Judge set and checker.
        job_id: Id of the job.
        assertions: Of the DA-score; None for those of the scene.

    Raises:
        NoDetectorChosen: The run has no picture.
    """
    if run.image is None:
        raise no_detector_chosen()
    choice, checker = judges
    return EvaluateJob(
        job_id=job_id,
        image=run.image,
        scene=run.scene,
        judges=choice,
        checker=checker,
        assertions=assertions,
    )


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
