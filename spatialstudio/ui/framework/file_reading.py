"""Reads files that the user opens outside the GUI thread and shows the results on it.

Decoding a foreign file may take seconds, during which the window stays responsive.
"""

from collections.abc import Callable
from enum import Enum
from typing import Any, TypeVar

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.jobs.background_jobs import (
    BackgroundJobEnded,
    BackgroundJobId,
    BackgroundJobs,
)
from spatialstudio.domain.errors import ErrorReport, StudioError
from spatialstudio.domain.frozen import frozen

T = TypeVar("T")


class Subject(Enum):
    """Where a read result is shown; for each subject the latest read wins."""

    STAGE = "stage"
    SECOND_RUN = "second run"
    COMPARISON = "comparison"
    REPETITION = "repetition"
    SETTINGS = "settings"
    LORAS = "loras"
    FIGURE = "figure"
    METRICS = "metrics"
    PLAN = "plan"
    REPORT = "report"
    METHODS = "methods"
    RACE = "race"
    QUESTIONS = "questions"
    QUESTION_BIASES = "question biases"
    FIX = "fix"
    FIX_PICTURES = "fix pictures"
    AUDIT = "audit"
    MARGINS = "margins"
    PRESET = "preset"
    ASSERTIONS = "assertions"


@frozen(eq=False)
class _Waiting:
    """A pending read and the callbacks for its result."""

    subject: Subject
    title: str
    show: Callable[[Any], object]
    fail: Callable[[ErrorReport], object]


class FileReading:
    """Reads files in a background job and reports on the GUI thread.

    Args:
        background_jobs: Returns the queue that reads files.
    """

    def __init__(self, background_jobs: Callable[[], BackgroundJobs]) -> None:
        self._background_jobs = background_jobs
        self._waiting: dict[BackgroundJobId, _Waiting] = {}

    def read(
        self,
        subject: Subject,
        title: str,
        work: Callable[[], T],
        show: Callable[[T], object],
        fail: Callable[[ErrorReport], object],
    ) -> None:
        """Start a read and return at once; supersedes an earlier read of the same subject.

        Args:
            subject: Where the result is shown; the latest wins.
            title: Title of the error report: "Opening a.png".
            work: Reads and decodes, outside the GUI thread.
            show: Receives the result on the GUI thread; may raise StudioError.
            fail: Receives the error report on the GUI thread.
        """
        for job_id, waiting in tuple(self._waiting.items()):
            if waiting.subject == subject:
                self._background_jobs().cancel(job_id)
                del self._waiting[job_id]
        job_id = self._background_jobs().run(title, lambda _progress: work())
        self._waiting[job_id] = _Waiting(subject=subject, title=title, show=show, fail=fail)

    def handle(self, event: object) -> None:
        """Show the result of a finished read, or report its error."""
        if not isinstance(event, BackgroundJobEnded):
            return
        waiting = self._waiting.pop(event.job_id, None)
        if waiting is None or event.is_cancelled:
            return
        if event.error is not None:
            waiting.fail(event.error)
            return
        try:
            waiting.show(event.result)
        except StudioError as error:
            waiting.fail(report_on(error, waiting.title))
