"""Runs of version 1, which were folders, still open."""

import json
import shutil
from pathlib import Path

import pytest

from spatialstudio.adapters.stores.run_files import RunFiles
from spatialstudio.domain.errors import StoreError

SAMPLE = Path(__file__).parents[2] / "golden" / "run_of_schema_1"
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
def test_a_damaged_file_is_noticed(run_folder, name):
    content = bytearray((run_folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (run_folder / name).write_bytes(content)
    with pytest.raises(StoreError, match=f'The file "{name}" of the run .* is damaged'):
        RunFiles().load(run_folder)
    assert [fault.part for fault in RunFiles().verify(run_folder)] == ["trace"]


@pytest.mark.parametrize("name", PARTS)
def test_a_missing_file_is_noticed(run_folder, name):
    (run_folder / name).unlink()
    with pytest.raises(StoreError, match=f"holds no complete run: there is no {name}"):
        RunFiles().load(run_folder)


def test_a_newer_format_asks_for_an_update(run_folder):
    edit_record(run_folder, schema_version=99)
    with pytest.raises(StoreError, match="was written by a newer Spatial Studio"):
        RunFiles().load(run_folder)


def test_a_run_names_no_files_outside_its_folder(run_folder):
    edit_record(
        run_folder, artifacts=[{"kind": "image", "path": "../secret", "sha256": "", "bytes": 1}]
    )
    with pytest.raises(StoreError, match="names a file outside its folder"):
        RunFiles().load(run_folder)


def test_a_run_without_a_picture_is_refused(run_folder):
    edit_record(run_folder, artifacts=[])
    with pytest.raises(StoreError, match="has no picture"):
        RunFiles().load(run_folder)
