"""Changes in any file of a run are detected and named."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from spatialstudio.adapters.storage.metadata.picture_texts import XMP
from spatialstudio.adapters.storage.stores import run_files
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.storage.run_writer import store_run
from spatialstudio.domain.attention import Moment
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.generation import StepEvent, moment_read
from spatialstudio.domain.library import Marks
from tests.adapters.storage.stores.conftest import MARKS, NEAR, rewritten
from tests.comparing import to_the_bit

GOLDEN = Path(__file__).parents[3] / "golden"


def damage(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_an_unchanged_run_has_no_faults(picture):
    assert RunFiles().verify(picture) == ()


def paint_over(path):
    with Image.open(path) as image:
        pixels = np.array(image)
    pixels[0, 0] ^= 255
    Image.fromarray(pixels).save(path)


@pytest.mark.parametrize(
    ("suffix", "spoil", "parts"),
    [
        (".strace", damage, {"trace"}),
        (".strace", os.unlink, {"trace"}),
        (".png", os.unlink, {"picture"}),
        (".png", paint_over, {"picture", "evaluation", "metadata"}),
        (".json", os.unlink, {"evaluation"}),
        (".json", lambda path: path.write_text("{}"), {"evaluation"}),
    ],
    ids=["bit", "no trace", "no picture", "painted", "no evaluation", "empty evaluation"],
)
def test_changed_parts_are_named(picture, suffix, spoil, parts):
    spoil(picture.with_suffix(suffix))
    assert {fault.part for fault in RunFiles().verify(picture)} == parts


def change_sidecar(picture, change):
    path = picture.with_suffix(".json")
    plain = json.loads(path.read_text())
    change(plain)
    path.write_text(json.dumps(plain))


@pytest.mark.parametrize(
    "forge",
    [
        lambda plain: plain["evaluation"]["verdicts"][0].update(outcome="FAIL"),
        lambda plain: plain["evaluation"]["verdicts"][0].update(about=["m1"]),
        lambda plain: plain.update(evaluation=None),
    ],
    ids=["outcome", "what no record tells", "taken away"],
)
def test_a_forged_evaluation_is_detected(picture, forge):
    change_sidecar(picture, forge)
    assert [fault.part for fault in RunFiles().verify(picture)] == ["evaluation"]


@pytest.mark.parametrize(
    "forge",
    [
        lambda summary: summary["claims"][0].update(outcome="FAIL"),
        lambda summary: summary.update(claims=[]),
        lambda summary: summary.update(seed=99),
        lambda summary: summary.update(prompt="a dog left of a cat"),
    ],
    ids=["outcome", "no claims", "seed", "prompt"],
)
def test_a_forged_summary_is_detected(picture, forge):
    change_sidecar(picture, lambda plain: forge(plain["summary"]))
    assert [fault.part for fault in RunFiles().verify(picture)] == ["evaluation"]


@pytest.mark.parametrize(
    "forge",
    [
        lambda plain: plain.update(arrays="\ud800"),
        lambda plain: plain["summary"].update(strength=float("nan")),
        lambda plain: plain["summary"].update(created="0001-01-01T00:00:00+14:00"),
    ],
    ids=["no letters of arrays", "no number of JSON", "before all years"],
)
def test_an_unreadable_evaluation_is_a_fault(picture, forge):
    change_sidecar(picture, forge)
    assert [fault.part for fault in RunFiles().verify(picture)] == ["evaluation"]


def test_marks_are_not_stored_next_to_an_infinite_number(picture):
    sidecar = picture.with_suffix(".json")
    change_sidecar(picture, lambda plain: plain["evaluation"].update(odd=12345.5))
    sidecar.write_text(sidecar.read_text().replace("12345.5", "1e999"))
    with pytest.raises(StoreError, match="is damaged"):
        RunFiles().mark(picture, Marks(stars=2))


def test_a_missing_evaluation_is_named(picture):
    picture.with_suffix(".json").unlink()
    [fault] = RunFiles().verify(picture)
    assert fault.message == f'The evaluation "{picture.stem}.json" is missing.'


def test_a_forged_verdict_is_detected_in_runs_of_earlier_versions(picture, monkeypatch):
    record, events = RunFiles().load(picture)
    monkeypatch.setattr(run_files, "_hashes", lambda *_: {})
    older = RunFiles().save(record, events, picture.parent)
    assert RunFiles().verify(older) == ()
    change_sidecar(older, lambda plain: plain["evaluation"]["verdicts"][0].update(outcome="FAIL"))
    assert [fault.part for fault in RunFiles().verify(older)] == ["evaluation"]


def test_the_trace_of_another_run_is_detected(picture):
    with ZipFile(picture.with_suffix(".strace")) as archive:
        record = archive.read("run.json")
    forged = record.replace(b'"seconds": 1.5', b'"seconds": 0.5')
    rewritten(picture.with_suffix(".strace"), "run.json", forged)
    assert [fault.part for fault in RunFiles().verify(picture)] == ["trace"]


def retold(path, change_record=None, **texts):
    """Let the texts in a picture tell something else, its pixels as they are."""
    with Image.open(path) as image:
        pixels, told = np.array(image), dict(image.text)
    if change_record:
        record = json.loads(told["spatial_studio"])
        change_record(record)
        told["spatial_studio"] = json.dumps(record)
    chunks = PngInfo()
    for name, text in (told | texts).items():
        chunks.add_itxt(name, text)
    Image.fromarray(pixels).save(path, pnginfo=chunks)


@pytest.mark.parametrize(
    ("forge", "named"),
    [
        (lambda told: told["environment"].update(device="tpu"), "environment.device"),
        (
            lambda told: told["environment"]["setup"].update(weights_sha256="f" * 64),
            "environment.setup.weights_sha256",
        ),
        (lambda told: told["environment"].update(code_sha256="f" * 64), "environment.code_sha256"),
        (lambda told: told["pos"]["r1"].update(last=0.99), "pos.r1.last"),
        (lambda told: told["pos"].clear(), "pos, pos.r1.first, pos.r1.last, pos.r1.best"),
        (lambda told: told["relations"][0].update(origin="hand"), "relations.0.origin"),
        (lambda told: told["picture"].update(width=512), "picture.width"),
        (lambda told: told.update(app="9.9"), "app"),
        (lambda told: told.pop("picture"), "picture.height, picture.width"),
        (lambda told: told.update(praise="best"), "praise"),
    ],
)
def test_differences_between_picture_and_trace_are_named(picture, forge, named):
    retold(picture, forge)
    [fault] = RunFiles().verify(picture)
    assert fault.part == "metadata"
    assert {*fault.message.rpartition(": ")[2].rstrip(".").split(", ")} == {*named.split(", ")}


def test_forged_parameters_and_a_removed_mark_are_named(picture):
    retold(picture, parameters="a horse\nSteps: 3, Sampler: x, Seed: 99", **{XMP: "<x/>"})
    [fault] = RunFiles().verify(picture)
    assert fault.message.endswith("differs from its trace: parameters, XMP.")


def test_an_unreadable_environment_is_a_fault(picture):
    retold(picture, lambda told: told.update(environment=7))
    [fault] = RunFiles().verify(picture)
    assert fault.part == "metadata"


def test_a_run_without_the_mark_has_no_faults(tmp_path, request_, events):
    picture = store_run(request_, events, None, RunFiles(), tmp_path, is_marked=False)
    assert RunFiles().verify(picture) == ()


FORGED = {"sameness": "same", "mean_difference": 0.0, "largest_difference": 0, "reasons": []}


@pytest.mark.parametrize("was_compared", [False, True])
def test_a_forged_comparison_is_detected(picture, was_compared):
    if was_compared:
        RunFiles().note_repetition(picture, NEAR)
    change_sidecar(picture, lambda plain: plain.update(repetition=FORGED))
    [fault] = RunFiles().verify(picture)
    assert (fault.part, fault.message) == (
        "evaluation",
        f'The comparison in "{picture.stem}.json" does not match '
        "the hash in the picture's metadata.",
    )


def test_judging_does_not_confirm_a_forged_comparison(picture, evaluation):
    change_sidecar(picture, lambda plain: plain.update(repetition=FORGED))
    RunFiles().judge(picture, evaluation)
    assert json.loads(picture.with_suffix(".json").read_text())["repetition"] is None
    assert RunFiles().verify(picture) == ()


def test_comparing_does_not_confirm_a_forged_verdict(picture):
    change_sidecar(picture, lambda p: p["evaluation"]["verdicts"][0].update(outcome="FAIL"))
    RunFiles().note_repetition(picture, NEAR)
    assert [fault.part for fault in RunFiles().verify(picture)] == ["evaluation"]


@pytest.fixture
def first(tmp_path):
    """Files of this schema as the first program wrote them, whose pictures told of no hashes."""
    copied = shutil.copytree(GOLDEN / "first_run_files", tmp_path / "first")
    (picture,) = copied.glob("*.png")
    return picture


def test_the_first_files_of_this_schema_still_open(first, evaluation, scene):
    record, events = RunFiles().load(first)
    assert record.request.scene == scene
    assert to_the_bit(record.evaluation.verdicts) == to_the_bit(evaluation.verdicts)
    assert [type(event).__name__ for event in events[1:-1]] == ["StepEvent"] * 2
    assert RunFiles().marks(first) == Marks(stars=4, tags=("draft",), note="nice")
    assert RunFiles().verify(first) == ()


def test_a_trace_of_version_2_is_read_as_before_its_updates(first):
    with ZipFile(first.with_suffix(".strace")) as archive:
        assert json.loads(archive.read("format.json"))["version"] == 2
    _, events = RunFiles().load(first)
    steps = [event for event in events if isinstance(event, StepEvent)]
    assert steps[0].is_guided
    assert steps[0].attention_at(Moment.BEFORE) is not None
    assert steps[0].attention_at(Moment.AFTER) is None
    assert moment_read(steps, Moment.AFTER) is Moment.BEFORE


def test_the_first_files_of_this_schema_are_compared_and_judged_like_current_ones(
    first, evaluation
):
    RunFiles().note_repetition(first, NEAR)
    assert RunFiles().verify(first) == ()
    change_sidecar(first, lambda plain: plain.update(repetition=FORGED))
    assert [fault.part for fault in RunFiles().verify(first)] == ["evaluation"]
    RunFiles().judge(first, evaluation)
    assert RunFiles().verify(first) == ()


def test_marks_and_a_new_verdict_cause_no_faults(picture, evaluation):
    RunFiles().mark(picture, MARKS)
    RunFiles().note_repetition(picture, NEAR)
    assert RunFiles().verify(picture) == ()
    RunFiles().judge(picture, replace(evaluation, seconds=9.0))
    assert RunFiles().verify(picture) == ()
