"""Ctrl+C while pictures are drawn: the first asks the run to stop, the second breaks off."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def interrupt_asks(cancel: Callable[[], None]) -> Iterator[None]:
    """Call ``cancel`` at the first Ctrl+C within the block; in the main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ask(_number: int, _frame: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        cancel()

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
