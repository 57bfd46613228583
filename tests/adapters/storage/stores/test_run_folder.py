"""Runs of version 1, which were folders, still open."""

import json
import shutil
from pathlib import Path

import pytest

from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.library import Marks

SAMPLE = Path(__file__).parents[3] / "golden" / "run_of_schema_1"
PARTS = ("picture.png", "trace.npz", "evaluation.json", "perception.npz")


@pytest.fixture
def run_folder(tmp_path):
    return shutil.copytree(SAMPLE, tmp_path / "run")


def edit_record(run_folder, **changes):
    path = run_folder / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize("name", ["", "picture.png", "run.json"])
def test_a_run_stored_by_the_first_version_still_opens(run_folder, name):
    record, events = RunFiles().load(run_folder / name)
    assert record.schema_version == 1
    assert len(events) == len(record.trace) + 2
    assert record.evaluation.verdicts[0].relation_id == record.request.scene.relations[0].id
    assert RunFiles().picture_of(run_folder / name) == run_folder / "picture.png"


@pytest.mark.parametrize("name", PARTS)
def test_a_damaged_file_is_detected(run_folder, name):
    content = bytearray((run_folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (run_folder / name).write_bytes(content)
    with pytest.raises(StoreError, match=f'The file "{name}" of the run .* is damaged'):
        RunFiles().load(run_folder)
    assert [fault.part for fault in RunFiles().verify(run_folder)] == ["trace"]


@pytest.mark.parametrize("name", PARTS)
def test_a_missing_file_is_detected(run_folder, name):
    (run_folder / name).unlink()
    with pytest.raises(StoreError, match=f'run is incomplete: ".*{name}" is missing'):
        RunFiles().load(run_folder)


def test_a_newer_format_requests_an_update(run_folder):
    edit_record(run_folder, schema_version=99)
    with pytest.raises(StoreError, match="was written by a newer Spatial Studio"):
        RunFiles().load(run_folder)


def test_a_run_names_no_files_outside_its_folder(run_folder):
    edit_record(
        run_folder, artifacts=[{"kind": "image", "path": "../secret", "sha256": "", "bytes": 1}]
    )
    with pytest.raises(StoreError, match="refers to a file outside its folder"):
        RunFiles().load(run_folder)


def test_a_run_without_a_picture_is_rejected(run_folder):
    edit_record(run_folder, artifacts=[])
    with pytest.raises(StoreError, match="has no picture"):
        RunFiles().load(run_folder)


@pytest.mark.parametrize("content", ["{}", "[]", "no JSON", '{"schema_version": 1}'])
def test_a_stray_file_of_that_name_makes_no_run_of_version_1(picture, content):
    (picture.parent / "run.json").write_text(content)
    assert RunFiles().verify(picture) == ()
    assert RunFiles().picture_of(picture.parent) == picture
    RunFiles().mark(picture, Marks(stars=3))
    assert RunFiles().marks(picture).stars == 3


def test_a_current_run_next_to_one_of_version_1_is_read_as_itself(run_folder, picture):
    for ending in (".png", ".strace", ".json"):
        shutil.copy(picture.with_suffix(ending), run_folder / f"other{ending}")
    assert RunFiles().picture_of(run_folder / "other.png") == run_folder / "other.png"
    assert RunFiles().verify(run_folder / "other.png") == ()


@pytest.mark.parametrize("stem", ["run", "picture"])
def test_a_current_run_may_have_the_name_of_an_old_file(tmp_path, picture, stem):
    folder = tmp_path / "renamed"
    folder.mkdir()
    for ending in (".png", ".strace", ".json"):
        picture.with_suffix(ending).rename(folder / f"{stem}{ending}")
    renamed = folder / f"{stem}.png"
    assert RunFiles().verify(renamed) == ()
    assert RunFiles().picture_of(renamed.with_suffix(".json")) == renamed
