import subprocess
import sys

import keyring
import pytest

from spatialstudio.adapters.chat.server import (
    KEY_VARIABLE,
    MODEL_VARIABLE,
    SERVER_VARIABLE,
    SETTINGS_FILE,
    read_presets,
    settings_of_user,
)
from spatialstudio.adapters.chat.server_choice import UserServerChoices
from spatialstudio.application.paths import resources_folder
from spatialstudio.domain.errors import Cancelled, SettingsError
from spatialstudio.domain.servers import ServerChoice
from tests.adapters.keyrings import LockedKeyring, MemoryKeyring
from tests.adapters.loopback import LoopbackServer, drips, says, sends
from tests.fakes import CountingToken

PRESETS = read_presets(resources_folder() / "prompts" / "servers.toml")
SECRET = "sk-very-secret"
URL = "http://127.0.0.1:9/v1"
CHOICE = ServerChoice(url=URL, model="small")


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch):
    for name in (SERVER_VARIABLE, MODEL_VARIABLE, KEY_VARIABLE):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def use_keyring():
    """Make another keyring the system's; the one before comes back."""
    before = keyring.get_keyring()
    yield keyring.set_keyring
    keyring.set_keyring(before)


@pytest.fixture
def memory(use_keyring):
    memory = MemoryKeyring()
    use_keyring(memory)
    return memory


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "settings"


@pytest.fixture
def choices(folder, memory):
    return UserServerChoices(PRESETS, folder)


def test_the_usual_servers_are_listed(choices):
    titles = [preset.title for preset in choices.presets.values()]
    assert titles == ["OpenAI", "Ollama", "llama.cpp", "vLLM", "LM Studio"]


def test_nothing_is_chosen_at_first(choices):
    assert choices.choice() == ServerChoice()
    assert not choices.choice().is_complete


def test_a_choice_is_stored_and_used_with_its_key(choices, folder):
    choices.keep(CHOICE, SECRET)
    assert UserServerChoices(PRESETS, folder).choice() == CHOICE
    settings = settings_of_user(PRESETS, folder)
    assert (settings.url, settings.model, settings.key) == (URL, "small", SECRET)


def test_the_key_is_in_no_file(choices, folder):
    choices.keep(CHOICE, SECRET)
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files == [folder / SETTINGS_FILE]
    assert not any(SECRET.encode() in path.read_bytes() for path in files)


def test_a_key_can_be_kept_and_deleted(choices):
    choices.keep(CHOICE, SECRET)
    choices.keep(CHOICE, None)
    assert choices.has_key(URL)
    choices.keep(CHOICE, "")
    assert not choices.has_key(URL)
    choices.keep(CHOICE, "")


def test_the_server_can_be_deselected(choices, folder):
    choices.keep(CHOICE, None)
    choices.keep(ServerChoice(), None)
    assert settings_of_user(PRESETS, folder) is None


def test_the_environment_takes_precedence(choices, monkeypatch):
    choices.keep(CHOICE, SECRET)
    monkeypatch.setenv(SERVER_VARIABLE, "ollama")
    monkeypatch.setenv(KEY_VARIABLE, "other")
    assert choices.choice() == ServerChoice(url=PRESETS["ollama"].url, model="small")
    assert choices.overriding == (SERVER_VARIABLE, KEY_VARIABLE)
    assert settings_of_user(PRESETS, None) is None


def test_consent_to_plain_http_is_stored_for_one_address_only(choices, monkeypatch):
    allowed = ServerChoice(url="http://10.0.0.1/v1", model="small", allows_plain_http=True)
    choices.keep(allowed, None)
    assert choices.choice() == allowed
    monkeypatch.setenv(SERVER_VARIABLE, "http://10.0.0.2/v1")
    assert not choices.choice().allows_plain_http


@pytest.mark.parametrize("content", ["", "server = [", "server = 1\nmodel = true", "\xff"])
def test_a_damaged_file_selects_no_server(choices, folder, content):
    folder.mkdir()
    (folder / SETTINGS_FILE).write_bytes(content.encode("latin-1"))
    assert choices.choice() == ServerChoice()


@pytest.mark.parametrize(
    "url", ["llama", "file:///etc/passwd", "http://", "http://me:secret@127.0.0.1/v1"]
)
def test_an_invalid_address_is_rejected(choices, folder, url):
    with pytest.raises(SettingsError, match="address"):
        choices.keep(ServerChoice(url=url, model="small"), None)
    assert not folder.exists()


def test_without_a_keyring_the_environment_is_named(folder, use_keyring):
    use_keyring(LockedKeyring())
    choices = UserServerChoices(PRESETS, folder)
    assert not choices.has_key(URL)
    with pytest.raises(SettingsError) as caught:
        choices.keep(CHOICE, SECRET)
    assert KEY_VARIABLE in caught.value.hint
    assert choices.choice() == CHOICE


def test_without_the_library_there_is_no_key(choices, monkeypatch):
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert not choices.has_key(URL)


def test_a_server_that_answers_works(choices):
    with LoopbackServer(says("ready")) as server:
        said = choices.try_out(ServerChoice(url=server.url, model="small"), SECRET, CountingToken())
    assert said.startswith('"small" at 127.0.0.1 answers in')
    assert server.keys == [f"Bearer {SECRET}"]


def test_a_server_is_tested_with_the_stored_key(choices):
    with LoopbackServer(says("ready")) as server:
        choice = ServerChoice(url=server.url, model="small")
        choices.keep(choice, SECRET)
        choices.try_out(choice, None, CountingToken())
    assert server.keys == [f"Bearer {SECRET}"]


def test_a_rejecting_server_is_reported_without_the_key(choices):
    with LoopbackServer(sends(f"wrong key {SECRET}".encode(), 401)) as server:
        choice = ServerChoice(url=server.url, model="small")
        with pytest.raises(SettingsError) as caught:
            choices.try_out(choice, SECRET, CountingToken())
    assert "rejected the API key" in caught.value.message
    assert SECRET not in f"{caught.value.message} {caught.value.hint}"


def test_a_test_can_be_stopped(choices):
    with LoopbackServer(drips) as server:
        choice = ServerChoice(url=server.url, model="small")
        with pytest.raises(Cancelled):
            choices.try_out(choice, None, CountingToken(2))


def test_a_model_must_be_named(choices):
    with pytest.raises(SettingsError, match="model name is empty"):
        choices.try_out(ServerChoice(url=URL), None, CountingToken())


def test_a_choice_is_read_without_importing_the_client():
    script = (
        "import sys;"
        "from spatialstudio.adapters.chat.server_choice import UserServerChoices;"
        "UserServerChoices({}, None).choice(); print('openai' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert said.stdout.decode().strip() == "False"
