"""The guide's reader of ``.strace`` files agrees with ``open_run``."""

import ast
import json
import subprocess
import sys
from zipfile import ZipFile

import numpy as np
import pytest

from spatialstudio.adapters.storage.stores import trace
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.paths import HOME_VARIABLE
from tests.adapters.exports.conftest import SAMPLE
from tests.format_reader import assert_same_arrays, reader, reader_source

MOST_LINES = 40

MAIN = """
import sys

class Refused:
    def find_spec(self, name, *_):
        assert name.partition(".")[0] not in {"spatialstudio", "torch", "PIL", "PySide6"}, name

sys.meta_path.insert(0, Refused())
SOURCE
record, arrays = read_strace(sys.argv[1])
print(sorted(arrays)[0], record["request"]["seed"])
"""


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))


@pytest.fixture
def store(tmp_path):
    """Store the sample run; return its picture."""

    def stored():
        record, events = RunFiles().load(SAMPLE)
        return RunFiles().save(record, events, tmp_path / "runs")

    return stored


def test_the_reader_has_at_most_forty_lines_and_needs_only_numpy():
    source = reader_source()
    assert len(source.splitlines()) <= MOST_LINES
    names = {
        alias.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert names == {"io", "json", "zipfile", "numpy"}
    assert not any(isinstance(node, ast.ImportFrom) for node in ast.walk(ast.parse(source)))


def test_the_reader_runs_without_this_package(store):
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-c",
            MAIN.replace("SOURCE", reader_source()),
            store().with_suffix(".strace"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("captured_steps ")


@pytest.mark.parametrize("precision", ["float32", "float16", "byte"])
def test_maps_of_every_precision_are_those_of_open_run(store, monkeypatch, precision):
    kinds = dict(trace._COARSENINGS)
    monkeypatch.setattr(trace, "_COARSENINGS", {precision: kinds[precision]})
    picture = store()
    with ZipFile(picture.with_suffix(".strace")) as archive:
        head = json.loads(archive.read("format.json"))
    assert head["precision"]["maps"] == precision
    assert any(name.startswith("map_after/") for name in assert_same_arrays(picture))


def test_a_missing_value_is_nan(store, monkeypatch):
    picture = store()
    path = picture.with_suffix(".strace")
    with ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    record = json.loads(members["run.json"])
    record["trace"][0]["pos"] = {"r1": "nan"}
    members["run.json"] = json.dumps(record).encode()
    with ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    assert np.isnan(assert_same_arrays(picture)["pos_before/r1"][0])


@pytest.mark.parametrize(
    "head", [{"format": "other", "version": 3}, {"format": trace.FORMAT, "version": 4}]
)
def test_other_files_and_later_versions_are_rejected(tmp_path, head):
    path = tmp_path / "other.strace"
    with ZipFile(path, "w") as archive:
        archive.writestr("format.json", json.dumps(head))
        archive.writestr("run.json", "{}")
    with pytest.raises(ValueError, match="version 3"):
        reader().read_strace(path)


def test_the_guide_states_the_current_version():
    assert f'head["version"] > {trace.VERSION}' in reader_source()
