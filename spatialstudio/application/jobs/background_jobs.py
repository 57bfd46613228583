"""Background jobs on files, run one after the other outside the GUI thread."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from itertools import count
from typing import Generic, NewType, TypeAlias, TypeVar

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.domain.errors import Cancelled, ErrorReport
from spatialstudio.domain.frozen import frozen

log = logging.getLogger(__name__)

_NUMBERS = count(1)

BackgroundJobId = NewType("BackgroundJobId", int)
Progress: TypeAlias = Callable[[int, int], None]
"""Called with the parts done and the total; raises ``Cancelled`` after a cancellation."""


@frozen
class BackgroundJobProgressed:
    """One part of a job is done. Published by ``BackgroundJobs``; may cross threads."""

    job_id: BackgroundJobId
    done: int
    total: int


@frozen
class BackgroundJobEnded:
    """A job has ended. Published once per job by ``BackgroundJobs``; may cross threads.

    Attributes:
        job_id: Id of the job.
        result: Return value of the work; None if it failed or was cancelled.
        error: Why it failed.
        is_cancelled: Whether the user cancelled it.
    """

    job_id: BackgroundJobId
    result: object = None
    error: ErrorReport | None = None
    is_cancelled: bool = False


class BackgroundJobs:
    """Runs jobs in order on one thread, started with the first job.

    Args:
        publish: Receives ``BackgroundJobProgressed`` and ``BackgroundJobEnded``, on that thread.
        name: Name of the thread.
    """

    def __init__(self, publish: Callable[[object], None], name: str = "background_jobs") -> None:
        self._publish = publish
        self._name = name
        self._flags: dict[BackgroundJobId, CancelFlag] = {}
        self._is_closed = False

    def run(self, title: str, work: Callable[[Progress], object]) -> BackgroundJobId:
        """Queue a job and return its id at once; after ``close``, it is never run.

        Args:
            title: Description for error reports: "Exporting runs".
            work: Function that does the job and reports each part.
        """
        job_id = BackgroundJobId(next(_NUMBERS))
        if self._is_closed:
            return job_id
        flag = self._flags[job_id] = CancelFlag()
        future = self._pool.submit(self._do, job_id, title, work, flag)
        future.add_done_callback(_log_failure)
        return job_id

    def cancel(self, job_id: BackgroundJobId) -> None:
        """Cancel a job before its next part; no effect on a job that has ended."""
        if flag := self._flags.get(job_id):
            flag.cancel()

    def close(self) -> None:
        """Cancel all jobs and return when the thread has ended."""
        self._is_closed = True
        if "_pool" in vars(self):
            for flag in tuple(self._flags.values()):
                flag.cancel()
            self._pool.shutdown(wait=True)

    def finish(self) -> None:
        """Return when all queued jobs have ended."""
        if "_pool" in vars(self):
            self._pool.shutdown(wait=True)

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(max_workers=1, thread_name_prefix=self._name)

    def _do(
        self,
        job_id: BackgroundJobId,
        title: str,
        work: Callable[[Progress], object],
        flag: CancelFlag,
    ) -> None:
        def report(done: int, total: int) -> None:
            flag.raise_if_cancelled()
            self._publish(BackgroundJobProgressed(job_id=job_id, done=done, total=total))

        try:
            flag.raise_if_cancelled()
            ended = BackgroundJobEnded(job_id=job_id, result=work(report))
        except Cancelled:
            ended = BackgroundJobEnded(job_id=job_id, is_cancelled=True)
        except Exception as error:  # noqa: BLE001 - the border of the thread, as in the worker
            ended = BackgroundJobEnded(job_id=job_id, error=report_on(error, title))
        self._flags.pop(job_id, None)
        self._publish(ended)


def _log_failure(future: Future[None]) -> None:
    if error := future.exception():
        log.error("A background job could not be reported: %s", error)


RequestT = TypeVar("RequestT")


class LatestJob(Generic[RequestT]):
    """Runs one request at a time; a newer request replaces the waiting one.

    The thread ends when no request waits and is started again by the next one.

    Args:
        name: Name of the thread.
        fulfil: Does the work; long work checks ``is_out_of_date`` regularly.
    """

    def __init__(self, name: str, fulfil: Callable[[RequestT], None]) -> None:
        self._name = name
        self._fulfil = fulfil
        self._guard = threading.Lock()
        self._waiting: tuple[RequestT, ...] = ()
        self._thread: threading.Thread | None = None
        self._is_closed = False

    @property
    def is_out_of_date(self) -> bool:
        """Whether a newer request has replaced the running one."""
        return self._is_closed or bool(self._waiting)

    def ask(self, request: RequestT) -> None:
        """Queue a request and return at once."""
        with self._guard:
            if self._is_closed:
                return
            self._waiting = (request,)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Accept no more requests, and return when the running one has ended."""
        with self._guard:
            self._is_closed = True
            thread = self._thread
        if thread is not None:
            thread.join()

    def _work(self) -> None:
        while True:
            with self._guard:
                if not self._waiting or self._is_closed:
                    self._thread = None
                    return
                (request,), self._waiting = self._waiting, ()
            self._fulfil(request)


class CancellableJob:
    """Runs one job at a time in a thread; starting another cancels the previous one."""

    _flag: CancelFlag | None = None
    _thread: threading.Thread | None = None

    def cancel(self) -> None:
        """Cancel the job at its next check of the flag."""
        if self._flag is not None:
            self._flag.cancel()

    def wait(self) -> None:
        """Return when the job has ended."""
        if self._thread is not None:
            self._thread.join()

    def close(self) -> None:
        """Cancel the job, and return when it has ended."""
        self.cancel()
        self.wait()

    def _start(self, work: Callable[[CancelFlag], None]) -> None:
        """Cancel the running job and start ``work``, which may raise Cancelled; return at once."""
        self.cancel()
        self._flag = CancelFlag()
        self._thread = threading.Thread(target=_run, args=(work, self._flag), daemon=True)
        self._thread.start()


def _run(work: Callable[[CancelFlag], None], flag: CancelFlag) -> None:
    with suppress(Cancelled):
        work(flag)
