import pytest

from spatialstudio.adapters.server import (
    KEY_VARIABLE,
    MODEL_VARIABLE,
    SERVER_VARIABLE,
    read_presets,
    settings_of_user,
)
from spatialstudio.application.paths import resources_folder

PRESETS = read_presets(resources_folder() / "prompts" / "servers.toml")


@pytest.fixture
def user(monkeypatch):
    """Choose a server as a user does."""

    def choose(server="", model="", key=""):
        monkeypatch.setenv(SERVER_VARIABLE, server)
        monkeypatch.setenv(MODEL_VARIABLE, model)
        monkeypatch.setenv(KEY_VARIABLE, key)
        return settings_of_user(PRESETS)

    return choose


@pytest.mark.parametrize(("server", "model"), [("", ""), ("ollama", ""), ("", "llama3")])
def test_without_server_and_model_nobody_is_asked(user, server, model):
    assert user(server, model) is None


@pytest.mark.parametrize(
    ("server", "host", "is_local"),
    [
        ("ollama", "127.0.0.1", True),
        ("openai", "api.openai.com", False),
        ("http://localhost:9/v1", "localhost", True),
        ("https://models.example.org/v1", "models.example.org", False),
    ],
)
def test_a_server_is_chosen_by_name_or_address(user, server, host, is_local):
    settings = user(server, "m", "sk-1")
    assert (settings.host, settings.is_local, settings.key) == (host, is_local, "sk-1")
    assert "sk-1" not in repr(settings)


def test_without_a_key_there_is_none(user):
    assert user("ollama", "m").key is None
