"""Language-model servers: presets, the user's choice, and the protocol of its storage."""

import socket
from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Protocol
from urllib.parse import urlsplit

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import CancelToken

PLAIN_SCHEME = "http"


@frozen
class ServerPreset:
    """A kind of server and its default address."""

    title: str
    url: str


@frozen
class ServerChoice:
    """The chosen language model and its server; the API key is stored separately.

    Attributes:
        url: Base URL of the chat-completions API; empty for none.
        model: Name of the model on the server; empty for none.
        allows_plain_http: Whether the user allows sending a key to this address unencrypted.
    """

    url: str = ""
    model: str = ""
    allows_plain_http: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether both server and model are set."""
        return bool(self.url and self.model)


class ServerChoices(Protocol):
    """Stores the user's choice of a server: address and model in a file, the key in the keyring.

    Environment variables override both. Only ``choice`` returns at once; the other methods may
    wait for the keyring or the server.
    """

    @property
    def presets(self) -> Mapping[str, ServerPreset]:
        """Server presets by name."""

    @property
    def overriding(self) -> tuple[str, ...]:
        """Names of the environment variables that override stored values."""

    def choice(self) -> ServerChoice:
        """Return the current choice."""

    def keep(self, choice: ServerChoice, key: str | None) -> None:
        """Store a choice; the key goes into the system keyring.

        Args:
            choice: Address and model.
            key: None keeps the stored key; an empty string deletes it.

        Raises:
            SettingsError: The address is invalid, or the key cannot be stored.
            StoreError: The file cannot be written.
        """

    def has_key(self, url: str) -> bool:
        """Return True if a key is stored for an address."""

    def try_out(self, choice: ServerChoice, key: str | None, token: CancelToken) -> str:
        """Send a test request to a server and return the result in one sentence.

        Args:
            choice: Server and model.
            key: None for the stored key.
            token: Polled while waiting.

        Raises:
            SettingsError: The request fails; the message states the reason.
            Cancelled: The token was cancelled.
        """


def crosses_network_in_plain(url: str) -> bool:
    """Return True if requests to an address leave this machine unencrypted."""
    try:
        parts = urlsplit(url)
    except ValueError:  # not a URL; nothing is sent
        return False
    return parts.scheme == PLAIN_SCHEME and not is_this_machine(parts.hostname or "")


def is_this_machine(host: str) -> bool:
    """Return True if a host is this machine, in any notation of the loopback network."""
    if host.lower().rstrip(".") == "localhost":
        return True
    address = _address_of(host)
    mapped = getattr(address, "ipv4_mapped", None) or address
    return mapped is not None and (mapped.is_loopback or mapped.is_unspecified)


def _address_of(host: str) -> IPv4Address | IPv6Address | None:
    """Parse a numeric host as resolvers do: "127.1" is 127.0.0.1; None for a name."""
    try:
        return ip_address(host)
    except ValueError:
        pass
    try:
        return IPv4Address(socket.inet_aton(host))
    except (OSError, ValueError):
        return None
