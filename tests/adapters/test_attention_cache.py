import os

import numpy as np

from spatialstudio.adapters.attention_cache import cache_use, make_room

RUN_BYTES = 2128
"""1,000 values of float16 and their header."""


def store_run(cache, name, age):
    folder = cache / name
    folder.mkdir(parents=True)
    np.save(folder / "000-layer.npy", np.zeros(1000, np.float16))
    os.utime(folder, (1e9 - age, 1e9 - age))
    return folder


def test_the_oldest_runs_make_room_for_a_new_one(tmp_path):
    oldest = store_run(tmp_path, "a", age=30)
    middle = store_run(tmp_path, "c", age=20)
    newest = store_run(tmp_path, "b", age=10)
    assert make_room(tmp_path, RUN_BYTES, most_bytes=3 * RUN_BYTES) == 1
    assert [each.exists() for each in (oldest, middle, newest)] == [False, True, True]


def test_nothing_is_removed_while_there_is_room_nor_from_a_missing_cache(tmp_path):
    run = store_run(tmp_path, "a", age=30)
    assert make_room(tmp_path, RUN_BYTES) == make_room(tmp_path / "missing", RUN_BYTES) == 0
    assert run.exists()


def test_the_size_of_the_cache_is_that_of_its_files(tmp_path):
    store_run(tmp_path, "a", age=30)
    use = cache_use(tmp_path)
    assert (use.size_bytes, use.runs) == (RUN_BYTES, 1)
    assert str(use) == "recorded layers of 1 run, 2 kB of at most 8.6 GB"
