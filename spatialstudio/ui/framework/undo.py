"""Undo and redo: one stack for every edit of the window."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

from PySide6.QtGui import QUndoCommand, QUndoStack

Value = TypeVar("Value")
MOST_EDITS = 500
PAUSE_S = 1.0
"""Neighbours that may be one edit are two when the hand rested for longer between them."""


class Edits(QUndoStack):
    """Takes every edit of the user; the newest can be taken back first.

    Args:
        clock: Tells seconds; only differences count.
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
        """Do an edit that can be undone: ``apply(after)`` now, ``apply(before)`` when undone.

        Args:
            name: For messages: "other seed".
            before: What was there.
            after: What shall be there; nothing happens when it equals ``before``.
            apply: Brings either about; it must not record an edit itself.
            merge_key: Neighbours with the same key in quick succession are one edit: a drag, a
                burst of typing. Empty for an edit of its own.
        """
        if before != after:
            self.push(Change(name, (before, after), apply, merge_key, self._now()))


class Change(QUndoCommand):
    """One edit.

    Args:
        name: For messages.
        values: What was there before, and after.
        apply: Brings either about.
        merge_key: With what it may merge; empty for nothing.
        when_s: Seconds of any steady clock.
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
        """Bring about what the user wanted."""
        self._apply(self.after)

    def undo(self) -> None:
        """Bring back what was there."""
        self._apply(self.before)

    def id(self) -> int:
        """Tell Qt which edits may be one: those that can merge at all."""
        return 1 if self.merge_key else -1

    def mergeWith(self, other: QUndoCommand) -> bool:
        """Take in the next edit when it goes on with this one."""
        if not isinstance(other, Change) or other.merge_key != self.merge_key:
            return False
        if other.when_s - self.when_s > PAUSE_S:
            return False
        self.after, self.when_s = other.after, other.when_s
        return True
