"""Refinements on disk, one file each, written after every attempt."""

from pathlib import Path

from spatialstudio.domain.generation import RequestId
from spatialstudio.domain.refinement import Refinement
from spatialstudio.domain.run_ports import StateFiles

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
        for path in self._newest_first()[:MOST_SEARCHED]:
            found = self._state.read_refinement(path)
            if found is None or not _is_whole(found):
                continue
            if any(each.request_id == request_id for each in found.attempts):
                return found
        return None

    def _newest_first(self) -> list[Path]:
        paths = [(path.stat().st_mtime_ns, path) for path in self._folder.glob(f"*{ENDING}")]
        return [path for _, path in sorted(paths, reverse=True)]


def _is_whole(refinement: Refinement) -> bool:
    """Return True if every attempt has a weight and a score for each assertion."""
    count = len(refinement.assertions.items)
    return all(
        len(each.weights) == count and (each.score is None or len(each.score.scores) == count)
        for each in refinement.attempts
    )
