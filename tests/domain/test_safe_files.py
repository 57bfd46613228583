"""Names and files of others are checked before they are used."""

import os
import tracemalloc
from pathlib import Path
from stat import S_IFREG
from types import SimpleNamespace

import pytest

from spatialstudio.domain.safe_files import (
    MEBIBYTE,
    FileTooLarge,
    NotARegularFile,
    append_json_lines,
    is_inside,
    is_path_component,
    is_regular,
    open_regular,
    read_regular,
)

needs_fifo = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")


@pytest.mark.parametrize("name", ["a", "2026-11-22 cat.png", "…", ".hidden", "a" * 255])
def test_a_plain_name_is_one_path_component(name):
    assert is_path_component(name)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "/a", "a\\b", "C:a", "a\0b", "a\nb", "\x1b[31m", "é" * 128]
)
def test_names_that_could_leave_their_folder_are_no_path_component(name):
    assert not is_path_component(name)


def test_a_link_that_leaves_a_folder_is_outside(tmp_path):
    inside = tmp_path / "library"
    inside.mkdir()
    (inside / "link").symlink_to(tmp_path)
    assert is_inside(inside / "new", inside)
    assert not is_inside(inside / "link" / "new", inside)
    assert not is_inside(inside / ".." / "new", inside)


def test_a_regular_file_is_read_through_links(tmp_path):
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "link").symlink_to("file")
    assert read_regular(tmp_path / "link", 7) == b"content"


def test_a_file_above_the_limit_is_not_read(tmp_path):
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(20 * 1024**3)
    with pytest.raises(FileTooLarge):
        read_regular(tmp_path / "sparse", 1024)
    with open_regular(tmp_path / "sparse") as file:
        assert file.read(2) == b"\0\0"


@needs_fifo
def test_a_small_file_takes_little_memory_under_a_large_limit(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"small")
    tracemalloc.start()
    assert read_regular(path, 64 * MEBIBYTE) == b"small"
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < MEBIBYTE


def test_a_file_that_grows_while_it_is_read_is_read_to_its_end(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"longer than its size")
    monkeypatch.setattr("os.fstat", lambda _file: SimpleNamespace(st_mode=S_IFREG, st_size=3))
    assert read_regular(path, 100) == b"longer than its size"
    with pytest.raises(FileTooLarge):
        read_regular(path, 10)


def test_a_fifo_is_rejected_without_blocking(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("fifo")
    assert not is_regular(tmp_path / "link")
    with pytest.raises(NotARegularFile):
        read_regular(tmp_path / "link", 1024)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no /dev/zero")
def test_a_link_to_a_device_is_rejected(tmp_path):
    (tmp_path / "endless").symlink_to("/dev/zero")
    with pytest.raises(NotARegularFile):
        read_regular(tmp_path / "endless", 1024)


def test_a_missing_file_is_an_os_error(tmp_path):
    assert not is_regular(tmp_path / "missing")
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "missing", 1024)


def test_json_lines_follow_a_torn_line_on_a_line_of_their_own(tmp_path):
    path = tmp_path / "folder" / "rows.jsonl"
    append_json_lines(path, [[1], {"a": "ü"}], MEBIBYTE)
    whole = path.read_bytes()
    assert whole == b'[1]\n{"a": "\\u00fc"}\n'
    path.write_bytes(whole[:-3])
    append_json_lines(path, [2], MEBIBYTE)
    assert path.read_bytes() == whole[:-3] + b"\n2\n"


def test_json_lines_are_appended_to_no_large_file_and_to_no_folder(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"1\n2\n")
    with pytest.raises(FileTooLarge):
        append_json_lines(path, [3], 5)
    assert path.read_bytes() == b"1\n2\n"
    append_json_lines(path, [3], 6)
    assert path.read_bytes() == b"1\n2\n3\n"
    with pytest.raises(NotARegularFile):
        append_json_lines(tmp_path, [3], MEBIBYTE)
