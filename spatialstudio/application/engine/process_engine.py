"""Engine in a child process, which isolates the application from crashes of model libraries."""

from dataclasses import replace
from functools import partial
from threading import Lock, Thread
from typing import TYPE_CHECKING, Literal, TypeAlias

from spatialstudio.application.jobs.messages import (
    CancelJob,
    Command,
    Engine,
    EngineStopped,
    GenerateJob,
    Job,
    JobFailed,
    PictureJudged,
    Question,
    Report,
    ReportTo,
)
from spatialstudio.application.plugins import open_registry
from spatialstudio.domain.generation import (
    GenerationCancelled,
    GenerationFailed,
    GenerationFinished,
    RequestId,
)
from spatialstudio.domain.ports import Surroundings

if TYPE_CHECKING:
    from spatialstudio.application.engine.child_handle import ChildProcess
    from spatialstudio.application.engine.worker import BuildRegistry


class ProcessEngine:
    """Runs jobs in a spawned process; reports arrive on a separate thread.

    If the process dies, its running job is lost; waiting jobs continue in a new process.

    Args:
        build: Creates the registry in the child.
    """

    def __init__(self, build: "BuildRegistry") -> None:
        self._build = build
        self._report: ReportTo | None = None
        self._child: ChildProcess | None = None
        self._open = _OpenJobs()
        self._lock = Lock()

    def start(self, report: ReportTo) -> None:
        """Start the child, which loads its modules in advance."""
        with self._lock:
            self._report = report
            self._child = self._spawn(report)

    def submit(self, job: Job) -> None:
        """Queue a job; restart the child if it has died.

        Raises:
            RuntimeError: The engine is not started, or is closed.
        """
        with self._lock:
            if self._report is None:
                raise RuntimeError("The engine takes jobs between start and close only.")
            self._open.add(job)
            if self._child is None or not self._child.tell(job):
                self._renew(self._report)

    def ask(self, question: Question) -> None:
        """Answer a question independently of the jobs; ignored if there is no child."""
        with self._lock:
            if self._child is not None:
                self._child.tell(question)

    def cancel(self, job_id: RequestId) -> None:
        """Cancel a job before its next model call; no effect on a job that has ended."""
        with self._lock:
            self._open.cancel(job_id)
            if self._child is not None:
                self._child.tell(CancelJob(job_id))

    def close(self) -> None:
        """Stop all work; a child that does not exit is killed."""
        with self._lock:
            child, self._child, self._report = self._child, None, None
        if child is not None:
            child.close()

    def _renew(self, report: ReportTo) -> None:
        """Start a child and send it all unfinished jobs."""
        self._child = self._spawn(report)
        for command in self._open.commands():
            self._child.tell(command)

    def _spawn(self, report: ReportTo) -> "ChildProcess":
        from spatialstudio.application.engine.child_handle import ChildProcess

        def stopped(end: EngineStopped) -> None:
            report(replace(end, lost=self._open.lose_first()))
            for job_id in self._open.take_cancelled():
                report(GenerationCancelled(request_id=job_id, at_step=0))
            if self._open.commands():
                Thread(target=self._revive, name="spatialstudio-revival", daemon=True).start()

        return ChildProcess(self._build, self._open.apply_event, report, stopped)

    def _revive(self) -> None:
        """Restart the child with the waiting jobs, unless another thread already did."""
        with self._lock:
            if self._report is not None and self._child is not None and self._child.is_gone:
                self._renew(self._report)


class _OpenJobs:
    """Submitted jobs that have not ended, in order; safe for use by several threads."""

    def __init__(self) -> None:
        self._jobs: dict[RequestId, Job] = {}
        self._cancelled: set[RequestId] = set()
        self._lock = Lock()

    def add(self, job: Job) -> None:
        with self._lock:
            self._jobs[job.job_id] = job

    def cancel(self, job_id: RequestId) -> None:
        with self._lock:
            self._cancelled.add(job_id)

    def apply_event(self, report: Report) -> None:
        """Remove a job on its last report."""
        with self._lock:
            match report:
                case PictureJudged() | JobFailed() | GenerationFailed() | GenerationCancelled():
                    self._forget(report.request_id)
                case GenerationFinished(request_id=job_id):
                    job = self._jobs.get(job_id)
                    if isinstance(job, GenerateJob) and not job.judge:
                        self._forget(job_id)
                case _:
                    pass

    def lose_first(self) -> RequestId | None:
        """Remove and return the running job; None if there was none."""
        with self._lock:
            first = next(iter(self._jobs), None)
            if first is not None:
                self._forget(first)
            return first

    def take_cancelled(self) -> tuple[RequestId, ...]:
        """Remove and return the jobs cancelled while waiting."""
        with self._lock:
            cancelled = tuple(job_id for job_id in self._jobs if job_id in self._cancelled)
            for job_id in cancelled:
                self._forget(job_id)
            return cancelled

    def commands(self) -> tuple[Command, ...]:
        """Return the commands that restore the state of a new child."""
        with self._lock:
            priority = (CancelJob(job_id) for job_id in self._jobs if job_id in self._cancelled)
            return (*self._jobs.values(), *priority)

    def _forget(self, job_id: RequestId) -> None:
        self._jobs.pop(job_id, None)
        self._cancelled.discard(job_id)


EngineKind: TypeAlias = Literal["process", "inline"]


def open_engine(
    kind: EngineKind, surroundings: Surroundings, plugins: tuple[str, ...] = ()
) -> Engine:
    """Return an engine that is not started.

    Args:
        kind: "process" for the window, "inline" for the terminal and scripts.
        surroundings: Paths and settings for its adapters.
        plugins: Names of the plugins that are in use in this process.
    """
    build = partial(open_registry, surroundings, plugins)
    if kind == "process":
        return ProcessEngine(build)
    from spatialstudio.application.engine.worker import InlineEngine

    return InlineEngine(build)
