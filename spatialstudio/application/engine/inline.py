"""The engine that works in the caller's own thread: for the terminal and for tests."""

from spatialstudio.application.engine.worker import BuildModelService, Worker
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.application.jobs.messages import (
    Job,
    Question,
    ReportTo,
)
from spatialstudio.domain.generation import RequestId


class InlineEngine:
    """Runs every job inside ``submit``; another thread, or a report's taker, may cancel it.

    Args:
        build: Makes the workshop, when the first job asks for it.
    """

    def __init__(self, build: BuildModelService) -> None:
        self._build = build
        self._worker: Worker | None = None
        self._flags: dict[RequestId, CancelFlag] = {}

    def start(self, report: ReportTo) -> None:
        """Begin to accept jobs; their reports go to ``report``."""
        self._worker = Worker(self._build, report)

    def submit(self, job: Job) -> None:
        """Run a job to its end.

        Raises:
            RuntimeError: The engine was not started, or is closed.
        """
        if self._worker is None:
            raise RuntimeError("The engine takes jobs between start and close only.")
        flag = self._flags[job.job_id] = CancelFlag()
        try:
            self._worker.run(job, flag)
        finally:
            del self._flags[job.job_id]

    def ask(self, question: Question) -> None:
        """Answer a question at once; one before start or after close is forgotten."""
        if self._worker is not None:
            self._worker.answer(question)

    def cancel(self, job_id: RequestId) -> None:
        """Stop a job before its next model call; nothing happens when it has ended."""
        if (flag := self._flags.get(job_id)) is not None:
            flag.cancel()

    def close(self) -> None:
        """Stop what runs and let go of the models."""
        for flag in tuple(self._flags.values()):
            flag.cancel()
        self._worker = None
