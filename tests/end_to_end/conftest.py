"""A studio with the embedded models and a temporary home, and a terminal with the same home."""

import os
import subprocess
import sys
from dataclasses import dataclass

import pytest

from spatialstudio.application.paths import HOME_VARIABLE, StudioPaths
from spatialstudio.application.studio import Studio
from spatialstudio.cli import commands


@dataclass(frozen=True)
class Finished:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """The folder of all user data."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def studio(home):
    """An open studio, whose models stay loaded between jobs."""
    studio = Studio.open("inline", StudioPaths.within(home))
    studio.bus.subscribe(studio.session.apply_event)
    studio.start()
    yield studio
    studio.close()


@pytest.fixture
def terminal(capsys, monkeypatch, home):
    """Run a command in this process."""
    monkeypatch.setenv(HOME_VARIABLE, str(home))

    def run(*words):
        capsys.readouterr()
        code = commands.run([str(word) for word in words])
        written = capsys.readouterr()
        return Finished(code, written.out, written.err)

    return run


@pytest.fixture
def shell(home, tmp_path):
    """Run a command in a separate process, from a folder outside the project."""
    environment = {**os.environ, HOME_VARIABLE: str(home)}

    def run(*words):
        command = [sys.executable, "-m", "spatialstudio", *map(str, words)]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        return Finished(done.returncode, done.stdout, done.stderr)

    return run
