"""Cancellation flag shared between threads."""

from threading import Event

from spatialstudio.domain.errors import Cancelled


class CancelFlag:
    """A ``CancelToken`` that any thread can set."""

    def __init__(self) -> None:
        self._wanted_to_stop = Event()

    def cancel(self) -> None:
        """Request cancellation at the next safe point."""
        self._wanted_to_stop.set()

    @property
    def is_cancelled(self) -> bool:
        """Whether ``cancel`` was called."""
        return self._wanted_to_stop.is_set()

    def wait(self, timeout_s: float) -> bool:
        """Wait for ``cancel``, and return True if it was called within the timeout."""
        return self._wanted_to_stop.wait(timeout_s)

    def raise_if_cancelled(self) -> None:
        """Raise Cancelled if cancellation was requested.

        Raises:
            Cancelled: ``cancel`` was called.
        """
        if self.is_cancelled:
            raise Cancelled
