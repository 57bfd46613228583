"""Drafts and queued requests survive a program, however it ends."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spatialstudio.adapters.storage.stores.state_files import PlainStateFiles
from spatialstudio.domain.devices import Saving
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.generation import (
    PSG,
    GenerationRequest,
    GuidanceSettings,
    ModelRef,
    PlaceTarget,
    SamplingSettings,
)
from spatialstudio.domain.judge_choice import Candidates, JudgeSetCard, JudgeTask
from spatialstudio.domain.run_settings import (
    Draft,
    Preset,
    RunSettings,
    SeedMode,
    SketchedPlaces,
)
from tests.fakes import scene_of
from tests.strategies import requests

SETTINGS = RunSettings(
    model_id="m",
    width=512,
    height=768,
    sampling=SamplingSettings(
        steps=25,
        seed=3,
        guidance=GuidanceSettings(method_id=PSG, strength=20, last_step=24, goal=0.95),
    ),
    seed_mode=SeedMode.INCREMENT,
    preset=Preset.PUBLISHED,
)

ASK_AND_WAIT = """
import sys
from pathlib import Path
from spatialstudio.adapters.storage.stores.state_files import PlainStateFiles
from spatialstudio.domain.generation import GenerationRequest, ModelRef, SamplingSettings
from spatialstudio.domain.scene import Prompt
from spatialstudio.domain.scene import SceneGraph

scene = SceneGraph(prompt=Prompt(text="a cat"), mentions=(), relations=(), extractor_id="e")
journal = PlainStateFiles().open_journal(Path(sys.argv[1]))
for number in range(10):
    request = GenerationRequest(
        id=str(number), scene=scene, backend_id="b", model=ModelRef(id="m"),
        sampling=SamplingSettings(seed=number))
    journal.note(request)
journal.end("3")
print("asked", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def journal(tmp_path):
    journal = PlainStateFiles().open_journal(tmp_path)
    yield journal
    journal.close()


def ended_suddenly(journal):
    """Let a journal's program end without a word."""
    journal._file.close()
    journal._file = None


@pytest.fixture
def program(tmp_path):
    command = [sys.executable, "-c", ASK_AND_WAIT, str(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, text=True) as program:
        assert program.stdout.readline() == "asked\n"
        yield program
        program.kill()


def test_a_queue_of_ten_is_listed_after_its_program_was_killed(program, journal):
    assert journal.interrupted() == ()
    os.kill(program.pid, signal.SIGKILL)
    program.wait()
    asked = journal.interrupted()
    assert [request.sampling.seed for request in asked] == [0, 1, 2, 4, 5, 6, 7, 8, 9]
    journal.forget([request.id for request in asked[:4]])
    assert [request.sampling.seed for request in journal.interrupted()] == [5, 6, 7, 8, 9]
    journal.forget([request.id for request in asked])
    assert journal.interrupted() == ()


@given(asked=st.lists(requests, max_size=3, unique_by=lambda request: request.id))
@settings(
    max_examples=settings.default.max_examples // 4,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_every_request_is_read_back_unchanged(tmp_path_factory, asked):
    folder = tmp_path_factory.mktemp("queue")
    journal = PlainStateFiles().open_journal(folder)
    for request in asked:
        journal.note(request)
    ended_suddenly(journal) if asked else journal.close()
    assert repr(PlainStateFiles().open_journal(folder).interrupted()) == repr(tuple(asked))


def test_a_truncated_last_line_is_ignored(tmp_path, journal, request_):
    other = PlainStateFiles().open_journal(tmp_path)
    other.note(request_)
    other.note(replace(request_, id="x2"))
    ended_suddenly(other)
    (path,) = tmp_path.glob("*.journal")
    os.truncate(path, path.stat().st_size - 9)
    assert journal.interrupted() == (request_,)


def test_a_finished_queue_leaves_no_file(tmp_path, request_):
    journal = PlainStateFiles().open_journal(tmp_path)
    journal.note(request_)
    journal.end(request_.id)
    journal.close()
    assert list(tmp_path.iterdir()) == []


def test_waiting_runs_are_listed_after_a_restart(tmp_path, journal, request_):
    other = PlainStateFiles().open_journal(tmp_path)
    other.note(request_)
    other.close()
    assert journal.interrupted() == (request_,)


def test_a_draft_is_read_back_unchanged(tmp_path):
    target = PlaceTarget(mention_id="m1", x=0.25, y=0.5, size=0.3)
    places = SketchedPlaces(targets=(target,), weight=0.5)
    draft = Draft(prompt="a 猫\n", model_id="m", settings=SETTINGS, places=places)
    PlainStateFiles().write(tmp_path / "new" / "draft.json", draft)
    assert PlainStateFiles().read_draft(tmp_path / "new" / "draft.json") == draft


def test_settings_are_read_back_unchanged(tmp_path):
    path = tmp_path / "presets" / "mine.json"
    PlainStateFiles().write(path, SETTINGS)
    assert PlainStateFiles().read_settings(path) == SETTINGS


STORED = Path(__file__).parents[3] / "golden" / "state_files_of_november_2026"
STORED_SAMPLING = SamplingSettings(
    seed=7,
    steps=30,
    scheduler_id="EulerDiscreteScheduler",
    guidance=GuidanceSettings(
        method_id=PSG, strength=20.0, last_step=24, goal=0.95, options={"paper_loss": False}
    ),
    savings=(Saving.TILING,),
    device="cuda:1",
    dtype="bfloat16",
)


def test_settings_and_drafts_of_before_the_shared_value_are_read():
    settings = PlainStateFiles().read_settings(STORED / "settings.json")
    assert settings.sampling == STORED_SAMPLING
    assert PlainStateFiles().read_draft(STORED / "draft.json").settings == settings


def test_a_queue_of_before_the_shared_value_is_read(tmp_path, journal):
    shutil.copy(STORED / "queue.journal", tmp_path / "1-a.journal")
    (request,) = journal.interrupted()
    assert request.sampling == STORED_SAMPLING


def test_settings_are_written_with_the_same_names_as_before(tmp_path):
    PlainStateFiles().write(
        tmp_path / "settings.json", PlainStateFiles().read_settings(STORED / "settings.json")
    )
    before, after = (
        json.loads((folder / "settings.json").read_bytes()) for folder in (STORED, tmp_path)
    )
    before.pop("guidance")
    after.pop("guidance")
    assert after == before


@pytest.mark.parametrize("content", [None, b"", b"[]", b'{"steps": 3}', b"\xff"])
def test_a_file_without_settings_is_rejected(tmp_path, content):
    path = tmp_path / "mine.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(StoreError):
        PlainStateFiles().read_settings(path)


@pytest.mark.parametrize("content", [b"", b"[]", b'{"prompt": 3}', b"\xff"])
def test_an_unreadable_draft_is_ignored(tmp_path, content):
    (tmp_path / "draft.json").write_bytes(content)
    assert PlainStateFiles().read_draft(tmp_path / "draft.json") is None


def test_texts_are_stored_by_name(tmp_path):
    PlainStateFiles().write(tmp_path / "searches.json", {"mine": "cat"})
    assert PlainStateFiles().read_texts(tmp_path / "searches.json") == {"mine": "cat"}
    assert PlainStateFiles().read_texts(tmp_path / "none.json") == {}


@pytest.mark.parametrize("content", ["", "[]", '{"folder": 3}'])
def test_a_damaged_file_holds_no_texts(tmp_path, content):
    path = tmp_path / "library.json"
    path.write_text(content)
    assert PlainStateFiles().read_texts(path) == {}


class FullDisk:
    """A journal's file on a disk that takes a few bytes of each line."""

    def __init__(self, file, room):
        self._file, self._room = file, room

    def write(self, line):
        if self._room < len(line):
            written = self._file.write(line[: self._room])
            self._room = 0
            if written:
                return written
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._room -= len(line)
        return self._file.write(line)

    def __getattr__(self, name):
        return getattr(self._file, name)


def test_a_full_disk_truncates_no_line_and_closing_does_not_raise(tmp_path):
    asked = [
        GenerationRequest(id=name, scene=scene_of(), backend_id="b", model=ModelRef(id="m"))
        for name in ("first", "second", "third")
    ]
    journal = PlainStateFiles().open_journal(tmp_path)
    journal.note(asked[0])
    file = journal._file
    journal._file = FullDisk(file, room=10)
    with pytest.raises(StoreError, match="is full"):
        journal.note(asked[1])
    journal._file = file
    journal.note(asked[2])
    ended_suddenly(journal)
    later = PlainStateFiles().open_journal(journal._folder)
    assert [request.id for request in later.interrupted()] == [asked[0].id, asked[2].id]


def test_a_journal_behind_a_link_is_not_written(tmp_path):
    outside = tmp_path / "outside"
    outside.write_bytes(b"")
    (tmp_path / "queue").mkdir()
    (tmp_path / "queue" / "1.journal").symlink_to(outside)
    journal = PlainStateFiles().open_journal(tmp_path / "queue")
    assert journal.interrupted() == ()
    journal.forget(["x"])
    journal.close()
    assert outside.read_bytes() == b""
    assert (tmp_path / "queue" / "1.journal").is_symlink()


TASKS = {JudgeTask.DETECTOR: Candidates(models=("org/owl", "org/dino"))}
MINE = JudgeSetCard(id="mine", label="mine", tasks=TASKS, cut=0.3)
INVALID_SETS = {
    "list": [],
    "task": {"painter": ["a"]},
    "model": {"detector": [7]},
    "empty": {"detector": [""]},
    "text": {"detector": "org/owl"},
    "large": {"detector": ["org/owl"], "cut": 1.5},
    "infinite": {"detector": ["org/owl"], "cut": "nan"},
    "truth": {"detector": ["org/owl"], "cut": True},
}


def test_judge_sets_are_read_back_and_invalid_ones_have_a_fault(tmp_path):
    path, state = tmp_path / "judge_sets.json", PlainStateFiles()
    state.write_judge_set(path, "mine", MINE)
    assert state.read_judge_sets(path) == (MINE,)
    unnamed = {"": {}, " ": {}, "a\nb": {}, "x" * 61: {}}
    path.write_text(json.dumps(unnamed | json.loads(path.read_text()) | INVALID_SETS))
    mine, *others = state.read_judge_sets(path)
    assert mine == MINE
    assert [each.id for each in others if each.fault] == list(INVALID_SETS)
    faults = {each.id: each.fault for each in others}
    assert faults["task"].startswith('"painter" is not one of detector, second_detector, ')
    assert faults["large"] == '"cut" must be a number from 0 to 1'
    assert faults["text"] == '"detector" must be a list of model names'


def test_writing_a_judge_set_leaves_others_and_damaged_files_as_they_are(tmp_path):
    path, state = tmp_path / "judge_sets.json", PlainStateFiles()
    path.write_text(json.dumps(INVALID_SETS))
    state.write_judge_set(path, "mine", MINE)
    state.write_judge_set(path, "list", None)
    stored = json.loads(path.read_text())
    assert stored.pop("mine") == {"detector": ["org/owl", "org/dino"], "cut": 0.3}
    assert stored == {name: each for name, each in INVALID_SETS.items() if name != "list"}
    path.write_text("{")
    with pytest.raises(StoreError, match=r"judge_sets\.json in the settings folder is damaged"):
        state.write_judge_set(path, "mine", MINE)
    assert path.read_text() == "{"


@pytest.mark.parametrize("text", ["", "[]", "7", "{", '{"a": ' * 5000])
def test_a_damaged_file_of_judge_sets_is_no_judge_set(tmp_path, text):
    path = tmp_path / "judge_sets.json"
    path.write_text(text)
    assert PlainStateFiles().read_judge_sets(path) == ()
    assert PlainStateFiles().read_judge_sets(tmp_path / "none.json") == ()
