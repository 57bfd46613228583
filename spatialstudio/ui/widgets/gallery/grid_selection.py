"""Which tiles of a grid are chosen: one is current, others may be chosen with it."""

from collections.abc import Iterable, Sequence


class GridSelection:
    """Keys of chosen tiles; they stay chosen while other tiles come and go.

    Attributes:
        current: Where the keyboard is; None when there is nothing.
        chosen: All that is chosen, the current one among them.
    """

    def __init__(self) -> None:
        self.current: int | None = None
        self.chosen: frozenset[int] = frozenset()
        self._anchor: int | None = None

    def keep(self, keys: Sequence[int], instead: int | None) -> bool:
        """Let go of what is no longer there; say whether anything changed.

        Args:
            keys: Of all tiles.
            instead: Becomes current when the current one is gone.
        """
        before = (self.current, self.chosen)
        there = set(keys)
        self.chosen &= there
        if self.current not in there:
            self.pick(instead)
        if self._anchor not in there:
            self._anchor = self.current
        return before != (self.current, self.chosen)

    def pick(self, key: int | None) -> None:
        """Choose one alone; None for nothing."""
        self.current = self._anchor = key
        self.chosen = frozenset() if key is None else frozenset({key})

    def toggle(self, key: int) -> None:
        """Choose one more, or one less."""
        self.chosen ^= {key}
        self.current = self._anchor = key

    def stretch(self, keys: Sequence[int], key: int) -> None:
        """Choose all from where the choice began to this one."""
        if self._anchor is None:
            self.pick(key)
            return
        first, last = sorted((keys.index(self._anchor), keys.index(key)))
        self.current = key
        self.chosen = frozenset(keys[first : last + 1])

    def pick_all(self, keys: Iterable[int]) -> None:
        """Choose everything; the current one stays."""
        self.chosen = frozenset(keys)
