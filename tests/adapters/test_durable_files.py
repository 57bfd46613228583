"""Files appear whole or not at all, and a refusal of the disk becomes a sentence."""

import errno

import pytest

from spatialstudio.adapters.durable_files import explained_writing, write_whole
from spatialstudio.domain.errors import StoreError


def test_a_file_replaces_the_old_one(tmp_path):
    path = tmp_path / "picture.png"
    path.write_bytes(b"old")
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_no_file(tmp_path):
    (tmp_path / "taken").mkdir()
    with pytest.raises(StoreError):
        write_whole(tmp_path / "taken", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.ENOSPC, 'The disk that holds "runs" is full.'),
        (errno.EDQUOT, 'The disk that holds "runs" is full.'),
        (errno.EROFS, 'The folder "runs" cannot be written.'),
        (errno.EACCES, 'The folder "runs" cannot be written.'),
        (errno.ENOTDIR, '"runs" is not a folder.'),
        (errno.EIO, 'The folder "runs" cannot be written: broken.'),
    ],
)
def test_a_disk_error_has_a_message_with_a_hint(number, sentence):
    with pytest.raises(StoreError) as caught, explained_writing("runs"):
        raise OSError(number, "broken")
    assert caught.value.message == sentence
    assert caught.value.hint.endswith(".")
