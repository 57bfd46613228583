"""Files of the studio's own state that are no files: nothing waits for them or writes through."""

import pytest

from spatialstudio.domain.scene import LEFT_OF
from spatialstudio.domain.verdict import Outcome
from tests.adapters.storage.library.conftest import keep, scene
from tests.security.harness import attack
from tests.security.test_library import KINDS, TEXT, lay, needs_pipes, opened, prompts

STATE = """
from pathlib import Path
from spatialstudio.adapters.storage.stores.state_files import PlainStateFiles
from spatialstudio.domain.errors import StudioError

folder = Path({folder!r})
state = PlainStateFiles()
journal = state.open_journal(folder)
print("interrupted", len(journal.interrupted()))
journal.forget(["x"])
journal.close()
for path in sorted(folder.iterdir()):
    assert state.read_draft(path) is None
    assert state.read_texts(path) == {{}}
    assert state.read_judge_sets(path) == ()
    try:
        state.read_settings(path)
    except StudioError as error:
        print("refused", path.name, error.message)
print("done")
"""


@needs_pipes
def test_special_files_as_state_do_not_block(tmp_path, bystander):
    folder = tmp_path / "state"
    folder.mkdir()
    for kind in KINDS:
        lay(folder / f"{kind}.journal", kind)
        lay(folder / f"{kind}.json", kind)
    (folder / "linked.journal").symlink_to(bystander / "keep.txt")
    (folder / "brackets.journal").write_bytes(b"[" * 200_000 + b"\n")
    done = attack(STATE.format(folder=str(folder)), tmp_path)
    assert done.contained, done.output
    assert done.output.endswith("done\n")


@needs_pipes
@pytest.mark.parametrize("kind", ["fifo", "zero", "gone", "loop", "folder", "link"])
@pytest.mark.parametrize("ending", ["", "-wal"])
def test_a_special_file_as_index_is_replaced_or_kept(tmp_path, bystander, caplog, kind, ending):
    root = tmp_path / "library"
    keep(root, 1, Outcome.PASS, 0.9, scene(TEXT, "cat", LEFT_OF, "dog"))
    cache = tmp_path / "cache"
    assert len(opened(root, cache)) == 1
    (index,) = (cache / "index").glob("*.sqlite3")
    path = index.with_name(index.name + ending)
    path.unlink(missing_ok=True)
    if kind == "link":
        path.symlink_to(bystander / "keep.txt")
    else:
        lay(path, kind)
    assert prompts(opened(root, cache)) == [TEXT]
    assert all("kept in memory" in message for message in caplog.messages)
