"""Storage and connection test of the user's language model server."""

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from time import monotonic

from spatialstudio.adapters.chat.server import (
    KEY_VARIABLE,
    MODEL_VARIABLE,
    SERVER_VARIABLE,
    SETTINGS_FILE,
    ServerSettings,
    chosen_server,
    is_address,
    key_of,
    read_presets,
    settings_of,
)
from spatialstudio.adapters.durable_files import explained_writing, write_whole
from spatialstudio.adapters.system_keyring import UnusableKeyring, delete_secret, store_secret
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.ports import CancelToken, Surroundings
from spatialstudio.domain.servers import ServerChoice, ServerPreset

INSTRUCTION = "You are asked whether you are there. Answer with the one word: ready"
QUESTION = "Are you there?"
ANSWER_TOKENS = 8


def build(surroundings: Surroundings) -> "UserServerChoices":
    """Create the store in the user's settings folder."""
    presets = read_presets(surroundings.resources / "prompts" / "servers.toml")
    return UserServerChoices(presets, surroundings.settings)


class UserServerChoices:
    """Stores address and model in a TOML file, and the key in the keyring.

    Args:
        presets: Servers that can be chosen by name.
        folder: The user's settings folder; None to store nothing.
    """

    def __init__(self, presets: Mapping[str, ServerPreset], folder: Path | None) -> None:
        self.presets = presets
        self._folder = folder

    @property
    def overriding(self) -> tuple[str, ...]:
        """Names of the environment variables that override the stored choice."""
        variables = (SERVER_VARIABLE, MODEL_VARIABLE, KEY_VARIABLE)
        return tuple(name for name in variables if os.environ.get(name))

    def choice(self) -> ServerChoice:
        """Return the current choice, from the environment or the file."""
        return chosen_server(self.presets, self._folder)

    def keep(self, choice: ServerChoice, key: str | None) -> None:
        """Save a choice; the key is stored in the system keyring.

        Raises:
            SettingsError: The address is invalid, or the key cannot be stored.
            StoreError: The file cannot be written.
        """
        if choice.url:
            _check_address(choice.url)
        if self._folder is not None:
            fields = {"server": choice.url, "model": choice.model}
            if choice.allows_plain_http:
                fields["plain_http"] = choice.url
            lines = [f"{name} = {json.dumps(value)}\n" for name, value in fields.items()]
            with explained_writing(self._folder):
                self._folder.mkdir(parents=True, exist_ok=True)
            write_whole(self._folder / SETTINGS_FILE, "".join(lines).encode())
        try:
            if key:
                store_secret(choice.url, key)
            elif key is not None:
                delete_secret(choice.url)
        except UnusableKeyring as error:
            raise SettingsError(
                "No system keyring is available to store the API key.",
                hint=f"Put the key into the environment variable {KEY_VARIABLE}.",
            ) from error

    def has_key(self, url: str) -> bool:
        """Return True if a key is stored for an address."""
        return key_of(url) is not None

    def try_out(self, choice: ServerChoice, key: str | None, token: CancelToken) -> str:
        """Test a server with a short question and return a sentence about the result.

        Raises:
            SettingsError: It does not answer; the message gives the reason.
            Cancelled: The token was cancelled.
        """
        _check_address(choice.url)
        if not choice.model:
            raise SettingsError(
                "The model name is empty.", hint=("Enter the model name as the server lists it.")
            )
        settings = replace(
            settings_of(choice, self.presets), attempts=1, answer_tokens=ANSWER_TOKENS
        )
        if key is not None:
            settings = replace(settings, key=key or None)
        return _asked(settings, choice.model, token)


def _asked(settings: ServerSettings, model: str, token: CancelToken) -> str:
    # imported late: the client is slow to import, and choices are read on the GUI thread
    from spatialstudio.adapters.chat.client import ChatClient, ChatQuestion, ServerFailure

    started = monotonic()
    try:
        ChatClient(settings).ask(ChatQuestion(instruction=INSTRUCTION, text=QUESTION), token)
    except ServerFailure as failure:
        raise SettingsError(
            f"The language model at {settings.host} {failure.reason}.",
            hint="Check the address, model and API key, and that the server is running.",
        ) from failure
    return f'"{model}" at {settings.host} answers in {monotonic() - started:.1f} s.'


def _check_address(url: str) -> None:
    if not is_address(url):
        raise SettingsError(
            "The server address is invalid.",
            hint='Use the form "http://127.0.0.1:11434/v1", without user name or password.',
        )
