"""Refinements and fixes on disk, one file each, written after every attempt."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from spatialstudio.domain.fix import MOST_BUDGET, Fix
from spatialstudio.domain.generation import RequestId
from spatialstudio.domain.refinement import Refinement
from spatialstudio.domain.run_ports import StateFiles

Stored = TypeVar("Stored")

ENDING = ".json"
MOST_SEARCHED = 500
"""Newest files in which the refinement of a run is searched for."""


class Refinements:
    """Stores refinements, so that a loop continues after any end of the program.

    Args:
        state: Reads and writes the files.
        folder: Folder of the files, created on first write.
    """

    def __init__(self, state: StateFiles, folder: Path) -> None:
        self._state = state
        self._folder = folder

    def save(self, refinement: Refinement) -> None:
        """Write a refinement; an earlier state of it is replaced.

        Raises:
            StoreError: The folder cannot be written or is full.
        """
        self._state.write(self._folder / f"{refinement.id}{ENDING}", refinement)

    def of_run(self, request_id: RequestId) -> Refinement | None:
        """Return the newest refinement with a run among its attempts; None if there is none."""
        for found in _newest_first(self._folder, self._state.read_refinement):
            if _is_whole(found) and any(each.request_id == request_id for each in found.attempts):
                return found
        return None


class Fixes:
    """Stores fixes, so that they continue after any end of the program.

    Args:
        state: Reads and writes the files.
        folder: Folder of the files, created on first write.
    """

    def __init__(self, state: StateFiles, folder: Path) -> None:
        self._state = state
        self._folder = folder

    def save(self, fix: Fix) -> None:
        """Write a fix; an earlier state of it is replaced.

        Raises:
            StoreError: The folder cannot be written or is full.
        """
        self._state.write(self._folder / f"{fix.id}{ENDING}", fix)

    def of_run(self, request_id: RequestId) -> Fix | None:
        """Return the newest fix of a run, or with it among its attempts; None if there is none."""
        for found in _newest_first(self._folder, self._state.read_fix):
            pictures = (found.start, *found.attempts)
            if _is_whole_fix(found) and any(each.request_id == request_id for each in pictures):
                return found
        return None


def _newest_first(folder: Path, read: Callable[[Path], Stored | None]) -> Iterator[Stored]:
    """Yield the newest files of a folder that can be read."""
    paths = [(path.stat().st_mtime_ns, path) for path in folder.glob(f"*{ENDING}")]
    for _, path in sorted(paths, reverse=True)[:MOST_SEARCHED]:
        if (found := read(path)) is not None:
            yield found


def _is_whole_fix(fix: Fix) -> bool:
    """Return True if every attempt has a step, and only objects of the prompt are meant."""
    known = {mention.id for mention in fix.request.scene.mentions}
    meant = {each for about in (fix.about, *(step.about for step in fix.steps)) for each in about}
    return len(fix.attempts) <= len(fix.steps) <= MOST_BUDGET and meant <= known


def _is_whole(refinement: Refinement) -> bool:
    """Return True if every attempt has a weight and a score for each assertion."""
    count = len(refinement.assertions.items)
    return all(
        len(each.weights) == count and (each.score is None or len(each.score.scores) == count)
        for each in refinement.attempts
    )
