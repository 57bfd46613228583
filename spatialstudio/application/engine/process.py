"""The engine whose models live in a child process: a crash there leaves this one whole."""

import multiprocessing
import pickle
from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Thread, current_thread

from spatialstudio.application.engine.child import send, work
from spatialstudio.application.engine.messages import (
    CancelJob,
    Command,
    EngineStopped,
    Job,
    Report,
    ReportTo,
    Stop,
)
from spatialstudio.application.engine.worker import BuildWorkshop
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.domain.generation import RequestId

CLOSING_TIMEOUT_S = 2.0
KILLED = -9
"""Exit code of a process that the system ended, most often to get memory back."""


class ProcessEngine:
    """Runs jobs in a spawned process; reports arrive on a thread of its own.

    Args:
        build: Makes the workshop in the child.
    """

    def __init__(self, build: BuildWorkshop) -> None:
        self._build = build
        self._report: ReportTo | None = None
        self._child: _Child | None = None
        self._lock = Lock()

    def start(self, report: ReportTo) -> None:
        """Start the child, which gets ready while nothing is asked of it yet."""
        with self._lock:
            self._report = report
            self._child = self._spawn(report)

    def submit(self, job: Job) -> None:
        """Run a job after those before it; a child that has died is started anew.

        Raises:
            RuntimeError: The engine was not started, or is closed.
        """
        with self._lock:
            if self._report is None:
                raise RuntimeError("The engine takes jobs between start and close only.")
            if self._child is None or not self._child.tell(job):
                self._child = self._spawn(self._report)
                self._child.tell(job)

    def cancel(self, job_id: RequestId) -> None:
        """Stop a job before its next model call; nothing happens when it has ended."""
        with self._lock:
            if self._child is not None:
                self._child.tell(CancelJob(job_id))

    def close(self) -> None:
        """Stop all work; a child that does not end by itself is killed."""
        with self._lock:
            child, self._child, self._report = self._child, None, None
        if child is not None:
            child.close()

    def _spawn(self, report: ReportTo) -> "_Child":
        return _Child(self._build, report)


class _Child:
    """One child process with its two pipes and the thread that reads its reports."""

    def __init__(self, build: BuildWorkshop, report: Callable[[Report], None]) -> None:
        context = multiprocessing.get_context("spawn")
        commands, self._commands = context.Pipe(duplex=False)
        self._reports, reports = context.Pipe(duplex=False)
        self._report = report
        self._is_closing = False
        self._process = context.Process(
            target=work, args=(commands, reports, build), name="spatialstudio-engine", daemon=True
        )
        self._process.start()
        commands.close()
        reports.close()
        self._reader = Thread(target=self._read, name="spatialstudio-reports", daemon=True)
        self._reader.start()

    def tell(self, command: Command) -> bool:
        """Send a command; False when the child is gone, after its end was reported."""
        try:
            send(self._commands, command)
        except OSError:
            if current_thread() is not self._reader:
                self._reader.join()
            return False
        return True

    def close(self) -> None:
        """End the process, kindly first, and leave nothing over."""
        self._is_closing = True
        self.tell(Stop())
        self._process.join(CLOSING_TIMEOUT_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        if current_thread() is not self._reader:
            self._reader.join()

    def _read(self) -> None:
        with suppress(EOFError, OSError):
            while True:
                self._report(pickle.loads(self._reports.recv_bytes()))
        self._reports.close()
        self._commands.close()
        if not self._is_closing:
            self._process.join()
            self._report(EngineStopped(error=_report_on_exit(self._process.exitcode)))


def _report_on_exit(exit_code: int | None) -> ErrorReport:
    advice = "Try a smaller picture or model" if exit_code == KILLED else "Try again"
    return ErrorReport(
        title="The engine stopped",
        message="The process that runs the models has ended unexpectedly.",
        hint=f"{advice}; the engine starts again by itself and your work is safe.",
        details=f"Exit code {exit_code}.",
    )
