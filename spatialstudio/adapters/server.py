"""Which language model is asked, where, and how patiently; and its key, which is never shown."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from urllib.parse import urlsplit

SERVER_VARIABLE = "SPATIAL_STUDIO_LLM_SERVER"
"""Name of a server in ``servers.toml``, or its address."""
MODEL_VARIABLE = "SPATIAL_STUDIO_LLM_MODEL"
KEY_VARIABLE = "SPATIAL_STUDIO_LLM_KEY"
"""The key itself; without it the system's keyring is asked."""
KEYRING_SERVICE = "Spatial Studio"

LOOPBACK = {"127.0.0.1", "::1", "localhost"}


@dataclass(frozen=True, slots=True, kw_only=True)
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

    @property
    def host(self) -> str:
        """The server's name, for notes."""
        return urlsplit(self.url).hostname or self.url

    @property
    def is_local(self) -> bool:
        """Whether the server runs on this machine, where no proxy leads."""
        return self.host in LOOPBACK


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerPreset:
    """A kind of server and its usual address."""

    title: str
    url: str


def read_presets(path: Path) -> Mapping[str, ServerPreset]:
    """Read the servers that are offered by name."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: ServerPreset(**preset) for name, preset in table.items()}


def settings_of_user(presets: Mapping[str, ServerPreset]) -> ServerSettings | None:
    """Read the user's choice from the environment; None when there is none."""
    server, model = os.environ.get(SERVER_VARIABLE), os.environ.get(MODEL_VARIABLE)
    if not server or not model:
        return None
    url = presets[server].url if server in presets else server
    return ServerSettings(url=url, model=model, key=os.environ.get(KEY_VARIABLE) or _kept_key(url))


def _kept_key(url: str) -> str | None:
    """Ask the system's keyring, where the optional library and a keyring are there."""
    try:
        keyring, errors = import_module("keyring"), import_module("keyring.errors")
    except ImportError:
        return None
    try:
        key = keyring.get_password(KEYRING_SERVICE, url)
    except errors.KeyringError:
        return None
    return None if key is None else str(key)
