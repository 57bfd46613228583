"""Which language model is asked, where, and how patiently; and its key, which is never shown."""

import os
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import field
from pathlib import Path
from types import ModuleType
from urllib.parse import urlsplit

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.servers import (
    ServerChoice,
    ServerPreset,
    crosses_network_in_plain,
    is_this_machine,
)

SERVER_VARIABLE = "SPATIAL_STUDIO_LLM_SERVER"
"""Name of a server in ``servers.toml``, or its address."""
MODEL_VARIABLE = "SPATIAL_STUDIO_LLM_MODEL"
KEY_VARIABLE = "SPATIAL_STUDIO_LLM_KEY"
"""The key itself; without it the system's keyring is asked."""
PLAIN_HTTP_VARIABLE = "SPATIAL_STUDIO_LLM_PLAIN_HTTP"
"""1 allows a key to be sent over plain http to another machine."""
KEYRING_SERVICE = "Spatial Studio"
SETTINGS_FILE = "language_model.toml"
"""Among the user's settings: address or name of the server, and the model; never the key."""

SCHEMES = {"http", "https"}
ALLOWED = "1"


@frozen
class ServerSettings:
    """How a server is asked.

    Attributes:
        url: Base address of the chat-completions protocol, as "http://127.0.0.1:11434/v1".
        model: The server's name for the model.
        key: Secret; not in ``repr``.
        timeout_s: For one answer, from asking to its last letter.
        patience_s: For all attempts together.
        attempts: How often a busy or failing server is asked.
        first_wait_s: Before the second attempt; doubles with each, unless the server says.
        calls_a_minute: Budget; beyond it the grammar reads.
        answer_bytes: Longer answers are cut off and count as unreadable.
        answer_tokens: The longest answer asked for.
        cached_readings: How many readings are kept.
        known_names: Servers that can be named instead of an address.
        allows_plain_http: Whether the user lets the key cross a network unencrypted.
    """

    url: str
    model: str
    key: str | None = field(default=None, repr=False)
    timeout_s: float = 20.0
    patience_s: float = 30.0
    attempts: int = 3
    first_wait_s: float = 0.5
    calls_a_minute: int = 30
    answer_bytes: int = 200_000
    answer_tokens: int = 1024
    cached_readings: int = 256
    known_names: tuple[str, ...] = ()
    allows_plain_http: bool = False

    @property
    def host(self) -> str:
        """The server's name, for notes; all that was typed where that is no address."""
        try:
            return urlsplit(self.url).hostname or self.url
        except ValueError:
            return self.url

    @property
    def is_local(self) -> bool:
        """Whether the server runs on this machine, where no proxy leads."""
        return is_this_machine(self.host)

    @property
    def is_secret_safe(self) -> bool:
        """Whether a secret may be sent: encrypted, to this machine, or with the user's consent."""
        return self.allows_plain_http or not crosses_network_in_plain(self.url)


class UnusableKeyring(Exception):  # noqa: N818 - a finding, told with the step that failed
    """There is no keyring, or it stays locked."""


def read_presets(path: Path) -> Mapping[str, ServerPreset]:
    """Read the servers that are offered by name."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: ServerPreset(**preset) for name, preset in table.items()}


def settings_of_user(
    presets: Mapping[str, ServerPreset], folder: Path | None = None
) -> ServerSettings | None:
    """Read the user's choice; None when there is none.

    Args:
        presets: Servers that may be named.
        folder: Of the user's settings; None for the environment alone.
    """
    choice = chosen_server(presets, folder)
    return settings_of(choice, presets) if choice.is_complete else None


def settings_of(choice: ServerChoice, presets: Mapping[str, ServerPreset]) -> ServerSettings:
    """Return how a chosen server is asked, with its key.

    Args:
        choice: Its address, and the model.
        presets: Servers that may be named.
    """
    return ServerSettings(
        url=choice.url,
        model=choice.model,
        key=key_of(choice.url),
        known_names=tuple(presets),
        allows_plain_http=choice.allows_plain_http,
    )


def is_address(url: str) -> bool:
    """Tell whether a server can be asked at an address; name and password have no place in it."""
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return named and parts.scheme in SCHEMES and parts.username is None and parts.password is None


def chosen_server(presets: Mapping[str, ServerPreset], folder: Path | None) -> ServerChoice:
    """Return the server in the environment, and for what it leaves open the one in the file."""
    kept = _kept_choice(folder / SETTINGS_FILE) if folder else {}
    server = (os.environ.get(SERVER_VARIABLE) or kept.get("server", "")).strip()
    preset = presets.get(server.lower())
    url = preset.url if preset else server
    return ServerChoice(
        url=url,
        model=os.environ.get(MODEL_VARIABLE) or kept.get("model", ""),
        allows_plain_http=os.environ.get(PLAIN_HTTP_VARIABLE) == ALLOWED
        or (bool(url) and kept.get("plain_http") == url),
    )


def key_of(url: str) -> str | None:
    """Return the key in the environment, or the one that the keyring holds for an address."""
    if key := os.environ.get(KEY_VARIABLE):
        return key
    try:
        with _keyring() as keyring:
            return keyring.get_password(KEYRING_SERVICE, url) or None
    except UnusableKeyring:
        return None


def keep_key(url: str, key: str) -> None:
    """Put a key into the system's keyring.

    Raises:
        UnusableKeyring: There is none.
    """
    with _keyring() as keyring:
        keyring.set_password(KEYRING_SERVICE, url, key)


def forget_key(url: str) -> None:
    """Take a key out of the system's keyring; one that is not there is forgotten already."""
    with suppress(UnusableKeyring), _keyring() as keyring:
        keyring.delete_password(KEYRING_SERVICE, url)


@contextmanager
def _keyring() -> Iterator[ModuleType]:
    """Lend the keyring, and tell of all its troubles as one.

    Raises:
        UnusableKeyring: The library or a backend is missing, locked or broken.
    """
    try:
        import keyring  # asks the system for its backends, which takes time
        from keyring.errors import KeyringError
    except ImportError as error:
        raise UnusableKeyring from error
    try:
        yield keyring
    except (KeyringError, OSError, RuntimeError) as error:
        raise UnusableKeyring from error


def _kept_choice(path: Path) -> Mapping[str, str]:
    """Read the file; one that is missing or damaged says nothing."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {name: value for name, value in table.items() if isinstance(value, str)}
