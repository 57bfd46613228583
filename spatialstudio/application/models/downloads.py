"""Downloads of models in the background, one at a time, and the models on this machine."""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from pathlib import Path
from threading import Lock, Thread
from time import monotonic
from typing import Protocol

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.models.machine_memory import MachineMemory, this_machine
from spatialstudio.domain.devices import size_in_words
from spatialstudio.domain.errors import ErrorReport, StudioError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.hub import (
    CatalogueEntry,
    CheckedFile,
    DownloadPlan,
    DownloadProgress,
    GatedRepository,
    InstalledModel,
    ModelHub,
    UnfinishedDownload,
)

HUB_ID = "huggingface"
RATE_WINDOW_S = 5.0
A_MINUTE = 60
CLOSING_TIMEOUT_S = 2.0


class DownloadState(Enum):
    """State of a download in the queue."""

    WAITING = "waiting"
    RUNNING = "running"
    PAUSED = "paused"
    FAILED = "failed"
    DONE = "done"


@frozen
class DownloadEntry:
    """A download in the queue.

    Attributes:
        plan: What is fetched.
        state: Its state.
        progress: Bytes on disk; None before the first report.
        bytes_per_second: Mean of the last seconds; 0 if unknown.
        error: Why it failed.
    """

    plan: DownloadPlan
    state: DownloadState = DownloadState.WAITING
    progress: DownloadProgress | None = None
    bytes_per_second: float = 0.0
    error: ErrorReport | None = None

    @property
    def repository(self) -> str:
        """Id on the hub."""
        return self.plan.repository

    @property
    def seconds_left(self) -> float | None:
        """Estimated time to the end; None if unknown."""
        if self.progress is None or self.bytes_per_second <= 0:
            return None
        return (self.progress.total_bytes - self.progress.done_bytes) / self.bytes_per_second


@frozen
class DownloadsChanged:
    """The queue has changed. Published by ``Downloads``; may cross threads."""

    entries: tuple[DownloadEntry, ...]


@frozen
class DownloadPlanned:
    """The hub has answered. Published by ``Downloads``; may cross threads.

    Attributes:
        name: What was asked for.
        plan: What a download would fetch; None on failure.
        error: Why there is no plan.
        needs_token: Whether a token may help.
    """

    name: str
    plan: DownloadPlan | None = None
    error: ErrorReport | None = None
    needs_token: bool = False


@frozen
class ModelsFound:
    """Models on this machine. Published by ``Downloads``; may cross threads.

    Attributes:
        installed: Complete models.
        unfinished: Downloads that can be resumed.
        has_token: Whether a token is stored or set.
        memory: Memory of this machine.
    """

    installed: tuple[InstalledModel, ...]
    unfinished: tuple[UnfinishedDownload, ...]
    has_token: bool
    memory: MachineMemory = MachineMemory()


@frozen
class ModelsChanged:
    """Models were added, repaired or deleted. Published by ``Downloads``; may cross threads."""


@frozen
class ModelsTaskEnded:
    """A check, removal or setting has ended. Published by ``Downloads``; may cross threads.

    Attributes:
        message: The result in one sentence; empty on failure.
        error: Why it failed.
    """

    message: str = ""
    error: ErrorReport | None = None


class TransferRate:
    """Mean rate of the last seconds.

    Args:
        clock: Returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._samples: deque[tuple[float, int]] = deque()

    def add(self, done_bytes: int) -> float:
        """Take note of the bytes on disk, and return bytes per second; 0 if unknown."""
        now = self._clock()
        self._samples.append((now, done_bytes))
        while (
            self._samples[0][0] < now - RATE_WINDOW_S and self._samples[1] is not self._samples[-1]
        ):
            self._samples.popleft()
        (start, first), (end, last) = self._samples[0], self._samples[-1]
        return (last - first) / (end - start) if end > start else 0.0


class RunningDownload(Protocol):
    """A download in progress."""

    def stop(self) -> None:
        """Stop it; its bytes stay on disk. Nothing is reported afterwards."""


Report = Callable[[DownloadProgress | ErrorReport | None], None]
StartDownload = Callable[[DownloadPlan, Report], RunningDownload]
"""Starts a download; the report receives its progress, then None at the end or an error."""


class Downloads:
    """Queue of downloads, independent of generation.

    Args:
        hub: Creates or returns the hub.
        start: Starts a download.
        publish: Receives the events, in any thread.
        memory: Returns the memory of this machine.
    """

    def __init__(
        self,
        hub: Callable[[], ModelHub],
        start: StartDownload,
        publish: Callable[[object], None],
        memory: Callable[[], MachineMemory] = this_machine,
    ) -> None:
        self._hub = hub
        self._start_download = start
        self._publish = publish
        self._memory = memory
        self._lock = Lock()
        self._entries: dict[str, DownloadEntry] = {}
        self._running: RunningDownload | None = None
        self._run_number = 0
        self._rate = TransferRate()
        self._threads: list[Thread] = []
        self._is_closed = False

    @property
    def catalogue(self) -> tuple[CatalogueEntry, ...]:
        """The recommended models."""
        return self._hub().catalogue

    @property
    def is_offline(self) -> bool:
        """Whether the environment disables access to the hub."""
        return self._hub().is_offline

    @property
    def entries(self) -> tuple[DownloadEntry, ...]:
        """The queue, in order."""
        with self._lock:
            return tuple(self._entries.values())

    def plan(self, name: str) -> None:
        """Ask the hub for size and licence; publishes ``DownloadPlanned``."""
        self._in_background(lambda: self._publish(self._planned(name)))

    def look(self) -> None:
        """List the models on this machine; publishes ``ModelsFound``."""
        self._in_background(self._look)

    def add(self, plan: DownloadPlan) -> None:
        """Queue a download, or resume a paused or failed one."""
        with self._lock:
            known = self._entries.get(plan.repository)
            if known is None or known.state not in (DownloadState.WAITING, DownloadState.RUNNING):
                self._entries[plan.repository] = DownloadEntry(plan=plan)
        self._go_on()

    def resume(self, repository: str) -> None:
        """Resume a paused or failed download of the queue."""
        with self._lock:
            entry = self._entries.get(repository)
        if entry is not None:
            self.add(entry.plan)

    def pause(self, repository: str) -> None:
        """Pause a download; its bytes stay on disk."""
        self._stop(repository)
        with self._lock:
            entry = self._entries.get(repository)
            if entry is not None and entry.state is not DownloadState.DONE:
                self._entries[repository] = replace(
                    entry, state=DownloadState.PAUSED, bytes_per_second=0.0
                )
        self._go_on()

    def cancel(self, repository: str) -> None:
        """Remove a download from the queue, and delete its bytes."""
        self._stop(repository)
        with self._lock:
            self._entries.pop(repository, None)
        self._task(lambda: self._discarded(repository))
        self._go_on()

    def check(self, name: str) -> None:
        """Verify the hashes of a model; publishes ``ModelsTaskEnded``."""
        self._task(lambda: result_of_check(name, self._hub().check(name)))

    def remove(self, name: str) -> None:
        """Delete a model; publishes ``ModelsTaskEnded``."""
        self._task(lambda: f'"{name}" is deleted: {size_in_words(self._hub().remove(name))} freed.')

    def store_token(self, token: str) -> None:
        """Store a token in the keyring; publishes ``ModelsTaskEnded``."""

        def store() -> str:
            self._hub().store_token(token)
            return "The token is stored in the keyring." if token else "The token is deleted."

        self._task(store)

    def use_folder(self, folder: Path) -> None:
        """Add the models of another program; publishes ``ModelsTaskEnded``."""

        def use() -> str:
            found = self._hub().use_folder(folder)
            return f"Added: {', '.join(map(str, found))}."

        self._task(use)

    def close(self) -> None:
        """Stop the running download; it can be resumed at the next start."""
        with self._lock:
            self._is_closed = True
            running, self._running = self._running, None
            self._run_number += 1
        if running is not None:
            running.stop()
        for thread in self._threads:
            thread.join(CLOSING_TIMEOUT_S)

    def wait(self) -> None:
        """Return when all started background work has ended, except for downloads."""
        for thread in self._threads:
            thread.join()

    def _go_on(self) -> None:
        """Start the next download if none is running."""
        with self._lock:
            waiting = [e for e in self._entries.values() if e.state is DownloadState.WAITING]
            if waiting and self._running is None and not self._is_closed:
                entry = waiting[0]
                self._entries[entry.repository] = replace(entry, state=DownloadState.RUNNING)
                self._run_number += 1
                number, self._rate = self._run_number, TransferRate()
                self._running = self._start_download(
                    entry.plan, lambda message: self._follow(number, entry.repository, message)
                )
        self._publish(DownloadsChanged(entries=self.entries))

    def _stop(self, repository: str) -> None:
        with self._lock:
            entry = self._entries.get(repository)
            if entry is None or entry.state is not DownloadState.RUNNING:
                return
            running, self._running = self._running, None
            self._run_number += 1
        if running is not None:
            running.stop()

    def _follow(
        self, number: int, repository: str, message: DownloadProgress | ErrorReport | None
    ) -> None:
        """Take a report of the running download; late reports of stopped ones are ignored."""
        with self._lock:
            if number != self._run_number or repository not in self._entries:
                return
            entry = self._entries[repository]
            if isinstance(message, DownloadProgress):
                rate = self._rate.add(message.done_bytes)
                entry = replace(entry, progress=message, bytes_per_second=rate)
            else:
                self._running = None
                state = DownloadState.DONE if message is None else DownloadState.FAILED
                entry = replace(entry, state=state, error=message, bytes_per_second=0.0)
            self._entries[repository] = entry
        if isinstance(message, DownloadProgress):
            self._publish(DownloadsChanged(entries=self.entries))
            return
        if message is None:
            self._publish(ModelsChanged())
        self._go_on()
        self.look()

    def _planned(self, name: str) -> DownloadPlanned:
        try:
            return DownloadPlanned(name=name, plan=self._hub().plan(name))
        except StudioError as error:
            return DownloadPlanned(
                name=name,
                error=report_on(error, "Querying the hub"),
                needs_token=isinstance(error, GatedRepository),
            )

    def _discarded(self, repository: str) -> str:
        self._hub().discard(repository)
        return f'The download of "{repository}" is cancelled.'

    def _look(self) -> None:
        hub = self._hub()
        self._publish(
            ModelsFound(
                installed=hub.installed(),
                unfinished=hub.unfinished(),
                has_token=hub.has_token(),
                memory=self._memory(),
            )
        )

    def _task(self, work: Callable[[], str]) -> None:
        def do() -> None:
            try:
                ended = ModelsTaskEnded(message=work())
            except StudioError as error:
                ended = ModelsTaskEnded(error=report_on(error, "Managing models"))
            self._publish(ModelsChanged())
            self._publish(ended)
            self._look()

        self._in_background(do)

    def _in_background(self, work: Callable[[], None]) -> None:
        if self._is_closed:
            return
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        thread = Thread(target=work, name="models", daemon=True)
        self._threads.append(thread)
        thread.start()


def result_of_check(name: str, checked: tuple[CheckedFile, ...]) -> str:
    """Describe a verification in one or two sentences."""
    problems = [f"{each.name} ({each.problem})" for each in checked if each.problem]
    if not problems:
        return f'All {len(checked)} files of "{name}" are intact.'
    return f'Damaged files of "{name}": {", ".join(problems)}. Download it again to repair them.'


def in_minutes(seconds: float) -> str:
    """Return a duration in words."""
    if seconds < A_MINUTE:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / A_MINUTE), A_MINUTE)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def progress_in_words(
    progress: DownloadProgress, bytes_per_second: float, seconds_left: float | None
) -> str:
    """Describe the state of a transfer: bytes, speed and time left."""
    words = [f"{size_in_words(progress.done_bytes)} of {size_in_words(progress.total_bytes)}"]
    if bytes_per_second > 0:
        words.append(f"{size_in_words(round(bytes_per_second))}/s")
    if seconds_left is not None:
        words.append(f"{in_minutes(seconds_left)} left")
    return ", ".join(words)
