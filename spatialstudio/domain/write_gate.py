"""Lets a program end at any moment without cutting what it writes.

Whoever writes a file, a set of files or a line of an answer passes a gate. Whoever ends the program
closes it first: what is being written is finished, nothing more is begun, and folders of unfinished
files are removed.
"""

import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class WriteGate:
    """Counts the threads that write; a closed gate lets only those in that are inside already."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside: Counter[int] = Counter()
        self._is_closed = False
        self._staging: set[Path] = set()

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Write within the block; may be nested. Behind a closed gate the thread waits for ever."""
        thread = threading.get_ident()
        with self._changed:
            self._changed.wait_for(lambda: not self._is_closed or self._inside[thread])
            self._inside[thread] += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside[thread] -= 1
                self._changed.notify_all()

    @contextmanager
    def staging(self, folder: Path) -> Iterator[None]:
        """Remove a folder of unfinished files when the block ends, or the program within it."""
        self._staging.add(folder)
        try:
            yield
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            self._staging.discard(folder)

    def close(self, timeout_s: float | None = None) -> bool:
        """Let nobody else write, and wait for those who do; the caller may still write itself.

        Args:
            timeout_s: The longest wait; None for as long as it takes.

        Returns:
            Whether nobody writes any more.
        """
        thread = threading.get_ident()
        with self._changed:
            self._is_closed = True
            self._inside[thread] += 1
            is_quiet = self._changed.wait_for(
                lambda: self._inside.total() == self._inside[thread], timeout_s
            )
        for folder in tuple(self._staging):
            shutil.rmtree(folder, ignore_errors=True)
        return is_quiet


FILE_GATE = WriteGate()
"""Passed by all that writes files."""
ANSWER_GATE = WriteGate()
"""Passed by all that prints; apart, as a pipe that nobody reads blocks its writer."""
