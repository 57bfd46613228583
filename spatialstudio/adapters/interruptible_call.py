"""A call to a server that ends in time and can be given up, whatever it is waiting for."""

import socket
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from contextlib import suppress
from threading import Thread
from time import monotonic
from typing import Any, Generic, TypeVar

import httpx2

from spatialstudio.domain.ports import CancelToken

Answer = TypeVar("Answer")
Hooks = Mapping[str, list[Callable[..., Any]]]
"""What a client of httpx calls on the way, by event."""

BEAT_S = 0.05
"""How often the user's wish to stop is asked for."""
CONNECTED = {"connection.connect_tcp.complete", "connection.start_tls.complete"}
ANSWERED = "receive_response_headers.complete"


class CallTimedOut(Exception):  # noqa: N818 - a finding, told in the words of the caller
    """A call did not end in time.

    Attributes:
        is_answering: Whether the server had begun to answer.
    """

    def __init__(self, *, is_answering: bool) -> None:
        super().__init__("The call did not end in time.")
        self.is_answering = is_answering


class InterruptibleCall(Generic[Answer]):
    """Does one call in a thread of its own, and hangs up when its answer is no longer wanted.

    Args:
        ask: Does the call; its client must use the hooks that it is given.
    """

    def __init__(self, ask: Callable[[Hooks], Answer]) -> None:
        self._ask = ask
        self._answer: Future[Answer] = Future()
        self._connection: socket.socket | None = None
        self._is_answering = False
        self._is_over = False

    def wait_for(self, token: CancelToken | None, timeout_s: float) -> Answer:
        """Return the answer.

        Args:
            token: Asked before the call and then every beat, whatever the server has sent; None
                when nobody can stop it.
            timeout_s: For the whole call, names and connection included.

        Raises:
            Cancelled: The token was cancelled.
            CallTimedOut: The call takes longer than allowed.
        """
        end = monotonic() + timeout_s
        if token is not None:
            token.raise_if_cancelled()
        Thread(target=self._run, name="server call", daemon=True).start()
        try:
            while not wait([self._answer], min(BEAT_S, max(end - monotonic(), 0.0))).done:
                if token is not None:
                    token.raise_if_cancelled()
                if monotonic() >= end:
                    raise CallTimedOut(is_answering=self._is_answering)
            return self._answer.result()
        finally:
            self._hang_up()

    def _run(self) -> None:
        try:
            self._answer.set_result(self._ask({"request": [self._follow]}))
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            self._answer.set_exception(error)

    def _follow(self, request: httpx2.Request) -> None:
        request.extensions = {**request.extensions, "trace": self._note}

    def _note(self, event: str, info: Mapping[str, Any]) -> None:
        """Keep the newest connection: that of TLS stands in for the plain one below it."""
        self._is_answering = self._is_answering or event.endswith(ANSWERED)
        if event in CONNECTED:
            self._connection = info["return_value"].get_extra_info("socket")
            if self._is_over:
                self._hang_up()

    def _hang_up(self) -> None:
        self._is_over = True
        if self._connection is not None:
            with suppress(OSError):  # the server was quicker
                self._connection.shutdown(socket.SHUT_RDWR)
