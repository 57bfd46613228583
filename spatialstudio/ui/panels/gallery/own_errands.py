"""The errands of one panel: others tell of their own."""

from collections.abc import Callable

from spatialstudio.application.errands import ErrandId, Errands, Progress


class OwnErrands:
    """Runs errands and knows them again when they end.

    Args:
        errands: Does the work, for other panels as well.
    """

    def __init__(self, errands: Errands) -> None:
        self._errands = errands
        self._ids: set[ErrandId] = set()

    def run(self, title: str, work: Callable[[Progress], object]) -> ErrandId:
        """Have something done; returns at once."""
        errand_id = self._errands.run(title, work)
        self._ids.add(errand_id)
        return errand_id

    def cancel(self, errand_id: ErrandId) -> None:
        """Stop an errand before its next part."""
        self._errands.cancel(errand_id)

    def end(self, errand_id: ErrandId) -> bool:
        """Let go of an errand that is over; say whether it was one of these."""
        is_own = errand_id in self._ids
        self._ids.discard(errand_id)
        return is_own
