"""The child process in which the models live: takes commands from one pipe, reports to another."""

import os
import pickle
import signal
import sys
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Event, Lock, Thread

from spatialstudio.application.engine.worker import BuildModelService, Worker
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

NICENESS = 10
"""Added to that of the program: from there on, up to 19, a process goes last."""


def give_way() -> None:
    """Let other programs go before this process and the threads that it starts from now on.

    On a processor that is free nothing is lost.
    """
    if sys.platform == "win32":
        import ctypes

        kernel, below_normal = ctypes.windll.kernel32, 0x4000
        kernel.SetPriorityClass(kernel.GetCurrentProcess(), below_normal)
    else:
        os.nice(NICENESS)


PICKLE_PROTOCOL = 5
"""From 5 on arrays that are read-only stay so on the other side."""
ORPHAN_S = 2.0
"""How long the child may still work on when its parent is gone: a model call asks nobody."""
EXIT_ORPHANED = 1


def send(pipe: Connection, message: Command | Report) -> None:
    """Send a message through a pipe.

    Raises:
        OSError: The other side is gone.
    """
    pipe.send_bytes(pickle.dumps(message, protocol=PICKLE_PROTOCOL))


def main(commands: Connection, reports: Connection, build: BuildModelService) -> None:
    """Work in a separate process, at a lower priority than its parent."""
    leave_out_current_folder()  # multiprocessing has copied the parent's search path
    give_way()
    work(commands, reports, build)


def work(commands: Connection, reports: Connection, build: BuildModelService) -> None:
    """Do jobs until told to stop, or until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is the parent's to handle
    inbox, is_over = Inbox(), Event()
    Thread(target=_listen, args=(commands, inbox, is_over), daemon=True).start()
    try:
        _work(inbox, reports, build)
    finally:
        is_over.set()


def _work(inbox: "Inbox", reports: Connection, build: BuildModelService) -> None:
    turn = Lock()

    def report(message: Report) -> None:
        try:
            with turn:
                send(reports, message)
        except OSError:
            raise SystemExit from None

    worker = Worker(build, report)
    worker.warm_up()
    answering = Thread(target=_answer, args=(worker, inbox), daemon=True)
    answering.start()
    while (job := inbox.next_job()) is not None:
        worker.run(job, inbox.flag(job.job_id))
        inbox.forget(job.job_id)
    answering.join()  # the models' libraries abort when the process ends within them


class Inbox:
    """Jobs that wait or run, and their flags; filled by one thread, emptied by another."""

    def __init__(self) -> None:
        self._waiting: SimpleQueue[Job | None] = SimpleQueue()
        self._questions: SimpleQueue[Question | None] = SimpleQueue()
        self._asked: dict[type, Question] = {}
        self._flags: dict[RequestId, CancelFlag] = {}
        self._lock = Lock()

    def take(self, command: Command) -> None:
        """Let a command have its effect, at once."""
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
        """Wait for a job; None when it is time to stop."""
        return self._waiting.get()

    def next_question(self) -> Question | None:
        """Wait for a question, of several of a kind the newest; None when it is time to stop."""
        while not self._asked or not self._questions.empty():
            question = self._questions.get()
            if question is None:
                return None
            self._asked[type(question)] = question
        return self._asked.pop(next(iter(self._asked)))

    def flag(self, job_id: RequestId) -> CancelFlag:
        """Return the flag of a job that was taken."""
        with self._lock:
            return self._flags[job_id]

    def forget(self, job_id: RequestId) -> None:
        """Let go of a job that has ended."""
        with self._lock:
            del self._flags[job_id]


def _answer(worker: Worker, inbox: Inbox) -> None:
    while (question := inbox.next_question()) is not None:
        worker.answer(question)


def _listen(commands: Connection, inbox: Inbox, is_over: Event) -> None:
    """Take commands until the last; end the process when nobody is left to give one."""
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
