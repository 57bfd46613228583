"""Runs an attack in a separate process, with a limit on resident memory and a watchdog.

An attack is Python source. It runs in an empty folder; what it prints comes back. The verdict on
an attack is always the same three questions: did it end in time, within its memory, and is
everything outside of the attacked folder as it was? What attacks single functions runs in the
tests' own process, under the same limits (``limited``).
"""

import contextlib
import hashlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GIBIBYTE = 1024**3
LIMIT_BYTES = 1 * GIBIBYTE
ENGINE_LIMIT_BYTES = 2 * GIBIBYTE
WATCHDOG_S = 60.0
POLL_S = 0.02


@dataclass(frozen=True)
class Attacked:
    """How an attacked process ended.

    Attributes:
        exit_code: Of the process; negative when a signal ended it.
        output: Its standard output and error, together.
        peak_bytes: The largest resident memory of the process with its children.
        hung: Whether the watchdog had to end it.
        over_memory: Whether the memory limit had to end it.
    """

    exit_code: int
    output: str
    peak_bytes: int
    hung: bool
    over_memory: bool

    @property
    def contained(self) -> bool:
        """Whether it ended by itself, in time and within its memory, without a traceback."""
        return (
            not self.hung and not self.over_memory and "Traceback (most recent" not in self.output
        )


def attack(
    source: str,
    folder: Path,
    *,
    home: Path | None = None,
    limit_bytes: int = LIMIT_BYTES,
    timeout_s: float = WATCHDOG_S,
) -> Attacked:
    """Run Python source in ``folder`` under the limits."""
    return run([sys.executable, "-P", "-c", source], folder, home, limit_bytes, timeout_s)


def studio(
    arguments: list[str],
    folder: Path,
    *,
    home: Path | None = None,
    limit_bytes: int = ENGINE_LIMIT_BYTES,
    timeout_s: float = WATCHDOG_S,
) -> Attacked:
    """Run a command of the terminal in ``folder`` under the limits."""
    command = [sys.executable, "-P", "-m", "spatialstudio", *arguments]
    return run(command, folder, home, limit_bytes, timeout_s)


def run(
    command: list[str], folder: Path, home: Path | None, limit_bytes: int, timeout_s: float
) -> Attacked:
    """Run a command in ``folder`` and watch its memory and time."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "QT_QPA_PLATFORM": "offscreen",
        "SPATIAL_STUDIO_HOME": str(home or folder / "home"),
    }
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    watch = _Watch(process, limit_bytes, timeout_s)
    watch.start()
    output, _ = process.communicate()
    watch.join()
    _end_group(process.pid)
    return Attacked(process.returncode, output, watch.peak_bytes, watch.hung, watch.over_memory)


@contextlib.contextmanager
def limited(limit_bytes: int = LIMIT_BYTES, timeout_s: float = WATCHDOG_S) -> Iterator[None]:
    """Limit what happens in this process as well: an attack on a function, not a program.

    A call that waits, as on a FIFO, is interrupted. The memory is that above what the process had
    before; it is measured where Linux tells the peak.

    Raises:
        AssertionError: It took too long, or too much memory.
    """

    def end(*_: object) -> None:
        raise AssertionError(f"an attack took longer than {timeout_s:g} s")

    handler = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, timeout_s)
    try:
        with memory_limited(limit_bytes):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)


@contextlib.contextmanager
def memory_limited(limit_bytes: int) -> Iterator[None]:
    """Limit the memory that this process has more at its peak than before.

    Raises:
        AssertionError: It took more.
    """
    before = _forget_peak()
    yield
    grown = _memory("VmHWM") - before
    assert grown <= limit_bytes, f"an attack took {grown} bytes of memory"


def fingerprint(folder: Path) -> dict[str, str]:
    """Name everything in a folder by path, kind and content, to compare before and after."""
    return {str(path.relative_to(folder)): _mark(path) for path in sorted(folder.rglob("*"))}


class _Watch(threading.Thread):
    def __init__(self, process: subprocess.Popen, limit_bytes: int, timeout_s: float) -> None:
        super().__init__(name="watchdog")
        self._process, self._limit, self._timeout_s = process, limit_bytes, timeout_s
        self.peak_bytes, self.hung, self.over_memory = 0, False, False

    def run(self) -> None:
        left_s = self._timeout_s
        while self._process.poll() is None and not (self.hung or self.over_memory):
            self.peak_bytes = max(self.peak_bytes, _resident_bytes(self._process.pid))
            self.over_memory = self.peak_bytes > self._limit
            try:
                self._process.wait(POLL_S)
            except subprocess.TimeoutExpired:
                left_s -= POLL_S
            self.hung = left_s <= 0
        if self.hung or self.over_memory:
            _end_group(self._process.pid)


def _forget_peak() -> int:
    """Have the system measure this process's peak anew; return the memory that it has now."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _memory("VmRSS")


def _memory(name: str) -> int:
    """Return a size of this process in bytes; 0 where /proc is missing."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))


def _resident_bytes(session: int) -> int:
    """Add up the resident memory of all processes of a session; 0 where /proc is missing."""
    page = os.sysconf("SC_PAGE_SIZE")
    total = 0
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                total += int((entry / "statm").read_text().split()[1]) * page
        except (OSError, IndexError, ValueError):
            continue
    return total


def _end_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _mark(path: Path) -> str:
    if path.is_symlink():
        return f"link {path.readlink()}"
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    return "folder" if path.is_dir() else "other"
