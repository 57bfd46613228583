"""Prompt termination of commands on Ctrl+C and other signals.

Python calls signal handlers between two instructions of its main thread, which model calls and
library imports block for seconds; an exception raised there may be swallowed or changed by the
libraries in between. A separate thread therefore waits for signals, lets file writes complete, and
ends the process.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from spatialstudio.domain.errors import Cancelled
from spatialstudio.domain.write_gate import ANSWER_GATE, FILE_GATE

STOPPED = "Stopped."
ENDED_BY_SIGNAL = 128
"""Added to the signal number, as in shells: 130 for Ctrl+C."""
GRACE_S = 0.5
"""Time limit of the final output, which an unread pipe would block."""

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
_last_actions: list[tuple[Callable[[], object], float]] = []
_last_words: list[Callable[[], str]] = []


def end_on_signals() -> None:
    """End this process with 128 plus the signal number on Ctrl+C and similar; call it first.

    A second signal does not wait for file writes.
    """
    _fill_standard_streams()
    reader, writer = os.pipe()
    if sys.platform != "win32":
        os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    handler = _SecondSignal()
    for name in _SIGNALS:
        if (number := getattr(signal, name, None)) is not None:
            signal.signal(number, handler)
    threading.Thread(target=_end_at_signal, args=(reader,), name="signals", daemon=True).start()


def ignore_signals() -> None:
    """Ignore signals, so that a completed command ends with its own exit code."""
    for name in _SIGNALS:
        if (number := getattr(signal, name, None)) is not None:
            signal.signal(number, signal.SIG_IGN)


@contextmanager
def at_stop(action: Callable[[], object], seconds: float = 0.0) -> Iterator[None]:
    """Call ``action``, from any thread, if the user interrupts the command within the block.

    Args:
        action: The last thing to do; its errors are ignored.
        seconds: Time that it may take, in addition to ``GRACE_S``.
    """
    last = (action, seconds)
    _last_actions.append(last)
    try:
        yield
    except KeyboardInterrupt:  # without the signal thread, as in tests
        action()
        raise
    finally:
        _last_actions.remove(last)


@contextmanager
def said_at_stop(words: Callable[[], str]) -> Iterator[None]:
    """Say some words in place of ``STOPPED`` if the command is stopped within the block.

    Args:
        words: Returns them, from any thread.

    Raises:
        Cancelled: With these words, if the block was cancelled.
    """
    _last_words.append(words)
    try:
        yield
    except (Cancelled, KeyboardInterrupt) as stop:  # the latter without the signal thread
        raise Cancelled(words()) from stop
    finally:
        _last_words.remove(words)


class _SecondSignal:
    """Ends the process at the second signal; the thread handles the first."""

    def __init__(self) -> None:
        self._is_second = False

    def __call__(self, number: int, _frame: object) -> None:
        if self._is_second:
            os._exit(ENDED_BY_SIGNAL + number)
        self._is_second = True


def _fill_standard_streams() -> None:
    """Open standard streams that the caller closed; otherwise files would take their numbers."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _end_at_signal(reader: int) -> None:
    code = ENDED_BY_SIGNAL + os.read(reader, 1)[0]
    FILE_GATE.close()
    grace = GRACE_S + sum(seconds for _, seconds in _last_actions)
    deadline = threading.Timer(grace, os._exit, [code])
    deadline.daemon = True
    deadline.start()
    ANSWER_GATE.close()
    for action, _ in reversed(_last_actions):
        with suppress(Exception):
            action()
    with suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
    words = _last_words[-1]() if _last_words else STOPPED
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"{words}\n")
        sys.stderr.flush()
    os._exit(code)
