"""A current folder full of modules and programs with well-known names: none of them is run."""

import os
import shutil
import sys

import pytest

from tests.security.harness import ROOT, fingerprint, run

MODULES = (
    *("__future__", "json", "lark", "numpy", "pickle", "PIL", "pip", "platform"),
    *("platformdirs", "PySide6", "pyqtgraph", "queue", "site", "socket", "subprocess", "torch"),
    *("threading", "tomllib", "typing", "multiprocessing", "diffusers", "transformers", "venv"),
    *("argparse", "shiboken6", "logging", "random", "safetensors", "dataclasses", "ctypes"),
)
"""Without those that ``python -m`` imports before it looks for the program, such as contextlib."""

PROGRAMS = ("uname", "file", "ldconfig", "gcc", "cc", "apt-get", "lsb_release", "git", "ruff")
WITH_AN_ENGINE = """
import multiprocessing
from spatialstudio.application.studio import Studio
if __name__ == "__main__":
    studio = Studio.open("process")
    studio.start()
    studio.close()
    print("closed")
"""
MAKE_ENVIRONMENT = f"""
import sys
import bootstrap
sys.path.append({str(ROOT)!r})
bootstrap.ensure_environment()
"""


@pytest.fixture
def hostile(tmp_path, pwned):
    """A folder in which each module and each program creates the file ``pwned``."""
    folder = tmp_path / "downloads"
    folder.mkdir()
    attack = f"open({str(pwned)!r}, 'a').write(__name__ + '\\n')\n"
    for name in MODULES:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(attack)
        (folder / name / "__main__.py").write_text(attack)
    for name in PROGRAMS:
        (folder / name).write_text(f"#!/bin/sh\necho {name} >> '{pwned}'\n")
        (folder / name).chmod(0o755)
    before = fingerprint(folder)
    yield folder
    assert fingerprint(folder) == before


@pytest.fixture
def started_in(hostile, tmp_path, monkeypatch):
    """Start Python in that folder as a user would, with a PATH that names it as an empty entry."""
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)  # bootstrap sets it for the tests
    monkeypatch.setenv("PATH", f":{os.environ['PATH']}:.")

    def start(*arguments):
        return run([sys.executable, *arguments], hostile, tmp_path / "home", 2 * 1024**3, 60)

    return start


def test_the_hostile_folder_runs_code_without_protection(hostile, pwned, started_in):
    started_in("-B", "-c", "import multiprocessing, subprocess")
    assert pwned.read_text().split() == ["multiprocessing", "subprocess"]
    pwned.unlink()


def test_the_program_as_a_module_runs_no_code_of_the_folder(started_in):
    done = started_in("-m", "spatialstudio", "parse", "a cat above a dog")
    assert done.exit_code == 0
    assert "cat above dog" in done.output


def test_the_doctor_runs_no_code_of_the_folder(started_in):
    done = started_in("-m", "spatialstudio", "doctor")
    assert done.exit_code == 0
    assert "! device" not in done.output


def test_the_engine_runs_no_code_of_the_folder(started_in, tmp_path):
    script = tmp_path / "spatialstudio"  # like the script that pip writes
    script.write_text(WITH_AN_ENGINE)
    assert started_in(str(script)).output.strip() == "closed"


@pytest.mark.slow
def test_making_the_environment_runs_no_code_of_the_folder(started_in, tmp_path):
    packaging = tmp_path / "checkout" / "packaging"
    packaging.mkdir(parents=True)
    shutil.copy(ROOT / "packaging" / "bootstrap.py", packaging)
    (packaging / "start.py").write_text(MAKE_ENVIRONMENT)
    assert started_in(str(packaging / "start.py")).exit_code == 0
