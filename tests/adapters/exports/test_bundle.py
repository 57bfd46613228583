"""Runs go out in a bundle and into another library; a spoilt one brings nothing."""

import json
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import pytest

from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.library import Marks


def test_a_bundle_opens_in_another_library(export, exports, picture, tmp_path):
    export(EXPORT_KINDS["bundle"], "zip")
    (arrived,) = exports.open_bundle(tmp_path / "out.zip", tmp_path / "other")
    assert arrived == tmp_path / "other" / "2026" / "11" / picture.name
    assert RunFiles().verify(arrived) == ()
    assert exports.open_bundle(tmp_path / "out.zip", tmp_path / "other") == (arrived,)


def test_a_bundle_restores_missing_files_of_a_run(export, exports, tmp_path):
    export(EXPORT_KINDS["bundle"], "zip")
    (arrived,) = exports.open_bundle(tmp_path / "out.zip", tmp_path / "other")
    RunFiles().mark(arrived, Marks(stars=5))
    for spoil in (Path.unlink, lambda trace: trace.write_bytes(b"half")):
        spoil(arrived.with_suffix(".strace"))
        assert exports.open_bundle(tmp_path / "out.zip", tmp_path / "other") == (arrived,)
        assert RunFiles().verify(arrived) == ()
    assert RunFiles().marks(arrived).stars == 5
    arrived.with_suffix(".json").unlink()
    exports.open_bundle(tmp_path / "out.zip", tmp_path / "other")
    assert RunFiles().verify(arrived) == ()


GARBAGE = b"not a picture"
HEAD_ALONE = b"\x89PNG\r\n\x1a\n" + GARBAGE


def told_as_picture(content):
    return lambda index: index["runs"][0]["files"].update({".png": sha256(content).hexdigest()})


@pytest.mark.parametrize(
    "forge",
    [
        lambda index: index.update(runs=[1]),
        lambda index: index.update(runs=["a"]),
        lambda index: index["runs"][0].update(files=[".png"]),
        lambda index: index["runs"][0].update(stem=""),
        lambda index: index["runs"][0].update(stem="../x"),
        lambda index: index["runs"][0].update(stem="a\0b"),
        lambda index: index["runs"][0].update(stem="a" * 400),
        lambda index: index["runs"][0].update(month=None),
        lambda index: index["runs"][0].pop("name"),
        lambda index: index["runs"][0]["files"].pop(".png"),
        told_as_picture(GARBAGE),
        told_as_picture(HEAD_ALONE),
        lambda index: index["runs"].append(index["runs"][0] | {"name": "gone"}),
    ],
    ids=[
        *("number", "text", "files", "no stem", "outside", "nul", "long", "no month"),
        *("no name", "picture left out", "no picture", "head of a picture", "second run"),
    ],
)
def test_a_hostile_bundle_is_rejected_and_imports_nothing(export, exports, tmp_path, forge):
    export(EXPORT_KINDS["bundle"], "zip")
    with ZipFile(tmp_path / "out.zip") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    index = json.loads(members["bundle.json"])
    forge(index)
    members["bundle.json"] = json.dumps(index).encode()
    for content in (GARBAGE, HEAD_ALONE):
        if sha256(content).hexdigest() in members["bundle.json"].decode():
            members |= {name: content for name in members if name.endswith(".png")}
    with ZipFile(tmp_path / "bad.zip", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(StoreError):
        exports.open_bundle(tmp_path / "bad.zip", tmp_path / "other")
    assert not [path for path in (tmp_path / "other").rglob("*") if path.is_file()]


def test_a_damaged_bundle_imports_nothing(export, exports, tmp_path):
    content = bytearray(export(EXPORT_KINDS["bundle"], "zip"))
    content[len(content) // 2] ^= 1
    (tmp_path / "bad.zip").write_bytes(content)
    with pytest.raises(StoreError, match="damaged"):
        exports.open_bundle(tmp_path / "bad.zip", tmp_path / "other")
