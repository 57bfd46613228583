"""Keeps what was typed on disk, within a second of each change."""

import logging
import threading
from collections.abc import Callable

from spatialstudio.domain.draft import Draft
from spatialstudio.domain.errors import StudioError

log = logging.getLogger(__name__)

PAUSE_S = 0.5
"""Changes that follow sooner are written together."""


class DraftKeeper:
    """Writes the newest draft from a thread of its own, so that typing never waits for the disk.

    Args:
        write: Writes a draft, whole; raises StoreError.
        pause_s: How long changes are gathered.
    """

    def __init__(self, write: Callable[[Draft], None], pause_s: float = PAUSE_S) -> None:
        self._write = write
        self._pause_s = pause_s
        self._newest: Draft | None = None
        self._guard = threading.Lock()
        self._hurry = threading.Event()
        self._thread: threading.Thread | None = None

    def keep(self, draft: Draft) -> None:
        """Have a draft written; returns at once."""
        with self._guard:
            self._newest = draft
            if self._thread is None:
                self._hurry.clear()
                self._thread = threading.Thread(target=self._work, name="drafts", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Write what is still to be written."""
        with self._guard:
            thread = self._thread
        if thread is not None:
            self._hurry.set()
            thread.join()

    def _work(self) -> None:
        """Write until nothing changes any more; the next change starts another thread."""
        while True:
            self._hurry.wait(self._pause_s)
            with self._guard:
                draft, self._newest = self._newest, None
                if draft is None:
                    self._thread = None
                    return
            try:
                self._write(draft)
            except StudioError as error:
                log.warning("The draft could not be kept: %s", error.message)
