"""Commands that are stopped by a signal, each in a separate process."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from spatialstudio.application.paths import HOME_VARIABLE

ROOT = Path(__file__).resolve().parents[2]
PROMPT = "a dog to the left of a car"
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]

STOPPED_IN_AN_IMPORT = """
import signal, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            signal.raise_signal({number})
sys.meta_path.insert(0, Interrupting())
sys.argv = ["spatialstudio", *{words!r}]
from spatialstudio.__main__ import main
sys.exit(main())
"""
STOPPED_IN_A_CALL = """
import signal, sys, threading
from {module} import {name} as owner
def interrupted(*_, **__):
    signal.raise_signal({number})
    threading.Event().wait()
owner.{method} = interrupted
sys.argv = ["spatialstudio", *{words!r}]
from spatialstudio.__main__ import main
sys.exit(main())
"""
WITHOUT_JUDGES = """
from spatialstudio.application.studio import Studio
Studio.check_judges = lambda *_: None
"""
WITHOUT_TOKENS = """
from spatialstudio.application.engine.worker import Worker
Worker.answer = lambda *_: None
"""
"""Checking the judges and reading the tokens import torch, before a later call is stopped."""
STOPPED_WHILE_WRITING = """
import signal, sys, threading
from spatialstudio.adapters import durable_files
from spatialstudio.application.evaluate.judging import Judging
write, write_prompts = durable_files.write_synced, Judging.write_prompts
def interrupted(path, content):
    signal.raise_signal(signal.SIGINT)
    threading.Event().wait(0.2)
    write(path, content)
def then_wait(*arguments, **options):
    write_prompts(*arguments, **options)
    threading.Event().wait()
durable_files.write_synced = interrupted
Judging.write_prompts = then_wait
sys.argv = ["spatialstudio", *{words!r}]
from spatialstudio.__main__ import main
sys.exit(main())
"""


@pytest.fixture
def out(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


@pytest.fixture
def ended(tmp_path):
    """Run a program to its end in an empty home."""
    environment = {**os.environ, HOME_VARIABLE: str(tmp_path / "home"), "PYTHONPATH": str(ROOT)}

    def run(code):
        return subprocess.run(
            [sys.executable, "-P", "-c", code],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def is_stopped(done, number=signal.SIGINT):
    return done.returncode == 128 + number and done.stderr.endswith("Stopped.\n")


@pytest.mark.parametrize(
    ("module", "number"),
    list(zip(["spatialstudio.cli.commands", "numpy", "lark"], SIGNALS, strict=True)),
    ids=["commands", "numpy", "lark"],
)
def test_a_signal_during_an_import_stops_the_command(ended, module, number):
    done = ended(
        STOPPED_IN_AN_IMPORT.format(module=module, number=int(number), words=["parse", PROMPT])
    )
    assert is_stopped(done, number), done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("module", "name", "method"),
    [
        ("spatialstudio.application.engine.worker", "Worker", "run"),
        ("spatialstudio.application.engine.worker", "Worker", "answer"),
        ("spatialstudio.application.studio", "Studio", "parse_for_model"),
    ],
)
def test_a_signal_during_a_long_call_stops_drawing(ended, tmp_path, out, module, name, method):
    words = ["generate", PROMPT, "--out", str(out)]
    program = STOPPED_IN_A_CALL.format(
        module=module, name=name, method=method, words=words, number=int(signal.SIGINT)
    )
    done = ended(WITHOUT_JUDGES + (WITHOUT_TOKENS if method == "run" else "") + program)
    assert is_stopped(done), done.stderr
    assert list(out.iterdir()) == []
    assert list((tmp_path / "home").rglob("queue/*")) == []  # the request is not offered again


def test_a_signal_during_a_sweep_says_that_it_continues(ended, out):
    words = ["sweep", PROMPT, "--seeds", "0-2", "--out", str(out)]
    program = STOPPED_IN_A_CALL.format(
        module="spatialstudio.application.engine.worker",
        name="Worker",
        method="run",
        words=words,
        number=int(signal.SIGINT),
    )
    done = ended(WITHOUT_JUDGES + WITHOUT_TOKENS + program)
    assert done.returncode == 130, done.stderr
    last = "Stopped after 0 of 3 pictures; the same command continues."
    assert done.stderr.splitlines()[-1] == last


@pytest.mark.parametrize("command", ["evaluate", "judge-records", "corruption-study"])
def test_a_signal_during_a_long_call_stops_judging(ended, tmp_path, out, command):
    picture = tmp_path / "picture.png"
    picture.touch()
    words = {
        "evaluate": ["evaluate", str(picture), "--prompt", PROMPT, "--out", f"{out}/rows"],
        "judge-records": ["judge-records", str(tmp_path), "--out", str(out)],
        "corruption-study": ["corruption-study", str(picture)],
    }[command]
    module, name, method = {
        "evaluate": ("spatialstudio.application.evaluate.judging", "Judging", "pictures"),
        "judge-records": ("spatialstudio.application.evaluate.judging", "Judging", "records"),
        "corruption-study": ("spatialstudio.application.studio", "Studio", "read_run"),
    }[command]
    done = ended(
        STOPPED_IN_A_CALL.format(
            module=module, name=name, method=method, words=words, number=int(signal.SIGTERM)
        )
    )
    assert is_stopped(done, signal.SIGTERM), done.stderr
    assert list(out.iterdir()) == []


def test_a_file_that_is_being_written_is_finished_first(ended, out):
    words = ["benchmark-prompts", "--out", str(out / "prompts.jsonl")]
    done = ended(STOPPED_WHILE_WRITING.format(words=words))
    assert is_stopped(done), done.stderr
    (written,) = out.iterdir()
    assert written.name == "prompts.jsonl"
    assert written.read_text().endswith("}\n")


def test_rows_are_never_cut(ended, tmp_path):
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text(f'{{"id": 1, "prompt": "{PROMPT}"}}\n' * 50)
    code = """
from spatialstudio.application.studio import Studio
import signal, sys, threading
parse, count = Studio.parse_prompt, iter(range(100))
def interrupted(*arguments):
    number = next(count)
    if number == 30:
        signal.raise_signal(signal.SIGINT)
    if number == 40:
        threading.Event().wait()
    return parse(*arguments)
Studio.parse_prompt = interrupted
"""
    words = ["parse", "--file", str(prompts)]
    program = STOPPED_IN_AN_IMPORT.format(module=None, number=2, words=words)
    done = ended(code + program)
    assert is_stopped(done), done.stderr
    assert done.stdout.endswith("}\n")
    assert 30 <= len(done.stdout.splitlines()) <= 40
