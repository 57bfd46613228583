"""Hostile files of questions and recorded answers."""

import pytest

from tests.security.harness import attack
from tests.security.test_library import lay, needs_pipes

READ = """
from pathlib import Path
from spatialstudio.application.evaluate.question_files import (
    read_question_file, read_rollout_file,
)
from spatialstudio.domain.errors import StoreError

for read in (read_question_file, read_rollout_file):
    try:
        read(Path({path!r}))
    except StoreError as error:
        print("StoreError:", error.message)
print("done")
"""


@needs_pipes
@pytest.mark.parametrize("kind", ["fifo", "zero", "loop", "folder"])
def test_a_special_file_is_refused_without_blocking(tmp_path, kind):
    path = tmp_path / "data.jsonl"
    lay(path, kind)
    done = attack(READ.format(path=str(path)), tmp_path)
    assert done.contained, done.output
    assert done.output.count("StoreError:") == 2
    assert done.output.endswith("done\n")


@pytest.mark.parametrize(
    "content",
    [b"[" * 500_000, b'{"id": "' + b"\xff" * 1000 + b'"}', b'{"a": ' * 5000, b"1" * 100_000],
    ids=["brackets", "bytes", "depth", "digits"],
)
def test_hostile_lines_are_refused(tmp_path, content):
    path = tmp_path / "data.jsonl"
    path.write_bytes(content)
    done = attack(READ.format(path=str(path)), tmp_path)
    assert done.contained, done.output
    assert done.output.count("StoreError:") == 2
