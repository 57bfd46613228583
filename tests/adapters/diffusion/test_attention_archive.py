import os

import numpy as np

from spatialstudio.adapters.diffusion.attention_archive import forget_oldest


def keep_run(archives, name, age, values):
    folder = archives / name
    folder.mkdir(parents=True)
    np.save(folder / "000-layer.npy", np.zeros(values, np.float16))
    os.utime(folder, (1e9 - age, 1e9 - age))
    return folder


def test_the_oldest_runs_make_room(tmp_path):
    oldest = keep_run(tmp_path, "a", age=30, values=1000)
    middle = keep_run(tmp_path, "c", age=20, values=1000)
    newest = keep_run(tmp_path, "b", age=10, values=1000)
    forget_oldest(tmp_path, most_bytes=2 * 2200)
    assert [each.exists() for each in (oldest, middle, newest)] == [False, True, True]


def test_nothing_is_forgotten_while_there_is_room_nor_where_nothing_was_kept(tmp_path):
    run = keep_run(tmp_path, "a", age=30, values=1000)
    forget_oldest(tmp_path)
    forget_oldest(tmp_path / "missing")
    assert run.exists()
