"""Parent side of the engine's child process."""

import multiprocessing
import pickle
from collections.abc import Callable
from contextlib import suppress
from threading import Thread, current_thread
from typing import TYPE_CHECKING

from spatialstudio.application.engine.child_main import main, send
from spatialstudio.application.jobs.child_environment import environment_for_children
from spatialstudio.application.jobs.messages import (
    Command,
    EngineStopped,
    ReportTo,
    Stop,
)
from spatialstudio.domain.errors import ErrorReport

if TYPE_CHECKING:
    from spatialstudio.application.engine.worker import BuildRegistry

CLOSING_TIMEOUT_S = 2.0
KILLED = -9
"""Exit code of a process killed by SIGKILL, usually for lack of memory."""


class ChildProcess:
    """A child process with two pipes and a thread that reads its reports.

    Args:
        build: Creates the registry in the child.
        note: Called with each report before it is passed on.
        report: Receives the reports.
        stopped: Called when the process ends unexpectedly.

    Attributes:
        is_gone: Whether the process has ended and all its reports are read.
    """

    def __init__(
        self,
        build: "BuildRegistry",
        note: ReportTo,
        report: ReportTo,
        stopped: Callable[[EngineStopped], None],
    ) -> None:
        context = multiprocessing.get_context("spawn")
        commands, self._commands = context.Pipe(duplex=False)
        self._reports, reports = context.Pipe(duplex=False)
        self._note, self._report, self._stopped = note, report, stopped
        self._is_closing = False
        self.is_gone = False
        self._process = context.Process(
            target=main, args=(commands, reports, build), name="spatialstudio-engine", daemon=True
        )
        with environment_for_children():
            self._process.start()
        commands.close()
        reports.close()
        self._reader = Thread(target=self._read, name="spatialstudio-reports", daemon=True)
        self._reader.start()

    def tell(self, command: Command) -> bool:
        """Send a command; return False if the child has ended, after its end was reported."""
        try:
            send(self._commands, command)
        except OSError:
            if current_thread() is not self._reader:
                self._reader.join()
            return False
        return True

    def close(self) -> None:
        """End the process, gracefully if possible, and release its pipes and thread."""
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
                message = pickle.loads(self._reports.recv_bytes())
                self._note(message)
                self._report(message)
        self._reports.close()
        self._commands.close()
        self.is_gone = True
        if not self._is_closing:
            self._process.join()
            self._stopped(EngineStopped(error=_report_on_exit(self._process.exitcode)))


def _report_on_exit(exit_code: int | None) -> ErrorReport:
    advice = "Try a smaller picture or model" if exit_code == KILLED else "Try again"
    return ErrorReport(
        title="The engine process stopped",
        message="The engine process, which runs the models, stopped unexpectedly.",
        hint=f"{advice}; the engine restarts automatically and your work is safe.",
        details=f"Exit code {exit_code}.",
    )
