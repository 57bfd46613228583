"""Servers of language models: those offered by name, the user's choice, and who keeps it."""

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
    """A kind of server and its usual address."""

    title: str
    url: str


@frozen
class ServerChoice:
    """Which language model is asked; its key is kept elsewhere.

    Attributes:
        url: Base address of the chat-completions protocol; empty for nobody.
        model: The server's name for the model; empty for nobody.
        allows_plain_http: Whether the user lets a key travel to this address unencrypted.
    """

    url: str = ""
    model: str = ""
    allows_plain_http: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether somebody can be asked."""
        return bool(self.url and self.model)


class ServerChoices(Protocol):
    """Keeps the user's choice of a server: address and model in a file, the key in the keyring.

    What the environment says goes before both. Only ``choice`` is quick; the others may wait for
    the keyring or the server.
    """

    @property
    def presets(self) -> Mapping[str, ServerPreset]:
        """Servers that are offered, by name."""

    @property
    def overriding(self) -> tuple[str, ...]:
        """Names of the environment variables that go before what is kept."""

    def choice(self) -> ServerChoice:
        """Return what is chosen now."""

    def keep(self, choice: ServerChoice, key: str | None) -> None:
        """Keep a choice; a key goes to the system's keyring.

        Args:
            choice: Address and model.
            key: None leaves the kept key as it is; an empty one is forgotten.

        Raises:
            SettingsError: The address is none, or the key cannot be kept.
            StoreError: The file cannot be written.
        """

    def has_key(self, url: str) -> bool:
        """Tell whether a key is known for an address."""

    def try_out(self, choice: ServerChoice, key: str | None, token: CancelToken) -> str:
        """Ask a server for a word and say in a sentence how that went.

        Args:
            choice: Whom to ask.
            key: None for the one that is kept.
            token: Asked while it waits.

        Raises:
            SettingsError: It does not answer; the sentence says why.
            Cancelled: The token was cancelled.
        """


def crosses_network_in_plain(url: str) -> bool:
    """Say whether what is sent to an address can be read on its way to another machine."""
    try:
        parts = urlsplit(url)
    except ValueError:  # no address; nothing is sent
        return False
    return parts.scheme == PLAIN_SCHEME and not is_this_machine(parts.hostname or "")


def is_this_machine(host: str) -> bool:
    """Say whether a host of an address is this machine, in any spelling of the loopback network."""
    if host.lower().rstrip(".") == "localhost":
        return True
    address = _address_of(host)
    mapped = getattr(address, "ipv4_mapped", None) or address
    return mapped is not None and (mapped.is_loopback or mapped.is_unspecified)


def _address_of(host: str) -> IPv4Address | IPv6Address | None:
    """Read a numeric host as resolvers do: "127.1" is 127.0.0.1; None for a name."""
    try:
        return ip_address(host)
    except ValueError:
        pass
    try:
        return IPv4Address(socket.inet_aton(host))
    except (OSError, ValueError):
        return None
