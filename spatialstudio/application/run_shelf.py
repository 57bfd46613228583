"""Where finished runs go: into their folder, or into the recovery when that cannot be written."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from spatialstudio.application.flow.store_run import store_run
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.generation import GenerationEvent, GenerationRequest
from spatialstudio.domain.run_ports import RunStore
from spatialstudio.domain.verdict import Evaluation

log = logging.getLogger(__name__)


class Shelf(Protocol):
    """Takes finished runs."""

    def store(self, request: GenerationRequest, events: Sequence[GenerationEvent]) -> Path:
        """Write a run, not judged yet; return the picture's file.

        Raises:
            StoreError: It cannot be written.
        """
        ...

    def judge(self, path: Path, evaluation: Evaluation) -> None:
        """Add what was found in its picture.

        Raises:
            StoreError: It cannot be written.
        """
        ...

    def recover(self, request: GenerationRequest, events: Sequence[GenerationEvent]) -> Path | None:
        """Write a run somewhere else; None when that fails as well."""
        ...


class RunShelf:
    """Implements ``Shelf`` with a store.

    Args:
        store: Writes runs.
        folder: Tells where runs go now.
        recovery: Where they go when that cannot be written.
        is_marked: Tells whether pictures shall say now that a model drew them.
    """

    def __init__(
        self,
        store: RunStore,
        folder: Callable[[], Path],
        recovery: Path,
        is_marked: Callable[[], bool],
    ) -> None:
        self._store = store
        self._folder = folder
        self._recovery = recovery
        self._is_marked = is_marked

    def store(self, request: GenerationRequest, events: Sequence[GenerationEvent]) -> Path:
        """Write a run, not judged yet; return the picture's file.

        Raises:
            StoreError: It cannot be written.
        """
        return self._write(request, events, self._folder())

    def judge(self, path: Path, evaluation: Evaluation) -> None:
        """Add what was found in its picture.

        Raises:
            StoreError: It cannot be written.
        """
        self._store.judge(path, evaluation)

    def recover(self, request: GenerationRequest, events: Sequence[GenerationEvent]) -> Path | None:
        """Write a run into the recovery; None when that fails as well."""
        try:
            return self._write(request, events, self._recovery)
        except StoreError as error:
            log.warning("A run could not be recovered: %s", error.message)
            return None

    def _write(
        self, request: GenerationRequest, events: Sequence[GenerationEvent], folder: Path
    ) -> Path:
        is_marked = self._is_marked()
        return store_run(request, events, None, self._store, folder, is_marked=is_marked)
