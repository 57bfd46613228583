"""Reads the files that the user opens outside the GUI thread, and shows them in it.

What others wrote may take seconds to decode; meanwhile the window answers.
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
    """Where something that was read is shown; of each, the latest read wins."""

    STAGE = "stage"
    BESIDE = "beside"
    COMPARISON = "comparison"
    REPETITION = "repetition"
    SETTINGS = "settings"


@frozen(eq=False)
class _Waiting:
    """A read that has not ended: where its outcome goes."""

    subject: Subject
    title: str
    show: Callable[[Any], object]
    fail: Callable[[ErrorReport], object]


class FileReading:
    """Reads files in the thread of ``Keeping.reading``. Lives on the GUI thread.

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
        """Have something read; returns at once. An earlier read of the subject is given up.

        Args:
            subject: Where the result is shown; the latest wins.
            title: Of the report when it fails: "Opening a.png".
            work: Reads and decodes, outside the GUI thread.
            show: Takes what was read, on the GUI thread; may raise StudioError.
            fail: Takes the report, on the GUI thread.
        """
        for job_id, waiting in tuple(self._waiting.items()):
            if waiting.subject == subject:
                self._background_jobs().cancel(job_id)
                del self._waiting[job_id]
        job_id = self._background_jobs().run(title, lambda _progress: work())
        self._waiting[job_id] = _Waiting(subject=subject, title=title, show=show, fail=fail)

    def handle(self, event: object) -> None:
        """Show what was read, or say why it was not."""
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
