"""Main loop of the engine's child process: commands in, reports out."""

import gc
import os
import pickle
import signal
import sys
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING

from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.application.jobs.messages import (
    CancelJob,
    Command,
    EstimateMemory,
    Job,
    ListDevices,
    ListLayers,
    Question,
    ReadTokens,
    Report,
    Stop,
)
from spatialstudio.domain.generation import RequestId
from spatialstudio.domain.search_paths import leave_out_current_folder

if TYPE_CHECKING:
    from spatialstudio.application.engine.worker import BuildRegistry, Worker

NICENESS = 10
"""Added to the parent's niceness; 19 is the lowest priority."""


def give_way() -> None:
    """Lower the priority of this process and of its later threads.

    Costs nothing on an idle processor.
    """
    if sys.platform == "win32":
        import ctypes

        kernel, below_normal = ctypes.windll.kernel32, 0x4000
        kernel.SetPriorityClass(kernel.GetCurrentProcess(), below_normal)
    else:
        os.nice(NICENESS)


PICKLE_PROTOCOL = 5
"""Pickle protocol; from 5 on, read-only arrays stay read-only on the other side."""
ORPHAN_S = 2.0
"""Time the child may keep working after its parent has ended, as model calls do not check."""
EXIT_ORPHANED = 1


def send(pipe: Connection, message: Command | Report) -> None:
    """Send a message through a pipe.

    Raises:
        OSError: The other side has closed the pipe.
    """
    pipe.send_bytes(pickle.dumps(message, protocol=PICKLE_PROTOCOL))


def main(commands: Connection, reports: Connection, build: "BuildRegistry") -> None:
    """Run the engine in a separate process, at a lower priority than its parent."""
    leave_out_current_folder()  # multiprocessing has copied the parent's search path
    give_way()
    work(commands, reports, build)


def work(commands: Connection, reports: Connection, build: "BuildRegistry") -> None:
    """Run jobs until a ``Stop`` command, or until the parent has ended."""
    from spatialstudio.application.engine.worker import Worker

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl+C
    inbox, is_over, turn = Inbox(), Event(), Lock()
    Thread(target=_listen, args=(commands, inbox, is_over), daemon=True).start()

    def report(message: Report) -> None:
        try:
            with turn:
                send(reports, message)
        except OSError:
            raise SystemExit from None

    try:
        worker = Worker(build, report)
        worker.warm_up()
        gc.freeze()  # the modules that were imported are not looked at again during steps
        answering = Thread(target=_answer, args=(worker, inbox), daemon=True)
        answering.start()
        while (job := inbox.next_job()) is not None:
            worker.run(job, inbox.flag(job.job_id))
            inbox.forget(job.job_id)
        answering.join()  # model libraries abort if the process exits during their calls
    finally:
        is_over.set()


class Inbox:
    """Waiting jobs, questions and cancel flags, shared by the listening and the working thread."""

    def __init__(self) -> None:
        self._waiting: SimpleQueue[Job | None] = SimpleQueue()
        self._questions: SimpleQueue[Question | None] = SimpleQueue()
        self._asked: dict[type, Question] = {}
        self._flags: dict[RequestId, CancelFlag] = {}
        self._lock = Lock()

    def take(self, command: Command) -> None:
        """Apply a command at once."""
        match command:
            case CancelJob(job_id):
                with self._lock:
                    wanted = self._flags.get(job_id)
                if wanted is not None:
                    wanted.cancel()
            case Stop():
                with self._lock:
                    for flag in self._flags.values():
                        flag.cancel()
                self._waiting.put(None)
                self._questions.put(None)
            case ReadTokens() | EstimateMemory() | ListDevices() | ListLayers():
                self._questions.put(command)
            case _:
                with self._lock:
                    self._flags[command.job_id] = CancelFlag()
                self._waiting.put(command)

    def next_job(self) -> Job | None:
        """Wait for a job; None if the engine stops."""
        return self._waiting.get()

    def next_question(self) -> Question | None:
        """Wait for a question, the newest of each kind; None if the engine stops."""
        while not self._asked or not self._questions.empty():
            question = self._questions.get()
            if question is None:
                return None
            self._asked[type(question)] = question
        return self._asked.pop(next(iter(self._asked)))

    def flag(self, job_id: RequestId) -> CancelFlag:
        """Return the cancel flag of a received job."""
        with self._lock:
            return self._flags[job_id]

    def forget(self, job_id: RequestId) -> None:
        """Remove a job that has ended."""
        with self._lock:
            del self._flags[job_id]


def _answer(worker: "Worker", inbox: Inbox) -> None:
    while (question := inbox.next_question()) is not None:
        worker.answer(question)


def _listen(commands: Connection, inbox: Inbox, is_over: Event) -> None:
    """Receive commands until ``Stop``; end the process if the parent has ended."""
    command: Command | None = None
    while not isinstance(command, Stop):
        try:
            command = pickle.loads(commands.recv_bytes())
        except (EOFError, OSError):
            inbox.take(Stop())
            if not is_over.wait(ORPHAN_S):
                os._exit(EXIT_ORPHANED)
            return
        inbox.take(command)
