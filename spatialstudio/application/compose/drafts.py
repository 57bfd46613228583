"""Automatic saving of the prompt and settings, within a second of each change."""

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.run_settings import Draft, RunSettings, SketchedPlaces
from spatialstudio.domain.scene import SceneGraph

log = logging.getLogger(__name__)

PAUSE_S = 0.5
"""Changes within this time are written together."""


class DraftSaver:
    """Writes the newest draft in a background thread, so that typing never waits for the disk.

    Args:
        read: Reads the draft of an earlier session; None if there is none.
        write: Writes a whole draft; raises StoreError.
        pause_s: Time during which changes are combined.
    """

    def __init__(
        self,
        read: Callable[[], Draft | None],
        write: Callable[[Draft], None],
        pause_s: float = PAUSE_S,
    ) -> None:
        self._read = read
        self._write = write
        self._pause_s = pause_s
        self._unwritten: Draft | None = None
        self._guard = threading.Lock()
        self._is_due_now = threading.Event()
        self._thread: threading.Thread | None = None

    @cached_property
    def newest(self) -> Draft:
        """The newest draft, of this session or an earlier one."""
        return self._read() or Draft()

    def keep_prompt(self, text: str, model_id: str | None) -> None:
        """Save the prompt."""
        self.keep(replace(self.newest, prompt=text, model_id=model_id or "", scene=None))

    def keep_scene(self, scene: SceneGraph) -> None:
        """Save the scene with the user's edits, and its prompt."""
        self.keep(replace(self.newest, prompt=scene.prompt.text, scene=scene))

    def keep_places(self, places: SketchedPlaces) -> None:
        """Save the places of the layout sketch."""
        self.keep(replace(self.newest, places=places))

    def keep_settings(self, settings: RunSettings) -> None:
        """Save the settings."""
        self.keep(replace(self.newest, settings=settings))

    def keep(self, draft: Draft) -> None:
        """Write a draft within a second; returns at once."""
        if draft == self.newest:
            return
        self.newest = draft
        with self._guard:
            self._unwritten = draft
            if self._thread is None:
                self._is_due_now.clear()
                self._thread = threading.Thread(target=self._work, name="drafts", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Write pending changes."""
        with self._guard:
            thread = self._thread
        if thread is not None:
            self._is_due_now.set()
            thread.join()

    def _work(self) -> None:
        """Write until there are no further changes; the next change starts another thread."""
        while True:
            self._is_due_now.wait(self._pause_s)
            with self._guard:
                draft, self._unwritten = self._unwritten, None
                if draft is None:
                    self._thread = None
                    return
            try:
                self._write(draft)
            except StudioError as error:
                log.warning("The draft could not be saved: %s", error.message)
