"""A studio whose engine does what the test says."""

import pytest

from tests.ui.scripted_engine import PROMPT, ScriptedEngine, studio_around


@pytest.fixture
def engine():
    return ScriptedEngine()


@pytest.fixture
def opened(tmp_path):
    """Start one more program of the same user; all are closed at the end."""
    started = []

    def start(engine):
        studio = studio_around(engine, tmp_path)
        studio.bus.subscribe(studio.apply_event)
        studio.start()
        studio.use_prompt(PROMPT)
        started.append(studio)
        return studio

    yield start
    for studio in started:
        studio.close()


@pytest.fixture
def studio(opened, engine):
    """A started studio with a prompt."""
    return opened(engine)
