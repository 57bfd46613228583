"""Libraries that somebody else made: nothing outside is touched, nothing hangs, good runs stay."""

import json
import os
import shutil
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from spatialstudio.adapters.storage.library.run_library import RunLibrary
from spatialstudio.adapters.storage.stores import verify_run
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.gallery.library import read_filter
from spatialstudio.domain.errors import StoreError, StudioError
from spatialstudio.domain.scene import LEFT_OF
from spatialstudio.domain.verdict import Outcome
from tests.adapters.storage.library.conftest import keep, scene
from tests.security.harness import attack, fingerprint, studio

SAMPLE = Path(__file__).parents[1] / "golden" / "run_of_schema_1"
LONG_AGO = "2020-01-01T00:00:00+00:00"
MOST_BYTES = 256 * 1024**2
SPARSE_BYTES = 20 * 1024**3
TEXT = "a cat to the left of a dog"

needs_pipes = pytest.mark.skipif(os.name == "nt", reason="there are no FIFOs and devices")


@pytest.fixture
def root(tmp_path):
    """A library of one good run."""
    root = tmp_path / "library"
    keep(root, 1, Outcome.PASS, 0.9, scene(TEXT, "cat", LEFT_OF, "dog"))
    return root


@pytest.fixture
def good(root):
    (picture,) = root.glob("2026/11/*.png")
    return picture


def deletion(root, name, **said):
    """Lay a folder with a deletion's file and one run's files into the trash."""
    folder = root / ".trash" / name
    folder.mkdir(parents=True)
    for ending in (".png", ".strace", ".json"):
        (folder / f"0{ending}").write_bytes(b"thrown")
    record = {"id": name, "deleted": LONG_AGO, "paths": ["a.png"]} | said
    (folder / "deletion.json").write_text(json.dumps(record))
    return folder


def opened(root, cache):
    """Open a library, look it through, and empty its trash as the window does."""
    library = RunLibrary(root, cache)
    try:
        library.refresh()
        library.empty_trash(timedelta(days=30))
        library.refresh()
        return library.entries(library.find(read_filter("")))
    finally:
        library.close()


def prompts(entries):
    return [entry.summary.prompt for entry in entries if not entry.is_damaged]


@pytest.mark.parametrize(
    "spelling",
    ["{}", "../../bystander", "..", ".", "", "../..", "x/../../../bystander", "other", "a\0b"],
)
def test_an_id_in_the_trash_deletes_nothing_elsewhere(root, tmp_path, bystander, spelling):
    folder = deletion(root, "x", id=spelling.format(bystander))
    for file in folder.glob("0.*"):
        file.unlink()
    assert prompts(opened(root, tmp_path / "cache")) == [TEXT]
    assert folder.is_dir()


@pytest.mark.parametrize(
    "path",
    [
        *("", ".", "..", "/", "../bystander/keep.png", "{}/new.png", "x/../../bystander/new.png"),
        *("linked/new.png", "a\0.png", "n" * 5000 + ".png", ".trash/y/0.png", "keep.txt"),
    ],
    ids=lambda path: path[:20] or "empty",
)
def test_a_path_in_the_trash_moves_nothing_elsewhere(root, tmp_path, bystander, path):
    (root / "linked").symlink_to(bystander)
    folder = deletion(root, "x", paths=[path.format(bystander)])
    (folder / "0.png").unlink()
    before = {each.name for each in tmp_path.iterdir()}
    assert prompts(opened(root, tmp_path / "cache")) == [TEXT]
    assert {each.name for each in tmp_path.iterdir()} == before | {"cache"}


def test_a_linked_trash_folder_is_ignored(root, tmp_path, bystander):
    shutil.move(deletion(root, "x"), bystander / "inner" / "x")
    shutil.rmtree(root / ".trash")
    (root / ".trash").symlink_to(bystander / "inner")
    before = fingerprint(bystander / "inner")
    assert prompts(opened(root, tmp_path / "cache")) == [TEXT]
    assert fingerprint(bystander / "inner") == before
    shutil.rmtree(bystander / "inner" / "x")


def test_nothing_is_moved_into_a_linked_trash_folder(root, good, tmp_path, bystander):
    (root / ".trash").symlink_to(bystander)
    library = RunLibrary(root, tmp_path / "cache")
    with pytest.raises(StoreError, match="outside the library"):
        library.throw([good])
    library.close()
    assert good.exists()


def test_a_linked_deletion_is_ignored(root, tmp_path, bystander):
    (root / ".trash").mkdir()
    (root / ".trash" / "inner").symlink_to(bystander / "inner")
    assert prompts(opened(root, tmp_path / "cache")) == [TEXT]


def test_files_in_the_trash_that_no_deletion_wrote_stay(root, tmp_path):
    folder = deletion(root, "x")
    (folder / "thesis.txt").write_text("mine")
    (folder / "photos").mkdir()
    assert len(opened(root, tmp_path / "cache")) == 1
    assert sorted(path.name for path in folder.iterdir()) == ["photos", "thesis.txt"]


def test_a_run_is_not_restored_through_a_link(root, tmp_path, bystander):
    folder = deletion(root, "x", paths=["month/a.png"], deleted="2999-01-01T00:00:00+00:00")
    (root / "month").symlink_to(bystander)
    library = RunLibrary(root, tmp_path / "cache")
    with pytest.raises(StoreError, match="outside the library"):
        library.restore([folder / "0.png"])
    library.close()


def test_a_run_in_a_linked_folder_is_not_deleted(root, tmp_path, bystander):
    library = RunLibrary(root, tmp_path / "cache")
    (root / "month").symlink_to(bystander)
    with pytest.raises(StoreError, match="outside the library"):
        library.throw([root / "month" / "keep.png"])
    library.close()


BAD_IDS = ["x/../../../bystander/new", "{}/new", "..", "", ".hidden", "a\0b", "n" * 251, "x\\y"]


@pytest.mark.parametrize("spelling", BAD_IDS, ids=lambda spelling: spelling[:20] or "empty")
def test_an_invalid_id_of_version_1_is_listed_as_damaged_and_others_are_migrated(
    root, tmp_path, bystander, spelling
):
    for name in ("bad", "fine"):
        shutil.copytree(SAMPLE, root / name)
    record = json.loads((root / "bad" / "run.json").read_text())
    record["id"] = spelling.format(bystander)
    (root / "bad" / "run.json").write_text(json.dumps(record))
    entries = opened(root, tmp_path / "cache")
    assert set(prompts(entries)) == {"a photo of a dog to the left of a car", TEXT}
    assert [e.path for e in entries if e.is_damaged] == [root / "bad" / "picture.png"]
    with pytest.raises(StoreError, match="its id is not a valid file name"):
        RunFiles().load(root / "bad")


@pytest.mark.parametrize("name", ["2026", "2026/11", ".backup"])
def test_the_migration_writes_through_no_link(tmp_path, bystander, name):
    root = tmp_path / "library"
    shutil.copytree(SAMPLE, root / "run")
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).symlink_to(bystander)
    (entry,) = opened(root, tmp_path / "cache")
    assert entry.path == root / "run" / "picture.png"


def test_a_linked_run_of_version_1_is_not_moved(root, tmp_path):
    elsewhere = shutil.copytree(SAMPLE, tmp_path / "elsewhere")
    before = fingerprint(elsewhere)
    (root / "run").symlink_to(elsewhere)
    assert prompts(opened(root, tmp_path / "cache")) == [TEXT]
    assert (root / "run").is_symlink()
    assert fingerprint(elsewhere) == before


def test_a_file_that_a_run_of_version_1_names_often_is_read_once(root, monkeypatch):
    folder = shutil.copytree(SAMPLE, root / "run")
    record = json.loads((folder / "run.json").read_text())
    record["artifacts"] += [
        record["artifacts"][0] | {"bytes": number, "kind": str(number)} for number in range(10_000)
    ]
    (folder / "run.json").write_text(json.dumps(record))
    read = []
    count = lambda path, _limit: read.append(path) or path.read_bytes()  # noqa: E731
    monkeypatch.setattr(verify_run, "read_regular", count)
    RunFiles().load(folder)
    assert sorted(read) == sorted({*folder.iterdir()})


@pytest.mark.parametrize("name", [".probe", ".run.png.part"])
def test_preparing_a_folder_follows_no_link(tmp_path, bystander, name):
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / name).symlink_to(bystander / "new")
    RunFiles().prepare(folder)
    assert (folder / name).is_symlink()


def test_hidden_files_of_other_programs_stay(root, tmp_path):
    names = [".download.part", ".movie.mkv.part", ".notes.txt.part"]
    for name in names:
        (root / name).write_text("half")
        os.utime(root / name, (0, 0))
    opened(root, tmp_path / "cache")
    assert sorted(p.name for p in root.glob(".*.part")) == sorted(names)


OPEN_ALL = """
import sys
from pathlib import Path
from spatialstudio.adapters.storage.library.run_library import RunLibrary
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.gallery.library import read_filter
from spatialstudio.domain.errors import StudioError

def memory(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

idle = memory("VmRSS")
root, cache = Path(sys.argv[1]), Path(sys.argv[2])
library = RunLibrary(root, cache)
library.refresh()
for entry in library.entries(library.find(read_filter(""))):
    print("listed", entry.path.name, entry.summary.prompt)
    library.thumbnail(entry.path)
    library.picture(entry.path)
store = RunFiles()
for path in sorted(root.rglob("*.png")):
    for work in (store.verify, store.load, store.marks, store.is_run):
        try:
            work(path)
        except StudioError as error:
            print("refused", path.name[:40], error.message[:100])
library.deletions()
library.empty_trash()
library.close()
print("above idle", memory("VmHWM") - idle)
"""


def lay(path, kind):
    """Make something that must not be read as if it were a file."""
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "sparse":
            path.touch()
            os.truncate(path, SPARSE_BYTES)
        case _:
            path.symlink_to(LINKS.get(kind, path.name))


LINKS = {"zero": "/dev/zero", "random": "/dev/urandom", "gone": "nowhere", "up": ".."}
KINDS = (*LINKS, "loop", "fifo", "folder", "sparse")
ENDINGS = (".png", ".strace", ".json")


def copied(good, stem, but=""):
    """Copy the files of a run, apart from the one of an ending."""
    for ending in ENDINGS:
        if ending != but:
            shutil.copy(good.with_suffix(ending), good.with_name(f"{stem}{ending}"))


def opened_apart(root, tmp_path):
    """Open everything in a library in a process of its own; return what it prints."""
    source = OPEN_ALL.replace("sys.argv[1]", repr(str(root)))
    source = source.replace("sys.argv[2]", repr(str(tmp_path / "cache")))
    done = attack(source, tmp_path)
    assert done.contained, done.output[-3000:]
    lines = done.output.splitlines()
    above_idle = int(lines[-1].removeprefix("above idle "))
    assert above_idle < MOST_BYTES, f"{above_idle >> 20} MB"
    return lines


@needs_pipes
def test_pipes_devices_links_and_sparse_files_hide_nothing(root, good, tmp_path):
    for kind in KINDS:
        for ending in ENDINGS:
            copied(good, f"{kind}{ending[1:]}", but=ending)
            lay(good.with_name(f"{kind}{ending[1:]}{ending}"), kind)
        for name in ("run.json", "picture.png", "trace.npz", "evaluation.json"):
            run = shutil.copytree(SAMPLE, root / f"{kind}-{name}")
            (run / name).unlink()
            lay(run / name, kind)
        (root / ".trash" / kind).mkdir(parents=True)
        lay(root / ".trash" / kind / "deletion.json", kind)
        lay(root / kind, kind)
    for name in (f".{good.stem}.json.judged", f".{good.stem}.strace.part"):
        os.mkfifo(good.with_name(name))
    os.mkfifo(root / ".library.json")
    lines = opened_apart(root, tmp_path)
    assert f"listed {good.name} {TEXT}" in lines
    sound = [f"listed {kind}{part}.png {TEXT}" for kind in KINDS for part in ("json", "strace")]
    assert set(sound) <= set(lines)


@pytest.fixture
def deep(root):
    """More folders inside each other than Python can recurse."""
    depths = range(1, sys.getrecursionlimit() + 100)
    folders = [Path(f"{root}{'/d' * depth}") for depth in depths]
    for folder in folders:
        folder.mkdir()
    yield folders[-1]
    for folder in reversed(folders):  # pytest recurses when it cleans up
        folder.rmdir()


@pytest.mark.usefixtures("deep")
def test_odd_names_depths_and_times_hide_nothing(root, good, tmp_path):
    copied(good, "n" * 247)
    (good.parent / ("m" * 251 + ".png")).write_bytes(good.read_bytes())
    copied(good, "early", but=".json")
    os.utime(good.with_name("early.png"), (-(2**40), -(2**40)))
    assert prompts(opened(root, tmp_path / "cache")).count(TEXT) >= 3


def padded(content, size):
    """Return JSON of a size: the same, with a text that nobody asked for."""
    return content[:-1] + b', "x": "' + b"a" * size + b'"}'


def sidecars(sound):
    """Yield sidecars that are too much, by name."""
    yield "brackets", b"[" * 200_000
    yield "nested", sound.replace(b'"marks": {', b'"marks": {"a":' + b"[" * 900 + b"]" * 900 + b",")
    yield "lists", padded(sound, 0)[:-1] + b', "y": [' + b"[]," * 5_000_000 + b"[]]}"
    yield "long", padded(sound, 60_000_000)
    yield "wide", padded(sound, 12_000_000)[:-1] + ', "y": "\N{CAT FACE}"}'.encode()
    yield "digits", sound.replace(b'"stars": 0', b'"stars": ' + b"9" * 100_000)
    yield "infinite", sound.replace(b'"stars": 0', b'"stars": 1e999')
    yield "names", b"{" + b",".join(b'"%d":0' % n for n in range(2_000_000)) + b"}"
    packed = b'"arrays": "' + b"A" * 60_000_000 + b'"}'
    yield "arrays", sound[: sound.rindex(b'"arrays"')] + packed
    tags = b",".join(b'"%d"' % n for n in range(200_000))
    yield "tags", sound.replace(b'"tags": []', b'"tags": [' + tags + b"]")
    note = b'"note": "' + b"a" * 15_000_000 + b'"'
    yield "note", sound.replace(b'"note": ""', note, 1)


def test_oversized_sidecars_are_rejected_and_hide_nothing(root, good, tmp_path):
    sound = good.with_suffix(".json").read_bytes()
    for name, content in sidecars(sound):
        copied(good, name)
        good.with_name(f"{name}.json").write_bytes(content)
    lines = opened_apart(root, tmp_path)
    assert f"listed {good.name} {TEXT}" in lines
    listed = {line.split()[1] for line in lines if line.startswith("listed")}
    assert listed == {path.name for path in good.parent.glob("*.png")}
    refused = "\n".join(line for line in lines if line.startswith("refused"))
    for name in ("brackets", "nested", "lists", "long", "names"):
        assert f"refused {name}.png" in refused


def test_oversized_records_of_version_1_are_rejected(root, good, tmp_path):
    record = (SAMPLE / "run.json").read_bytes()
    for name, content in {
        "brackets": b"[" * 200_000,
        "long": padded(record.rstrip(), 100_000_000),
        "values": padded(record.rstrip(), 0)[:-1] + b', "y": [' + b"[]," * 3_000_000 + b"[]]}",
    }.items():
        shutil.copytree(SAMPLE, root / name)
        (root / name / "run.json").write_bytes(content)
    lines = opened_apart(root, tmp_path)
    assert f"listed {good.name} {TEXT}" in lines


@needs_pipes
def test_the_terminal_lists_a_library_of_odd_files(root, good, tmp_path):
    for kind in KINDS:
        lay(good.with_name(f"{kind}.png"), kind)
        lay(good.with_name(f"{kind}.json"), kind)
    done = studio(["runs", "list", "--library", str(root)], tmp_path)
    assert done.contained, done.output
    assert "2 found" in done.output  # with the sparse one, which is a file
    assert TEXT in done.output


def test_no_file_of_a_run_is_read_beyond_its_limit(root, good, tmp_path):
    os.truncate(good.with_suffix(".strace"), SPARSE_BYTES)
    (fault, *_) = RunFiles().verify(good)
    assert "too large to open safely" in fault.message
    with pytest.raises(StudioError, match="too large"):
        RunFiles().load(good)
