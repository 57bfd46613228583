"""Cancelling: a flag that one thread raises and the working thread asks about."""

from threading import Event

from spatialstudio.domain.errors import Cancelled


class CancelFlag:
    """A ``CancelToken`` that any thread may set."""

    def __init__(self) -> None:
        self._wanted_to_stop = Event()

    def cancel(self) -> None:
        """Ask the work to stop at its next safe point."""
        self._wanted_to_stop.set()

    @property
    def is_cancelled(self) -> bool:
        """Whether ``cancel`` was called."""
        return self._wanted_to_stop.is_set()

    def wait(self, timeout_s: float) -> bool:
        """Wait for ``cancel`` for a while; tell whether it was called."""
        return self._wanted_to_stop.wait(timeout_s)

    def raise_if_cancelled(self) -> None:
        """Return at once while the work is wanted.

        Raises:
            Cancelled: ``cancel`` was called.
        """
        if self.is_cancelled:
            raise Cancelled
