"""Results are complete or absent, never replace files by default, and never their source."""

import json
import os
import shutil
import signal
import subprocess
import sys
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from spatialstudio.adapters.durable_files import write_whole, written_together
from spatialstudio.adapters.exports.exporter import FileExporter
from spatialstudio.adapters.storage.records.spatialbench_uc import SpatialBenchRuns
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.evaluate.recorded_runs import judge_records
from spatialstudio.application.gallery.exports import ExportOrder, Exports
from spatialstudio.application.paths import resources_folder
from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.cli.answer_file import AnswerFile
from spatialstudio.domain.errors import (
    ExportError,
    StoreError,
    TargetExists,
)
from tests.cli import conftest as cli
from tests.security.harness import ROOT, fingerprint

GOLDEN = Path(__file__).parents[1] / "golden"
RECORDS = GOLDEN / "spatialbench_run"
RUNS = SpatialBenchRuns(resources_folder())
OVERWRITE = ExportOrder(overwrite=True)
PROMPT = "a photo of a dog to the left of a car"

registry, terminal = cli.registry, cli.terminal


@pytest.fixture
def exports():
    resources = resources_folder()
    return Exports(store=RunFiles(), exporter=FileExporter(resources), themes=resources / "themes")


@pytest.fixture
def picture(tmp_path):
    """A stored run."""
    record, events = RunFiles().load(GOLDEN / "run_of_schema_1")
    return RunFiles().save(record, events, tmp_path / "library")


def usual(kind):
    return kind.formats[0]


# Nothing is replaced without being told to.

CHEAP = (
    EXPORT_KINDS["picture"],
    EXPORT_KINDS["table"],
    EXPORT_KINDS["masks"],
    EXPORT_KINDS["arrays"],
)
"""One kind of each way to be written: a file a run, a file of many, pictures, numbers."""


@pytest.mark.parametrize("kind", CHEAP, ids=lambda kind: kind.id)
def test_an_export_overwrites_nothing_by_default(exports, picture, tmp_path, kind):
    target = tmp_path / f"taken.{usual(kind)}"
    target.write_text("mine")
    with pytest.raises(TargetExists, match="taken"):
        exports.export([picture], kind, target)
    assert target.read_text() == "mine"
    assert exports.export([picture], kind, target, None, OVERWRITE) == (target,)
    assert target.read_bytes() != b"mine"


def test_a_dangling_link_counts_as_an_existing_file(exports, picture, tmp_path):
    target = tmp_path / "link.csv"
    target.symlink_to(tmp_path / "elsewhere.csv")
    with pytest.raises(TargetExists):
        exports.export([picture], EXPORT_KINDS["table"], target)
    assert not (tmp_path / "elsewhere.csv").exists()


def test_the_target_of_a_link_is_never_written(exports, picture, tmp_path, bystander):
    target = tmp_path / "link.csv"
    target.symlink_to(bystander / "keep.txt")
    exports.export([picture], EXPORT_KINDS["table"], target, None, OVERWRITE)
    assert not target.is_symlink()


def test_special_files_are_not_replaced(exports, picture, tmp_path):
    target = tmp_path / "odd.png"
    os.mkfifo(target)
    with pytest.raises(StoreError, match="is not a file"):
        exports.export([picture], EXPORT_KINDS["picture"], target, None, OVERWRITE)
    assert target.is_fifo()


def write_late(folder, name):
    """Write a set while another program takes the name."""
    with written_together(folder) as write:
        write(name, b"new")
        (folder / name).write_text("theirs")


def test_a_file_that_appears_while_the_export_is_made_is_not_replaced(tmp_path):
    target = tmp_path / "result.txt"
    with pytest.raises(TargetExists):
        write_late(tmp_path, target.name)
    assert target.read_text() == "theirs"
    with pytest.raises(TargetExists):
        write_whole(target, b"new", overwrite=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["result.txt"]


# A result is never written over its source.


def links_to(source, folder):
    """Return names that lead to a file: spelled otherwise, by link, and by hard link."""
    soft, hard = folder / "soft.png", folder / "hard.png"
    soft.symlink_to(source)
    os.link(source, hard)
    detour = source.parent / ".." / source.parent.name / source.name
    return {"itself": source, "detour": detour, "soft": soft, "hard": hard}


@pytest.mark.parametrize("way", ["itself", "detour", "soft", "hard"])
@pytest.mark.parametrize(
    "kind", [EXPORT_KINDS["picture"], EXPORT_KINDS["clean"], EXPORT_KINDS["annotated"]]
)
def test_a_picture_is_not_written_over_its_run(exports, picture, tmp_path, way, kind):
    target = links_to(picture, tmp_path)[way]
    before = fingerprint(tmp_path)
    with pytest.raises(ExportError, match="never overwritten"):
        exports.export([picture], kind, target, None, OVERWRITE)
    assert fingerprint(tmp_path) == before


def test_masks_are_not_written_over_the_sidecar_of_a_run(exports, picture, tmp_path):
    sidecar = picture.with_suffix(".json")
    sidecar.write_text("{}")
    with pytest.raises(ExportError, match="never overwritten"):
        exports.export(
            [picture.with_suffix(".strace")], EXPORT_KINDS["masks"], sidecar, None, OVERWRITE
        )
    assert sidecar.read_text() == "{}"


def test_a_run_of_the_old_schema_is_not_written_over(exports, tmp_path):
    old = tmp_path / "old"
    shutil.copytree(GOLDEN / "run_of_schema_1", old)
    before = fingerprint(old)
    for name, kind in (("run.json", EXPORT_KINDS["masks"]), ("trace.npz", EXPORT_KINDS["arrays"])):
        with pytest.raises(ExportError, match="never overwritten"):
            exports.export([old], kind, old / name, None, OVERWRITE)
    assert fingerprint(old) == before


@pytest.mark.parametrize("way", ["itself", "detour", "through", "hard"])
def test_records_are_not_judged_into_their_own_folder(tmp_path, way):
    source = tmp_path / "run"
    shutil.copytree(RECORDS, source)
    evaluation = source / "eval"
    target = {
        "itself": evaluation,
        "detour": source / "eval_precal" / ".." / "eval",
        "through": tmp_path / "linked",
        "hard": tmp_path / "hard",
    }[way]
    (tmp_path / "linked").symlink_to(evaluation)
    (tmp_path / "hard").mkdir()
    os.link(evaluation / "per_sample.jsonl", tmp_path / "hard" / "per_sample.jsonl")
    before = fingerprint(tmp_path)
    with pytest.raises(ExportError, match="never overwritten"):
        judge_records(RUNS, source, target, overwrite=True)
    assert fingerprint(tmp_path) == before


# Sets are complete or absent.


def test_nothing_of_a_set_appears_before_all_of_it(exports, picture, tmp_path, monkeypatch):
    out = tmp_path / "out"
    made = []
    make = exports.exporter.make

    def fail_at_the_second(runs, kind, look, ending):
        made.append(runs)
        assert not out.exists()
        if len(made) == 2:
            raise ExportError("It cannot be made.")
        return make(runs, kind, look, ending)

    monkeypatch.setattr(exports.exporter, "make", fail_at_the_second)
    order = ExportOrder(into_folder=True)
    before = fingerprint(tmp_path)
    with pytest.raises(ExportError):
        exports.export(
            [picture, GOLDEN / "run_of_schema_1"], EXPORT_KINDS["picture"], out, None, order
        )
    assert fingerprint(tmp_path) == before


NAMES = ("a", "b", "c")


def write_over(folder):
    with written_together(folder, overwrite=True) as write:
        for name in NAMES:
            write(name, b"new")


@pytest.mark.parametrize("step", range(5))
def test_a_set_that_cannot_be_placed_leaves_the_old_one(tmp_path, monkeypatch, step):
    for name in NAMES:
        (tmp_path / name).write_text("old")
    rename, link, calls = Path.rename, Path.hardlink_to, count()

    def fail_once(work):
        def call(*arguments):
            if next(calls) == step:
                raise KeyboardInterrupt
            return work(*arguments)

        return call

    monkeypatch.setattr(Path, "rename", fail_once(rename))
    monkeypatch.setattr(Path, "hardlink_to", fail_once(link))
    with pytest.raises(KeyboardInterrupt):
        write_over(tmp_path)
    left = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert left == dict.fromkeys(NAMES, "old")


KILLED = """
import os, signal
from pathlib import Path
from spatialstudio.adapters import durable_files
calls = [0]

def counted(work):
    def call(*arguments, **options):
        calls[0] += 1
        if calls[0] > {count}:
            os.kill(os.getpid(), signal.SIGKILL)
        return work(*arguments, **options)
    return call

for name in ("rename", "replace", "hardlink_to"):
    setattr(Path, name, counted(getattr(Path, name)))
durable_files.write_synced = counted(durable_files.write_synced)
from spatialstudio.__main__ import main
import sys
sys.argv = ["spatialstudio", *{words!r}]
sys.exit(main())
"""


def killed_after(steps, words, folder):
    """Run a command that is killed at its n-th step on files; say whether it was."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", KILLED.format(count=steps, words=words)],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "SPATIAL_STUDIO_HOME": str(folder / "home"),
            "QT_QPA_PLATFORM": "offscreen",
        },
        capture_output=True,
        timeout=120,
        check=False,
    )
    return done.returncode == -signal.SIGKILL


@pytest.mark.parametrize("steps", [0, 3, 8])
def test_killing_the_evaluation_of_records_leaves_no_partial_report(tmp_path, steps):
    assert killed_after(steps, ["judge-records", str(RECORDS), "--out", "judged"], tmp_path)
    assert not (tmp_path / "judged").exists()


def test_a_killed_evaluation_resumes(tmp_path):
    rows = [{"picture": f"{n}.png", "prompt": "p", "error": None} for n in range(3)]
    path = tmp_path / "answers.jsonl"
    first = AnswerFile(path)
    first.begin()
    first.add(rows[0])
    first.add(rows[1])
    part = tmp_path / "answers.jsonl.part"
    assert not path.exists()
    part.write_text(part.read_text() + '{"picture": "cut')
    second = AnswerFile(path)
    assert list(second.rows) == rows[:2]
    second.begin()
    second.add(rows[2])
    second.finish()
    assert [json.loads(line) for line in path.read_text().splitlines()] == rows
    assert sorted(p.name for p in tmp_path.iterdir()) == ["answers.jsonl"]


# The terminal.

BY = ("--detector", "sticker-segmenter")


@pytest.fixture
def pictures(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for name in ("a.png", "b.png"):
        Image.fromarray(np.full((16, 16, 3), 128, np.uint8)).save(folder / name)
    return folder


def taken(done, path, content="mine"):
    assert done.code == 2
    assert "already exists" in done.err
    assert "--overwrite" in done.err
    assert path.read_text() == content


def test_commands_overwrite_nothing_without_the_option(terminal, tmp_path, pictures):
    path = tmp_path / "taken.jsonl"
    path.write_text("mine")
    taken(terminal("benchmark-prompts", "--out", path), path)
    judge = ("evaluate", pictures, "--prompt", PROMPT, *BY, "--out", path)
    taken(terminal(*judge), path)
    assert terminal(*judge, "--overwrite").code == 0
    assert len(path.read_text().splitlines()) == 2
    assert terminal("benchmark-prompts", "--out", path, "--overwrite").code == 0
    assert len(path.read_text().splitlines()) == 200
    words = ("judge-records", RECORDS, "--out", tmp_path / "judged")
    assert terminal(*words).code == 0
    (tmp_path / "judged" / "metrics.json").write_text("mine")
    (tmp_path / "judged" / "notes.txt").write_text("mine")
    taken(terminal(*words), tmp_path / "judged" / "metrics.json")
    assert terminal(*words, "--overwrite").code == 0
    assert (tmp_path / "judged" / "metrics.json").read_text() != "mine"
    assert (tmp_path / "judged" / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("source", ["a.png", "prompts.csv", "link.png"])
def test_results_are_not_written_over_the_judged_pictures(terminal, tmp_path, pictures, source):
    prompts = pictures / "prompts.csv"
    prompts.write_text(f'picture,prompt\na.png,"{PROMPT}"\n')
    (pictures / "link.png").symlink_to(pictures / "b.png")
    before = fingerprint(pictures)
    words = ("evaluate", pictures, "--prompts", prompts, "--out", pictures / source)
    done = terminal(*words, "--overwrite")
    assert done.code == 1
    assert "never overwritten" in done.err
    assert fingerprint(pictures) == before


def test_existing_results_are_kept(terminal, tmp_path, pictures):
    path = tmp_path / "answers.jsonl"
    for name in ("a.png", "b.png"):
        words = ("evaluate", pictures / name, "--prompt", PROMPT, *BY, "--out", path)
        assert terminal(*words).code == 0
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [Path(row["picture"]).name for row in rows] == ["a.png", "b.png"]


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("benchmark-prompts",), "prompts.jsonl"),
        (("evaluate", "{pictures}", "--prompt", PROMPT, *BY), "answers.jsonl"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_a_name_that_ends_with_a_slash_is_a_folder(terminal, tmp_path, pictures, words, name):
    given = [word.format(pictures=pictures) for word in words]
    assert terminal(*given, "--out", f"{tmp_path}/ow/").code == 0
    assert [path.name for path in (tmp_path / "ow").iterdir()] == [name]


@pytest.mark.parametrize("kind", [*CHEAP, EXPORT_KINDS["bundle"]], ids=lambda kind: kind.id)
@pytest.mark.parametrize("folder", ["ow/", "v1.0/", "picture.png/", "there"])
def test_an_export_into_a_folder_is_named_after_its_run(terminal, picture, tmp_path, kind, folder):
    (tmp_path / "there").mkdir()
    done = terminal("runs", "export", picture, "--as", kind.id, "--out", f"{tmp_path}/{folder}")
    assert done.code == 0
    (file,) = (tmp_path / folder).iterdir()
    assert file.name == f"{picture.stem}_{kind.id}.{usual(kind)}"
    assert sorted(path.name for path in tmp_path.glob("*.*")) == [
        name for name in [folder.rstrip("/")] if "." in name
    ]


def test_two_runs_of_one_name_do_not_replace_each_other(terminal, picture, tmp_path):
    other = tmp_path / "other" / picture.name
    shutil.copytree(picture.parent, other.parent)
    words = ("runs", "export", picture, other, "--as", "picture", "--out", f"{tmp_path}/ow/")
    assert terminal(*words).code == 0
    assert len(list((tmp_path / "ow").iterdir())) == 2


def test_no_kind_of_export_replaces_anything(exports, picture, tmp_path):
    kinds = {kind: tmp_path / f"{kind.id}.{usual(kind)}" for kind in EXPORT_KINDS}
    for kind, target in kinds.items():
        target.write_text("mine")
        with pytest.raises(TargetExists):
            exports.export([picture], kind, target)
    assert {target.read_text() for target in kinds.values()} == {"mine"}
