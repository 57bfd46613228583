from dataclasses import replace

import numpy as np
import pytest

from spatialstudio.adapters.storage.stores.attention_files import AttentionFolders, build
from spatialstudio.domain.attention import ATTENTION_FOLDER, AttentionFile
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.generation import RequestId
from spatialstudio.domain.ports import Surroundings

RUN = RequestId("run-1")
FILE = AttentionFile(layer="mid", name="000-mid.npy", words=("a", "cat"), shape=(3, 1, 2, 4, 4))
ARRAY = np.arange(96, dtype=np.float16).reshape(FILE.shape)


@pytest.fixture
def kept(tmp_path):
    """The cache in which a run has left its attention."""
    folder = tmp_path / ATTENTION_FOLDER / RUN
    folder.mkdir(parents=True)
    np.save(folder / FILE.name, ARRAY)
    return tmp_path


def reader(cache):
    return build(Surroundings(resources=cache, model_folders=(), cache=cache))


def test_captured_attention_is_read(kept):
    assert np.array_equal(reader(kept).read(RUN, FILE), ARRAY)


@pytest.mark.parametrize(
    ("run", "name"),
    [("run-2", FILE.name), (RUN, "001-up.npy"), ("..", FILE.name), (RUN, f"../{RUN}/{FILE.name}")],
    ids=["run", "file", "outside-run", "outside-file"],
)
def test_missing_attention_is_reported(kept, run, name):
    file = AttentionFile(layer="mid", name=name, words=FILE.words, shape=FILE.shape)
    with pytest.raises(StoreError, match="no longer available"):
        reader(kept).read(RequestId(run), file)


def test_without_a_cache_attention_is_missing():
    with pytest.raises(StoreError, match="no longer available"):
        AttentionFolders(None).read(RUN, FILE)


def test_an_array_of_another_size_is_damaged(kept):
    file = AttentionFile(layer="mid", name=FILE.name, words=("a",), shape=(3, 1, 1, 4, 4))
    with pytest.raises(StoreError, match="damaged"):
        reader(kept).read(RUN, file)


def test_a_broken_file_is_reported(kept):
    (kept / ATTENTION_FOLDER / RUN / FILE.name).write_bytes(b"\x93NUMPY")
    with pytest.raises(StoreError, match="no longer available"):
        reader(kept).read(RUN, FILE)


def test_single_precision_is_read_where_the_record_states_it(kept):
    np.save(kept / ATTENTION_FOLDER / RUN / FILE.name, ARRAY.astype(np.float32) / 3)
    read = reader(kept).read(RUN, replace(FILE, dtype="float32"))
    assert read.dtype == np.float32
    assert np.array_equal(read, ARRAY.astype(np.float32) / 3)
    with pytest.raises(StoreError, match="damaged"):
        reader(kept).read(RUN, FILE)


@pytest.mark.parametrize("dtype", ["float64", "object", "int8", "nonsense", ""])
def test_other_number_types_are_refused(kept, dtype):
    kind = dtype if dtype in ("float64", "int8") else "float16"
    np.save(kept / ATTENTION_FOLDER / RUN / FILE.name, ARRAY.astype(kind))
    with pytest.raises(StoreError, match="damaged"):
        reader(kept).read(RUN, replace(FILE, dtype=dtype))


def test_the_size_of_a_layer_counts_the_bytes_of_its_numbers():
    assert replace(FILE, dtype="float32").size_bytes == 2 * FILE.size_bytes == 2 * ARRAY.nbytes
