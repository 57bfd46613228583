"""Items that wait for an engine, shared by the threads of the engines."""

from collections import Counter, deque
from collections.abc import Sequence
from threading import Condition

from spatialstudio.domain.benchmark_plan import PlannedItem

MOST_LOSSES = 3
"""An item during which that many engines ended has failed."""


class ItemQueue:
    """Gives out items in order; a lost one waits again. Safe for use by several threads.

    Args:
        items: The items.
    """

    def __init__(self, items: Sequence[PlannedItem]) -> None:
        self._waiting = deque(items)
        self._losses: Counter[str] = Counter()
        self._in_flight = 0
        self._changed = Condition()  # reentrant

    @property
    def is_over(self) -> bool:
        """Whether no item waits and none can come back."""
        with self._changed:
            return not self._waiting and not self._in_flight

    def take(self) -> PlannedItem | None:
        """Return the next item; None if none waits now."""
        with self._changed:
            if not self._waiting:
                return None
            self._in_flight += 1
            return self._waiting.popleft()

    def end(self, _item: PlannedItem) -> None:
        """Count a taken item as done or failed."""
        with self._changed:
            self._in_flight -= 1
            self._changed.notify_all()

    def put_back(self, item: PlannedItem) -> bool:
        """Let a lost item wait again, before the others; return False if it was lost too often."""
        with self._changed:
            self._losses[item.key] += 1
            if self._losses[item.key] == MOST_LOSSES:
                return False
            self._waiting.appendleft(item)
            self._in_flight -= 1
            self._changed.notify_all()
            return True

    def wait(self, seconds: float) -> None:
        """Wait until an item ends or comes back, for at most some seconds."""
        with self._changed:
            if self._in_flight or self._waiting:
                self._changed.wait(seconds)
