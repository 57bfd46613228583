"""Limits the calls to a server in any minute."""

from collections import deque
from collections.abc import Callable
from time import monotonic

from spatialstudio.adapters.chat.client import pause
from spatialstudio.domain.ports import CancelToken

MINUTE_S = 60.0


class CallRate:
    """Remembers the calls of the last minute.

    Args:
        most: Most calls a minute.
        clock: Time in seconds.
        sleep: Waits for so many seconds, unless the token is cancelled.
    """

    def __init__(
        self,
        most: int,
        clock: Callable[[], float] = monotonic,
        sleep: Callable[[float, CancelToken], None] = pause,
    ) -> None:
        self._most = most
        self._clock = clock
        self._sleep = sleep
        self._calls: deque[float] = deque()

    def take(self) -> bool:
        """Count a call, and return True; False if there were too many in the last minute."""
        now = self._clock()
        while self._calls and now - self._calls[0] >= MINUTE_S:
            self._calls.popleft()
        if len(self._calls) >= self._most:
            return False
        self._calls.append(now)
        return True

    def wait(self, token: CancelToken) -> None:
        """Wait until a call is allowed, and count it.

        Raises:
            Cancelled: The token was cancelled.
        """
        while not self.take():
            self._sleep(self._calls[0] + MINUTE_S - self._clock(), token)
