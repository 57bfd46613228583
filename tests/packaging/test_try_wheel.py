"""The trial of the wheel notices a program that fails, or that does not judge."""

import importlib.util
import sys
from pathlib import Path

import pytest

PACKAGING = Path(__file__).parents[2] / "packaging"
RELATION = "dog to the left of car"


def load(name):
    spec = importlib.util.spec_from_file_location(name, PACKAGING / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def trial(monkeypatch):
    monkeypatch.setitem(sys.modules, "bootstrap", load("bootstrap"))
    return load("try_wheel")


@pytest.fixture
def installed(trial, tmp_path):
    """A program that is not there, in an environment whose interpreter is that of the tests."""
    programs = trial.bootstrap.venv_python(tmp_path / "environment")
    programs.parent.mkdir(parents=True)
    programs.symlink_to(sys.executable)
    (tmp_path / "elsewhere").mkdir()
    return trial.Installed(tmp_path)


@pytest.mark.parametrize(
    "answer",
    [{}, {"verdicts": []}, {"verdicts": None}, {"verdicts": [{"relation": "car above dog"}]}],
    ids=["no verdicts", "none", "null", "another"],
)
def test_a_picture_that_is_not_judged_ends_the_trial(trial, answer):
    with pytest.raises(trial.TrialError, match="not judged"):
        trial.check_verdict(answer)


def test_a_picture_in_evaluation_is_not_restarted(trial):
    trial.check_verdict({"verdicts": [{"relation": RELATION, "outcome": "FAIL"}]})


def test_a_command_that_fails_ends_the_trial_with_its_last_lines(trial, installed):
    with pytest.raises(trial.TrialError, match="broken\nThe exit code is 3"):
        installed.run("-c", "print('broken'); raise SystemExit(3)")


def test_commands_know_nothing_of_the_developer(trial, installed, tmp_path, monkeypatch):
    for name in ("PYTHONPATH", "SPATIAL_STUDIO_HOME", "XDG_DATA_HOME", "DISPLAY"):
        monkeypatch.setenv(name, "mine")
    show = "import os; print(os.environ['HOME'], 'mine' in os.environ.values(), os.getcwd())"
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    assert installed.run("-c", show).strip() == f"{home} False {elsewhere}"
