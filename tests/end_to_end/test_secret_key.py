"""The key of the language model is sent to its server and written nowhere."""

import logging

import keyring
import pytest

from spatialstudio.adapters.chat.server import KEY_VARIABLE, MODEL_VARIABLE, SERVER_VARIABLE
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.compose.language_model import ServerKept
from spatialstudio.application.error_reports import report_on
from spatialstudio.application.session import RunStored
from spatialstudio.domain.servers import ServerChoice
from tests.adapters.keyrings import MemoryKeyring
from tests.adapters.loopback import LoopbackServer, sends

SECRET = "sk-written-nowhere-0123456789"
PROMPT = "a photo of a dog to the left of a car"
STEPS = 1


@pytest.fixture(params=["keyring", "environment"])
def place(request, monkeypatch):
    """Where the key is; the system's own keyring is left alone."""
    for name in (SERVER_VARIABLE, MODEL_VARIABLE, KEY_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    if request.param == "environment":
        monkeypatch.setenv(KEY_VARIABLE, SECRET)
    before = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    yield request.param
    keyring.set_keyring(before)


@pytest.fixture
def server():
    """A server that refuses the key, and says it aloud."""
    with LoopbackServer(sends(f'{{"error": "wrong key {SECRET}"}}'.encode(), 401)) as server:
        yield server


@pytest.fixture
def pronounced(studio):
    """All that the studio says during a test."""
    pronounced = []
    unsubscribe = studio.bus.subscribe(pronounced.append)
    yield pronounced
    unsubscribe()


@pytest.fixture
def scene(studio, server, place, pronounced):
    """A prompt, read after the server was chosen, its key kept, and asked."""
    choice = ServerChoice(url=server.url, model="small")
    studio.language_model.keep(choice, SECRET if place == "keyring" else None)
    studio.language_model.wait()
    studio.language_model.try_out(choice, None)
    studio.language_model.wait()
    assert ServerKept() in pronounced
    return studio.parse_prompt(PROMPT, "llm")


def draw(studio, scene):
    studio.use_scene(scene)
    studio.generate(studio.new_request(seed=1, steps=STEPS))


def crash(scene):
    """Report what a fault of the program would report that holds the scene in its hands."""
    try:
        scene.mention("nobody")
    except KeyError as error:
        return report_on(error, "Parsing the prompt")


def test_the_key_is_in_no_file_log_trace_or_report(studio, server, scene, pronounced, home, caplog):
    caplog.set_level(logging.DEBUG)
    draw(studio, studio.parse_for_model(scene.prompt.text))
    assert set(server.keys) == {f"Bearer {SECRET}"}
    files = [path for path in home.rglob("*") if path.is_file()]
    assert {"language_model.toml"} < {path.name for path in files}
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []
    (path,) = [event.path for event in pronounced if isinstance(event, RunStored)]
    told = [*RunFiles().load(path), scene, crash(scene), *pronounced]
    assert [each for each in told if SECRET in repr(each)] == []
    assert SECRET not in caplog.text
