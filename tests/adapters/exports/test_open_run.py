"""``open_run`` returns the same arrays from every form of a run, and names what is wrong."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from spatialstudio.adapters.storage.stores.attention_files import AttentionFolders
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.api import open_run
from spatialstudio.application.paths import HOME_VARIABLE
from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.domain.attention import AttentionFile
from spatialstudio.domain.errors import ImageError, StoreError
from spatialstudio.domain.library import RunId
from tests.adapters.exports.conftest import SAMPLE


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))


@pytest.fixture
def later(picture):
    """A second run in the same folder, with a later name and other values."""
    record, events = RunFiles().load(picture)
    trace = tuple(replace(step, timestep=step.timestep + 1) for step in record.trace)
    record = replace(record, id=RunId(f"3{record.id[1:]}"), trace=trace)
    return RunFiles().save(record, events, picture.parent)


@pytest.fixture
def bundle(exports, picture, later, tmp_path):
    (file,) = exports.export([picture, later], EXPORT_KINDS["bundle"], tmp_path / "out.zip")
    return file


def values_of(run):
    return {name: array.read() for name, array in run.arrays.items()}


def assert_same(run, other):
    mine, theirs = values_of(run), values_of(other)
    assert list(mine) == list(theirs)
    for name, values in mine.items():
        assert np.array_equal(values, theirs[name], equal_nan=values.dtype.kind == "f"), name
    assert [str(row) for row in run.numbers] == [str(row) for row in other.numbers]
    assert run.record.request == other.record.request


@pytest.mark.parametrize("ending", [".png", ".strace", ".json"])
def test_every_file_of_a_run_opens_it(picture, ending):
    assert_same(open_run(picture.with_suffix(ending)), open_run(picture))


def test_a_folder_opens_its_newest_run_or_a_named_one(picture, later):
    assert_same(open_run(picture.parent), open_run(later))
    assert_same(open_run(picture.parent, picture.stem), open_run(picture))


def test_a_folder_of_version_1_opens(picture):
    assert open_run(SAMPLE).prompt == open_run(picture).prompt


def test_a_bundle_opens_its_newest_run_or_a_named_one(bundle, picture, later, tmp_path):
    assert_same(open_run(bundle), open_run(later))
    assert_same(open_run(bundle, picture.stem), open_run(picture))
    assert not np.array_equal(
        open_run(bundle).arrays["timesteps"].read(),
        open_run(bundle, picture.stem).arrays["timesteps"].read(),
    )


def test_an_imported_run_is_the_one_in_its_bundle(bundle, exports, later, tmp_path):
    _, imported = exports.open_bundle(bundle, tmp_path / "other")
    assert_same(open_run(imported), open_run(bundle))


def test_a_bundle_opens_after_its_runs_are_gone_and_leaves_no_file(
    bundle, picture, tmp_path, monkeypatch
):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    shutil.rmtree(picture.parent)
    run = open_run(bundle)
    assert run.image.shape[2] == 3
    assert run.arrays["map_before/m1"].read().ndim == 3
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_missing_name_lists_the_runs(bundle, picture, later):
    with pytest.raises(StoreError, match='no run "other"') as caught:
        open_run(bundle, "other")
    assert picture.stem in caught.value.hint
    assert later.stem in caught.value.hint


@pytest.mark.parametrize("name", ["../runs", "a/b", "..", "a\\b"])
def test_a_name_is_no_path(picture, name):
    with pytest.raises(StoreError, match="is not the name of a run"):
        open_run(picture.parent, name)


@pytest.mark.parametrize(
    ("name", "content", "cause"),
    [
        ("notes.txt", b"text", "does not belong to a run"),
        ("run.strace", b"text", "is damaged"),
        ("out.zip", b"text", "is not a .zip file"),
        ("empty.zip", b"", "is not a .zip file"),
    ],
)
def test_other_files_are_named(tmp_path, name, content, cause):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(StoreError, match=cause):
        open_run(tmp_path / name)


def test_a_data_archive_is_no_bundle(exports, picture, tmp_path):
    (file,) = exports.export([picture], EXPORT_KINDS["data"], tmp_path / "data.zip")
    with pytest.raises(StoreError, match="not a bundle"):
        open_run(file)


def test_a_damaged_picture_is_named(picture):
    picture.write_bytes(b"no picture")
    with pytest.raises(ImageError):
        open_run(picture)


@pytest.mark.parametrize("name", ["gone.png", "gone.zip", "gone"])
def test_missing_files_are_named(tmp_path, name):
    with pytest.raises(StoreError, match=r"no file|does not belong"):
        open_run(tmp_path / name)


@pytest.fixture
def with_layer(exports, picture, tmp_path):
    """The exports with a recorded layer in their cache, and the run that has it."""
    record, events = RunFiles().load(picture)
    shape = (len(record.trace), 2, 3, 4, 4)
    file = AttentionFile(layer="mid", name="mid.npy", words=("a", "dog", ""), shape=shape)
    values = np.random.default_rng(5).random(shape).astype(file.dtype)
    folder = tmp_path / "cache" / record.request.id
    folder.mkdir(parents=True)
    np.save(folder / file.name, values)
    record = replace(record, id=RunId(f"4{record.id[1:]}"), attention_files=(file,))
    path = RunFiles().save(record, events, picture.parent)
    return replace(exports, read_layer=AttentionFolders(tmp_path / "cache").read), path, values


def test_captured_layers_are_read_from_a_bundle(with_layer, tmp_path):
    exports, path, values = with_layer
    (file,) = exports.export([path], EXPORT_KINDS["bundle-layers"], tmp_path / "out.zip")
    shutil.rmtree(tmp_path / "cache")
    run = open_run(file)
    assert run.data.missing == ""
    assert np.array_equal(run.arrays["layer/mid"].read(), values)
    dogs = run.mean_over_layers(["mid"])
    assert {maps.shape for maps in dogs.values()} == {(len(values), 4, 4)}


def test_a_bundle_without_captured_layers_says_which_export_has_them(with_layer, tmp_path):
    exports, path, _ = with_layer
    (file,) = exports.export([path], EXPORT_KINDS["bundle"], tmp_path / "out.zip")
    run = open_run(file)
    assert "layer/mid" not in run.arrays
    assert "Bundle with layers" in run.data.missing


def test_a_bundle_that_changes_after_it_is_opened_is_named(with_layer, bundle, tmp_path):
    exports, path, _ = with_layer
    (file,) = exports.export([path], EXPORT_KINDS["bundle-layers"], tmp_path / "layers.zip")
    run = open_run(file)
    shutil.copy(bundle, file)
    with pytest.raises(StoreError, match="not a bundle"):
        run.arrays["layer/mid"].read()
