"""Bundles from elsewhere write nothing outside the library, and fill no memory."""

import json
import os
from dataclasses import replace
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
import pytest

from spatialstudio.adapters.exports.bundle import load_bundled, open_bundle, write_bundle
from spatialstudio.adapters.storage.stores.attention_files import AttentionFolders
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.domain.attention import AttentionFile
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.export import ExportedRun
from tests.fakes import png_bytes
from tests.security.harness import attack, fingerprint
from tests.security.hostile_archives import (
    BUNDLES,
    SAMPLE,
    bundle_with,
    import_bundle,
    trace_with,
)
from tests.security.hostile_files import fifo, link, sparse, written
from tests.security.hostile_pictures import read_picture

LARGE = {
    *("bundle, a member listed 2,000,000 times", "bundle, an index of 500 MB"),
    "bundle, a picture of 2 GB of zeros",
}
"""Files that take seconds to write."""
IDLE_AND_LIMIT_BYTES = 700 * 1024**2
CASES = [
    pytest.param(file, id=name, marks=[pytest.mark.slow] if name in LARGE else [])
    for name, file in BUNDLES.items()
]


def change_run(**fields):
    return lambda told: told["runs"][0].update(fields)


@pytest.mark.parametrize("file", CASES)
def test_a_hostile_bundle_is_rejected_with_one_sentence_and_writes_nothing(tmp_path, file):
    path = file.make(tmp_path)
    with pytest.raises(StoreError) as caught:
        file.open(path)
    assert caught.value.message.endswith(".")
    assert ". " not in caught.value.message
    assert not (tmp_path / "library").exists()


@pytest.mark.parametrize(
    ("make", "cause"),
    [
        pytest.param(fifo("out.zip"), "is not a regular file", id="FIFO"),
        pytest.param(link("out.zip"), "is not a regular file", id="/dev/zero"),
        pytest.param(sparse("out.zip"), "is too large to open safely", id="sparse 20 GB"),
        pytest.param(link("out.zip", "out.zip"), "cannot be read", id="a link to itself"),
        pytest.param(link("out.zip", "."), "is a folder", id="folder"),
        pytest.param(link("out.zip", "gone"), "There is no file", id="missing"),
        pytest.param(written("out.zip", b""), "is not a .zip file", id="empty"),
    ],
)
def test_the_cause_is_named(tmp_path, make, cause):
    with pytest.raises(StoreError, match=cause):
        import_bundle(make(tmp_path))


@pytest.mark.parametrize(
    "fields",
    [
        {"stem": "../../bystander/keep"},
        {"stem": "/tmp/a"},
        {"stem": ".."},
        {"stem": "."},
        {"stem": ""},
        {"stem": "a/b"},
        {"stem": "a\\b"},
        {"stem": "C:a"},
        {"stem": "a\nb"},
        {"stem": ".hidden"},
        {"stem": "\ud800"},
        {"stem": "a" * 5000},
        {"stem": ["a"]},
        {"month": "../.."},
        {"month": "2026/13"},
        {"month": "2026/11/../../.."},
        {"month": "99999/01"},
        {"month": "9" * 5000 + "/01"},
        {"month": None},
        {"name": "../0000_a"},
        {"name": 7},
        {"files": {".png": 7}},
        {"files": {".sh": ""}},
        {"files": []},
    ],
    ids=str,
)
def test_hostile_names_are_rejected(tmp_path, bystander, fields):
    path = bundle_with(tmp_path, change=change_run(**fields))
    before = fingerprint(tmp_path)
    with pytest.raises(StoreError):
        import_bundle(path)
    assert fingerprint(tmp_path) == before


LAYER = AttentionFile(layer="mid", name="mid.npy", words=("a",), shape=(1, 1, 1, 2, 2))
SOUND = np.ones(LAYER.shape, np.float16)


def npy_of(array, **options):
    content = BytesIO()
    np.save(content, array, **options)
    return content.getvalue()


def bundle_of_layers(folder, content, name="mid.npy", *, digest="", packed=ZIP_STORED):
    """A bundle of a run whose record names one layer, with this content."""
    record, events = RunFiles().load(SAMPLE)
    record = replace(record, attention_files=(LAYER,))
    picture = RunFiles().save(record, events, folder / "runs")
    path = folder / "layers.zip"
    with path.open("wb") as file:
        run = ExportedRun(path=picture, record=record, steps=(), image=SOUND)
        write_bundle([run], file)
    with ZipFile(path) as archive:
        members = {each: archive.read(each) for each in archive.namelist()}
    index = json.loads(members["bundle.json"])
    index["runs"][0]["layers"] = {name: digest or sha256(content).hexdigest()}
    members["bundle.json"] = json.dumps(index).encode()
    with ZipFile(path, "w") as archive:
        for member, data in members.items():
            archive.writestr(member, data)
        member = f"layers/{index['runs'][0]['name']}/{name}"
        archive.writestr(member, content, compress_type=packed)
    return path, record.request.id


@pytest.mark.parametrize(
    ("content", "options"),
    [
        pytest.param(npy_of(SOUND), {"name": "other.npy"}, id="not in the record"),
        pytest.param(npy_of(SOUND), {"name": "../../bystander/keep"}, id="a path"),
        pytest.param(npy_of(SOUND), {"digest": "0" * 64}, id="another hash"),
        pytest.param(npy_of(SOUND), {"packed": ZIP_DEFLATED}, id="compressed"),
        pytest.param(npy_of(SOUND[..., :1]), {}, id="another shape"),
        pytest.param(npy_of(SOUND.astype(np.float64)), {}, id="another number type"),
        pytest.param(npy_of(np.array([Path()]), allow_pickle=True), {}, id="a pickle"),
        pytest.param(npy_of(SOUND)[:-1], {}, id="truncated"),
        pytest.param(b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 65535, {}, id="a nested header"),
    ],
)
def test_hostile_layers_are_rejected_and_write_nothing(tmp_path, bystander, content, options):
    path, _ = bundle_of_layers(tmp_path, content, **options)
    before = fingerprint(tmp_path)
    with pytest.raises(StoreError):
        open_bundle(path, tmp_path / "library", tmp_path / "cache")
    assert fingerprint(tmp_path) == before


def test_a_bundle_replaces_no_layers_of_the_cache(tmp_path):
    path, request_id = bundle_of_layers(tmp_path, npy_of(SOUND))
    own = tmp_path / "cache" / request_id
    own.mkdir(parents=True)
    (own / "mid.npy").write_bytes(b"mine")
    open_bundle(path, tmp_path / "library", tmp_path / "cache")
    assert (own / "mid.npy").read_bytes() == b"mine"


def test_sound_layers_are_imported(tmp_path):
    path, request_id = bundle_of_layers(tmp_path, npy_of(SOUND))
    open_bundle(path, tmp_path / "library", tmp_path / "cache")
    read = AttentionFolders(tmp_path / "cache").read(request_id, LAYER)
    assert np.array_equal(read, SOUND)


def test_a_linked_month_folder_is_not_followed(tmp_path, bystander):
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "2026").symlink_to(bystander)
    with pytest.raises(StoreError):
        import_bundle(bundle_with(tmp_path))


def test_a_fifo_in_the_library_blocks_no_import(tmp_path):
    folder = tmp_path / "library" / "2026" / "11"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "a.png")
    (arrived,) = import_bundle(bundle_with(tmp_path))
    assert arrived == folder / "a_2.png"


def test_a_picture_too_large_to_decode_is_rejected(tmp_path):
    picture = png_bytes(np.zeros((6500, 6500, 3), np.uint8))
    with pytest.raises(StoreError, match="too large to open safely"):
        import_bundle(bundle_with(tmp_path, files=picture))


def test_a_valid_bundle_imports_its_run(tmp_path):
    (arrived,) = import_bundle(bundle_with(tmp_path))
    assert arrived == tmp_path / "library" / "2026" / "11" / "a.png"
    assert np.array_equal(read_picture(arrived), np.zeros((8, 8, 3), np.uint8))


def test_no_bundle_exhausts_the_memory(tmp_path):
    attacked = attack(
        "from pathlib import Path\n"
        "from spatialstudio.domain.errors import StoreError\n"
        "from tests.security.hostile_archives import BUNDLES\n"
        "from tests.security.test_bundle import LARGE\n"
        "for number, name in enumerate(BUNDLES.keys() - LARGE):\n"
        "    folder = Path(str(number))\n"
        "    folder.mkdir()\n"
        "    path = BUNDLES[name].make(folder)\n"
        "    try:\n"
        "        BUNDLES[name].open(path)\n"
        "    except StoreError:\n"
        "        continue\n"
        "    raise AssertionError(name)\n",
        tmp_path,
        limit_bytes=IDLE_AND_LIMIT_BYTES,
    )
    assert attacked.contained, attacked.output
    assert attacked.exit_code == 0


@pytest.mark.parametrize("file", CASES)
def test_open_run_rejects_a_hostile_bundle_with_one_sentence(tmp_path, file):
    path = file.make(tmp_path)
    with pytest.raises(StoreError) as caught:
        load_bundled(path)
    assert caught.value.message.endswith(".")
    assert ". " not in caught.value.message


@pytest.mark.parametrize("stem", ["../../bystander/keep", "/tmp/a", "..", "a/b", ".hidden"])
def test_open_run_writes_to_no_path_of_a_bundle(tmp_path, bystander, stem):
    path = bundle_with(tmp_path, change=change_run(stem=stem))
    before = fingerprint(tmp_path)
    with pytest.raises(StoreError):
        load_bundled(path)
    assert fingerprint(tmp_path) == before


def test_a_pickle_in_a_bundled_trace_is_not_loaded(tmp_path):
    marker = tmp_path / "executed"
    content = BytesIO()
    np.savez(content, allow_pickle=True, **{"0/attention/m1": np.array([Touch(marker)], object)})
    trace = trace_with(tmp_path / "trace", {"maps.npz": content.getvalue()}).read_bytes()
    path = bundle_with(tmp_path)
    with ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    index = json.loads(members["bundle.json"])
    index["runs"][0]["files"][".strace"] = sha256(trace).hexdigest()
    name = index["runs"][0]["name"]
    members |= {"bundle.json": json.dumps(index).encode(), f"runs/{name}.strace": trace}
    with ZipFile(path, "w") as archive:
        for member, data in members.items():
            archive.writestr(member, data)
    with pytest.raises(StoreError, match="cannot be read"):
        load_bundled(path)
    assert not marker.exists()


class Touch:
    """Creates a file when it is unpickled."""

    def __init__(self, path):
        self._path = path

    def __reduce__(self):
        return (Path.touch, (self._path,))
