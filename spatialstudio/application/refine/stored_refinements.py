"""Refinements and fixes on disk, one file each, written after every attempt."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

from spatialstudio.domain.fix import MOST_BUDGET, Fix
from spatialstudio.domain.generation import RequestId
from spatialstudio.domain.refinement import Refinement
from spatialstudio.domain.run_ports import StateFiles

Loop = TypeVar("Loop", Refinement, Fix)

ENDING = ".json"
MOST_SEARCHED = 500
"""Newest files in which the loop of a run is searched for."""


class StoredLoops(Generic[Loop]):
    """Stores loops of one kind, so that they continue after any end of the program.

    Args:
        state: Writes the files.
        read: Reads a file; returns None if it cannot be read.
        is_whole: Returns whether a loop that was read does not contradict itself.
        folder: Folder of the files, created on first write.
    """

    def __init__(
        self,
        state: StateFiles,
        read: Callable[[Path], Loop | None],
        is_whole: Callable[[Loop], bool],
        folder: Path,
    ) -> None:
        self._state = state
        self._read: Callable[[Path], Loop | None] = read
        self._is_whole: Callable[[Loop], bool] = is_whole
        self._folder = folder

    def save(self, loop: Loop) -> None:
        """Write a loop; an earlier state of it is replaced.

        Raises:
            StoreError: The folder cannot be written or is full.
        """
        self._state.write(self._folder / f"{loop.id}{ENDING}", loop)

    def of_run(self, request_id: RequestId) -> Loop | None:
        """Return the newest loop with a run among its pictures; None if there is none."""
        for loop in self._newest_first():
            known = (each.request_id for each in loop.pictures)
            if self._is_whole(loop) and request_id in known:
                return loop
        return None

    def _newest_first(self) -> Iterator[Loop]:
        """Yield the loops of the newest files that can be read."""
        paths = [(path.stat().st_mtime_ns, path) for path in self._folder.glob(f"*{ENDING}")]
        for _, path in sorted(paths, reverse=True)[:MOST_SEARCHED]:
            if (loop := self._read(path)) is not None:
                yield loop


def refinements_in(folder: Path, state: StateFiles) -> StoredLoops[Refinement]:
    """Return the refinements of a folder."""
    return StoredLoops(state, state.read_refinement, _is_whole_refinement, folder)


def fixes_in(folder: Path, state: StateFiles) -> StoredLoops[Fix]:
    """Return the fixes of a folder."""
    return StoredLoops(state, state.read_fix, _is_whole_fix, folder)


def _is_whole_fix(fix: Fix) -> bool:
    """Return whether every attempt has a step, and only objects of the prompt are meant."""
    known = {mention.id for mention in fix.request.scene.mentions}
    meant = {each for about in (fix.about, *(step.about for step in fix.steps)) for each in about}
    return len(fix.attempts) <= len(fix.steps) <= MOST_BUDGET and meant <= known


def _is_whole_refinement(refinement: Refinement) -> bool:
    """Return whether every attempt has a weight and a score for each assertion."""
    count = len(refinement.assertions.items)
    return all(
        len(each.weights) == count and (each.score is None or len(each.score.scores) == count)
        for each in refinement.attempts
    )
