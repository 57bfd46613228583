"""Undo and redo: one stack for all edits of the window."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

from PySide6.QtGui import QUndoCommand, QUndoStack

Value = TypeVar("Value")
MOST_EDITS = 500
PAUSE_S = 1.0
"""Edits further apart never merge."""


class Edits(QUndoStack):
    """The undo stack of the window.

    Args:
        clock: Returns seconds; only differences count.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._now = clock
        self.setUndoLimit(MOST_EDITS)

    def change(
        self,
        name: str,
        before: Value,
        after: Value,
        apply: Callable[[Value], object],
        *,
        merge_key: str = "",
    ) -> None:
        """Apply an undoable edit: ``apply(after)`` now, ``apply(before)`` on undo.

        Args:
            name: For messages: "other seed".
            before: Previous value.
            after: New value; nothing happens when it equals ``before``.
            apply: Sets either value; it must not record an edit itself.
            merge_key: Consecutive edits with the same key merge into one, such as a drag or a burst
                of typing. Empty for a separate edit.
        """
        if before != after:
            self.push(Change(name, (before, after), apply, merge_key, self._now()))


class Change(QUndoCommand):
    """One edit on the undo stack.

    Args:
        name: For messages.
        values: Values before and after.
        apply: Sets either value.
        merge_key: Edits with the same key may merge; empty for never.
        when_s: Time in seconds of any monotonic clock.
    """

    def __init__(
        self,
        name: str,
        values: tuple[Any, Any],
        apply: Callable[[Any], object],
        merge_key: str,
        when_s: float,
    ) -> None:
        super().__init__(name)
        self.before, self.after = values
        self.merge_key = merge_key
        self.when_s = when_s
        self._apply = apply

    def redo(self) -> None:
        """Apply the new value."""
        self._apply(self.after)

    def undo(self) -> None:
        """Apply the previous value."""
        self._apply(self.before)

    def id(self) -> int:
        """Return Qt's merge id; -1 for an edit that never merges."""
        return 1 if self.merge_key else -1

    def mergeWith(self, other: QUndoCommand) -> bool:
        """Merge the next edit if it continues this one."""
        if not isinstance(other, Change) or other.merge_key != self.merge_key:
            return False
        if other.when_s - self.when_s > PAUSE_S:
            return False
        self.after, self.when_s = other.after, other.when_s
        return True
