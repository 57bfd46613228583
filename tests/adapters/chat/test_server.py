import pytest

from spatialstudio.adapters.chat.client import ChatClient, ChatQuestion, ServerFailure
from spatialstudio.adapters.chat.server import (
    CALLS_VARIABLE,
    KEY_VARIABLE,
    MODEL_VARIABLE,
    SERVER_VARIABLE,
    is_address,
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
def test_without_server_and_model_no_server_is_configured(user, server, model):
    assert user(server, model) is None


@pytest.mark.parametrize(
    ("server", "host", "is_local"),
    [
        ("ollama", "127.0.0.1", True),
        (" Ollama ", "127.0.0.1", True),
        ("openai", "api.openai.com", False),
        ("http://localhost:9/v1", "localhost", True),
        ("https://models.example.org/v1", "models.example.org", False),
        ("http://[::1", "http://[::1", False),
    ],
)
def test_a_server_is_chosen_by_name_or_address(user, server, host, is_local):
    settings = user(server, "m", "sk-1")
    assert (settings.host, settings.is_local, settings.key) == (host, is_local, "sk-1")
    assert "sk-1" not in repr(settings)


def test_without_a_key_there_is_none(user):
    assert user("ollama", "m").key is None


@pytest.mark.parametrize(
    ("url", "is_usable"),
    [
        ("http://127.0.0.1:11434/v1", True),
        ("https://models.example.org/v1", True),
        ("olama", False),
        ("127.0.0.1:11434", False),
        ("ftp://models.example.org", False),
        ("http://", False),
        ("http://[::1", False),
        ("http://host:notaport/v1", False),
        ("http://user:secret@host/v1", False),
    ],
)
def test_an_address_is_validated(url, is_usable):
    assert is_address(url) is is_usable


def test_an_unknown_name_lists_the_known_ones(user):
    with pytest.raises(ServerFailure, match="known server names are openai, ollama, llamacpp"):
        ChatClient(user("olama", "m")).ask(ChatQuestion(instruction="", text=""))


@pytest.mark.parametrize(
    ("text", "most"),
    [("", 30), ("120", 120), ("0", 30), ("-4", 30), ("9" * 5000, 30), ("٣", 30), ("1e3", 30)],
    ids=["unset", "set", "none", "negative", "endless", "foreign", "power"],
)
def test_the_rate_limit_is_that_of_the_user_if_it_is_a_number_in_range(
    user, monkeypatch, text, most
):
    monkeypatch.setenv(CALLS_VARIABLE, text)
    assert user("ollama", "llama3").calls_a_minute == most
