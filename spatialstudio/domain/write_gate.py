"""Gates that let a process exit at any time without truncating its output.

Code that writes a file, a set of files or a line of output passes a gate. Code that exits the
process closes it first: writes in progress finish, no new writes start, and staging folders are
removed.
"""

import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class WriteGate:
    """Counts writing threads; when closed, admits only threads that are already inside."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside: Counter[int] = Counter()
        self._is_closed = False
        self._staging: set[Path] = set()

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Allow writing in the block; may be nested. At a closed gate the thread blocks forever."""
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
        """Remove a staging folder when the block ends, or when the process exits within it."""
        self._staging.add(folder)
        try:
            yield
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            self._staging.discard(folder)

    def close(self, timeout_s: float | None = None) -> bool:
        """Block other writers and wait for writes in progress; the calling thread may still write.

        Args:
            timeout_s: Maximum wait; None for no limit.

        Returns:
            True if no other thread is writing.
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
"""Passed by all code that writes files."""
ANSWER_GATE = WriteGate()
"""Passed by all code that prints; separate, as a pipe without a reader blocks its writer."""
