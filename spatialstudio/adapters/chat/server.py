"""Settings and key of the language model server; the key is never displayed."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from urllib.parse import urlsplit

from spatialstudio.adapters.system_keyring import stored_secret
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
"""The key itself; the system keyring is used if unset."""
PLAIN_HTTP_VARIABLE = "SPATIAL_STUDIO_LLM_PLAIN_HTTP"
"""Set to 1 to allow sending a key over plain http to another machine."""
CALLS_VARIABLE = "SPATIAL_STUDIO_LLM_CALLS_A_MINUTE"
"""Most calls a minute; ``CALLS_A_MINUTE`` if unset."""
SETTINGS_FILE = "language_model.toml"
"""In the user's settings folder: address or name of the server, and the model; never the key."""

SCHEMES = {"http", "https"}
ALLOWED = "1"
CALLS_A_MINUTE, MOST_CALLS_A_MINUTE = 30, 100_000


@frozen
class ServerSettings:
    """Connection settings of a server.

    Attributes:
        url: Base address of the chat-completions protocol, as "http://127.0.0.1:11434/v1".
        model: The server's name for the model.
        key: Secret; not in ``repr``.
        timeout_s: Timeout of one answer, from the request to its last byte.
        patience_s: Timeout of all attempts together.
        attempts: Maximum attempts if the server is busy or fails.
        first_wait_s: Delay before the second attempt; doubles each time unless the server sets it.
        calls_a_minute: Rate limit; above it the grammar reads the prompt, and questions wait.
        answer_bytes: Longer answers are truncated and count as unreadable.
        answer_tokens: Maximum answer length requested.
        cached_readings: Maximum number of cached readings.
        known_names: Servers that can be chosen by name.
        allows_plain_http: Whether the user allows sending the key unencrypted.
    """

    url: str
    model: str
    key: str | None = field(default=None, repr=False)
    timeout_s: float = 20.0
    patience_s: float = 30.0
    attempts: int = 3
    first_wait_s: float = 0.5
    calls_a_minute: int = CALLS_A_MINUTE
    answer_bytes: int = 200_000
    answer_tokens: int = 1024
    cached_readings: int = 256
    known_names: tuple[str, ...] = ()
    allows_plain_http: bool = False

    @property
    def host(self) -> str:
        """The server's host name, for notes; the whole input if it is not a valid address."""
        try:
            return urlsplit(self.url).hostname or self.url
        except ValueError:
            return self.url

    @property
    def is_local(self) -> bool:
        """Whether the server runs on this machine, where no proxy applies."""
        return is_this_machine(self.host)

    @property
    def is_secret_safe(self) -> bool:
        """Whether a secret may be sent: encrypted, to this machine, or with the user's consent."""
        return self.allows_plain_http or not crosses_network_in_plain(self.url)


def read_presets(path: Path) -> Mapping[str, ServerPreset]:
    """Read the servers that can be chosen by name."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: ServerPreset(**preset) for name, preset in table.items()}


def settings_of_user(
    presets: Mapping[str, ServerPreset], folder: Path | None = None, model: str | None = None
) -> ServerSettings | None:
    """Return settings for the user's server; None if none is chosen.

    Args:
        presets: Servers that can be chosen by name.
        folder: The user's settings folder; None to use only the environment.
        model: Another model on the server; None for the chosen one.
    """
    choice = chosen_server(presets, folder)
    choice = replace(choice, model=model) if model else choice
    return settings_of(choice, presets) if choice.is_complete else None


def settings_of(choice: ServerChoice, presets: Mapping[str, ServerPreset]) -> ServerSettings:
    """Return the connection settings of a chosen server, with its key.

    Args:
        choice: Address and model.
        presets: Servers that can be chosen by name.
    """
    return ServerSettings(
        url=choice.url,
        model=choice.model,
        key=key_of(choice.url),
        known_names=tuple(presets),
        allows_plain_http=choice.allows_plain_http,
        calls_a_minute=_calls_a_minute(os.environ.get(CALLS_VARIABLE, "")),
    )


def _calls_a_minute(text: str) -> int:
    """Return the rate limit of the user; the default for anything but a number in range."""
    is_number = text.isascii() and text.isdecimal() and len(text) <= len(str(MOST_CALLS_A_MINUTE))
    number = int(text) if is_number else 0
    return number if 1 <= number <= MOST_CALLS_A_MINUTE else CALLS_A_MINUTE


def is_address(url: str) -> bool:
    """Return True for a valid server address, which contains no user name or password."""
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return named and parts.scheme in SCHEMES and parts.username is None and parts.password is None


def chosen_server(presets: Mapping[str, ServerPreset], folder: Path | None) -> ServerChoice:
    """Return the server from the environment, completed from the file."""
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
    """Return the key from the environment, or from the keyring for an address."""
    return os.environ.get(KEY_VARIABLE) or stored_secret(url)


def _kept_choice(path: Path) -> Mapping[str, str]:
    """Read the file; empty if it is missing or damaged."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {name: value for name, value in table.items() if isinstance(value, str)}
