"""An interrupted write is undone before the picture exists, and completed afterwards."""

import os

import pytest

from spatialstudio.adapters.storage.stores.atomic_write import (
    STALE_S,
    recover,
    write_run_files,
)
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.storage.run_writer import store_run

FILES = {".strace": b"trace", ".json": b"{}", ".png": b"picture"}


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def make_older(path, seconds):
    moment = path.stat().st_mtime - seconds
    os.utime(path, (moment, moment))


def test_all_files_of_a_run_appear_together(tmp_path):
    assert write_run_files(tmp_path, "run", FILES) == tmp_path / "run.png"
    assert names(tmp_path) == ["run.json", "run.png", "run.strace"]


def test_a_name_reserved_by_another_program_is_taken(tmp_path):
    (tmp_path / ".run.png.part").touch()
    assert write_run_files(tmp_path, "run", FILES) == tmp_path / "run_2.png"


def test_a_run_interrupted_after_its_picture_is_completed_by_its_reader(tmp_path, request_, events):
    picture = store_run(request_, events, None, RunFiles(), tmp_path)
    for ending in (".strace", ".json"):
        path = picture.with_suffix(ending)
        path.rename(tmp_path / f".{path.name}.part")
    assert len(RunFiles().load(picture)[1]) == len(events)
    assert names(tmp_path) == sorted(f"{picture.stem}{end}" for end in FILES)


@pytest.mark.parametrize(("age_s", "left"), [(STALE_S + 1, 0), (0, 3)], ids=["old", "fresh"])
def test_a_run_interrupted_before_its_picture_is_removed_when_unlocked(tmp_path, age_s, left):
    for ending in FILES:
        part = tmp_path / f".run{ending}.part"
        part.touch()
        make_older(part, age_s)
    recover(tmp_path)
    assert len(names(tmp_path)) == left


def test_existing_files_are_never_overwritten(tmp_path):
    write_run_files(tmp_path, "run", FILES)
    (tmp_path / ".run.json.part").write_bytes(b"late")
    recover(tmp_path)
    assert (tmp_path / "run.json").read_bytes() == b"{}"
    assert names(tmp_path) == ["run.json", "run.png", "run.strace"]
