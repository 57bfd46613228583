"""Engine that runs jobs in the calling thread, for the terminal and tests."""

from spatialstudio.application.engine.worker import BuildRegistry, Worker
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.application.jobs.messages import (
    Job,
    Question,
    ReportTo,
)
from spatialstudio.domain.generation import RequestId


class InlineEngine:
    """Runs each job inside ``submit``; another thread or a report handler may cancel it.

    Args:
        build: Creates the registry on the first job.
    """

    def __init__(self, build: BuildRegistry) -> None:
        self._build = build
        self._worker: Worker | None = None
        self._flags: dict[RequestId, CancelFlag] = {}

    def start(self, report: ReportTo) -> None:
        """Accept jobs; reports go to ``report``."""
        self._worker = Worker(self._build, report)

    def submit(self, job: Job) -> None:
        """Run a job to its end.

        Raises:
            RuntimeError: The engine is not started, or is closed.
        """
        if self._worker is None:
            raise RuntimeError("The engine takes jobs between start and close only.")
        flag = self._flags[job.job_id] = CancelFlag()
        try:
            self._worker.run(job, flag)
        finally:
            del self._flags[job.job_id]

    def ask(self, question: Question) -> None:
        """Answer a question at once; ignored before ``start`` and after ``close``."""
        if self._worker is not None:
            self._worker.answer(question)

    def cancel(self, job_id: RequestId) -> None:
        """Cancel a job before its next model call; no effect on a job that has ended."""
        if (flag := self._flags.get(job_id)) is not None:
            flag.cancel()

    def close(self) -> None:
        """Cancel the running job and release the models."""
        for flag in tuple(self._flags.values()):
            flag.cancel()
        self._worker = None
