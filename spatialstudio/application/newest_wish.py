"""Work of which only the newest wish counts, done in a thread of its own."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Wish = TypeVar("Wish")


class NewestWish(Generic[Wish]):
    """Fulfils wishes one at a time; one that waits is given up for a newer one.

    The thread ends when nothing is wished for any more, and starts anew with the next wish.

    Args:
        name: Of the thread.
        fulfil: Does the work; asks ``is_out_of_date`` now and then when it takes long.
    """

    def __init__(self, name: str, fulfil: Callable[[Wish], None]) -> None:
        self._name = name
        self._fulfil = fulfil
        self._guard = threading.Lock()
        self._waiting: tuple[Wish, ...] = ()
        self._thread: threading.Thread | None = None
        self._is_closed = False

    @property
    def is_out_of_date(self) -> bool:
        """Whether the wish in work is no longer wanted."""
        return self._is_closed or bool(self._waiting)

    def ask(self, wish: Wish) -> None:
        """Have a wish fulfilled; returns at once."""
        with self._guard:
            if self._is_closed:
                return
            self._waiting = (wish,)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Take no more wishes; return when the one in work has ended."""
        with self._guard:
            self._is_closed = True
            thread = self._thread
        if thread is not None:
            thread.join()

    def _work(self) -> None:
        while True:
            with self._guard:
                if not self._waiting or self._is_closed:
                    self._thread = None
                    return
                (wish,), self._waiting = self._waiting, ()
            self._fulfil(wish)
