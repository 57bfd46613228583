"""Requests to the hub: file lists, small settings files and addresses of files."""

import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import Event
from typing import Any, TypeVar
from urllib.parse import quote

from huggingface_hub import constants, hf_hub_url
from huggingface_hub.errors import HfHubHTTPError
from huggingface_hub.hf_api import ModelInfo
from huggingface_hub.utils import (  # type: ignore[attr-defined]  # lazily exported
    get_session,
    hf_raise_for_status,
    validate_repo_id,
)

from spatialstudio.adapters.hub.hub_errors import (
    BROKEN_OFF,
    BUSY,
    TooSlow,
    explained,
    host_of,
    no_address,
    offline,
)
from spatialstudio.adapters.models.model_settings import MAX_SETTINGS_BYTES, settings_of
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.hub import HUB_PAGES
from spatialstudio.domain.ports import CancelToken
from spatialstudio.domain.safe_files import MEBIBYTE
from spatialstudio.domain.servers import crosses_network_in_plain

PROGRAM = "spatialstudio"
MAX_LIST_BYTES = 16 * MEBIBYTE
MAX_WAIT_S = 60.0
TURN_S = 0.2
Result = TypeVar("Result")


@frozen
class Patience:
    """How long to wait for the hub.

    Attributes:
        answer_s: Timeout of connecting and of each read.
        slow_s: Time in which a small answer must be complete, or some of a file must arrive.
        waits_s: Delays before the next attempts, after failures without progress.
        short_waits_s: The same for requests that the user waits for.
    """

    answer_s: float = 20.0
    slow_s: float = 60.0
    waits_s: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0, 16.0)
    short_waits_s: tuple[float, ...] = (1.0, 2.0)


class HubClient:
    """Sends requests with the user's token.

    Args:
        find_token: Returns the user's token, or None.
        endpoint: Address of the hub; None for ``HF_ENDPOINT``, or the public hub.
        patience: Timeouts and delays.
    """

    def __init__(
        self,
        find_token: Callable[[], str | None],
        endpoint: str | None = None,
        patience: Patience | None = None,
    ) -> None:
        self.endpoint = hub_address(endpoint)
        self.patience = patience or Patience()
        in_plain = crosses_network_in_plain(self.endpoint)
        found = find_token()
        self._secret = None if in_plain else found
        self.withholds_token = in_plain and found is not None
        """Whether there is a token that is not sent, as the connection is not encrypted."""

    @property
    def has_token(self) -> bool:
        """Whether a token is sent."""
        return self._secret is not None

    @property
    def headers(self) -> dict[str, str]:
        """Headers of a request.

        Those of ``huggingface_hub`` name installed packages, and ask the hub a question first.
        """
        access = {"Authorization": f"Bearer {self._secret}"} if self._secret else {}
        return {"User-Agent": PROGRAM, "Accept-Encoding": "identity", **access}

    def explained(self, repository: str) -> AbstractContextManager[None]:
        """Translate the errors of a block to ``HubError``."""
        return explained(repository, self.endpoint, has_token=self.has_token)

    def check(self, repository: str) -> None:
        """Check the name of a repository, and that access to the hub is enabled.

        Raises:
            HubError: Access is disabled, or ``HF_ENDPOINT`` is not an address.
            HFValidationError: The name is invalid.
        """
        validate_repo_id(repository)
        if constants.HF_HUB_OFFLINE:
            raise offline()
        if not host_of(self.endpoint):
            raise no_address(self.endpoint)

    def address(self, repository: str, commit: str, name: str) -> str:
        """Return the address of a file."""
        return hf_hub_url(repository, name, revision=commit, endpoint=self.endpoint)

    def info(self, repository: str, revision: str) -> ModelInfo:
        """Return commit, files with sizes and hashes, licence and access of a revision."""
        path = f"api/models/{repository}/revision/{quote(revision, safe='')}?blobs=true"
        answer = self._answer(f"{self.endpoint}/{path}", MAX_LIST_BYTES)
        return ModelInfo(**answer)  # type: ignore[no-untyped-call]

    def settings(self, repository: str, commit: str, name: str) -> dict[str, Any]:
        """Read a small settings file in JSON.

        Raises:
            ValueError, TypeError, RecursionError: It is too large, or not a JSON object.
        """
        return self._answer(self.address(repository, commit, name), MAX_SETTINGS_BYTES)

    def _answer(self, address: str, most_bytes: int) -> dict[str, Any]:
        """Read a JSON object within limits of size and time."""

        def ask() -> bytes:
            content, end = b"", time.monotonic() + self.patience.slow_s
            with get_session().stream(
                "GET", address, headers=self.headers, timeout=self.patience.answer_s
            ) as response:
                hf_raise_for_status(response)
                for piece in response.iter_bytes():
                    content += piece
                    if len(content) > most_bytes:
                        raise ValueError(address)
                    if time.monotonic() > end:
                        raise TooSlow(address)
            return content

        return settings_of(self._repeated(ask))

    def _repeated(self, ask: Callable[[], Result]) -> Result:
        """Repeat a request while the hub is busy or the connection fails."""
        for wait_s in self.patience.short_waits_s:
            try:
                return ask()
            except BROKEN_OFF:
                Event().wait(wait_s)
            except HfHubHTTPError as error:
                if error.response.status_code not in BUSY:
                    raise
                Event().wait(wait_s)
        return ask()


def hub_address(endpoint: str | None = None) -> str:
    """Return the address of the hub: the given one, ``HF_ENDPOINT`` or the public hub."""
    return (endpoint or os.environ.get("HF_ENDPOINT") or HUB_PAGES).rstrip("/")


def retry_after(error: HfHubHTTPError) -> float:
    """Return the delay that the hub asks for, at most ``MAX_WAIT_S``, seconds."""
    value = str(error.response.headers.get("Retry-After", ""))
    return min(float(value), MAX_WAIT_S) if value.isdigit() else 0.0


def wait(seconds: float, token: CancelToken) -> None:
    """Wait, and raise ``Cancelled`` soon after the token is cancelled."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        token.raise_if_cancelled()
        Event().wait(min(left, TURN_S))
