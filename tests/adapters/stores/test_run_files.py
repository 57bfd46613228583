"""A run on disk is whole, checked, and the same as when it was drawn."""

import json
import os
import shutil
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from spatialstudio.adapters.metadata.picture_texts import XMP
from spatialstudio.adapters.stores import judgement, run_files
from spatialstudio.adapters.stores.run_files import RunFiles
from spatialstudio.adapters.stores.sidecar import read_listing, read_sidecar
from spatialstudio.application.flow.store_run import store_run
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.library import Marks
from spatialstudio.domain.record import Reproduction, Sameness
from tests.comparing import to_the_bit
from tests.strategies import evaluations, finished_runs

GOLDEN = Path(__file__).parents[2] / "golden"
MARKS = Marks(stars=4, tags=("draft", "für später"), note="nice\ncat")
NEAR = Reproduction(
    sameness=Sameness.CLOSE, mean_difference=0.25, largest_difference=2, reasons=("device",)
)


def visible(folder):
    return sorted(path.name for path in folder.iterdir())


def damage(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_a_run_is_three_files_of_one_name(picture):
    assert {path.suffix for path in picture.parent.iterdir()} == {".png", ".strace", ".json"}
    assert {path.stem for path in picture.parent.iterdir()} == {picture.stem}
    assert picture.stem.endswith("_a-cat-left-of-a-dog_7")


def test_any_program_can_show_the_picture(picture, events):
    with Image.open(picture) as shown:
        assert np.array_equal(np.asarray(shown), events[-1].image)


@pytest.mark.parametrize("suffix", [".png", ".strace", ".json", ""])
def test_a_run_reopens_from_any_of_its_files_and_from_its_folder(picture, events, suffix):
    path = picture.with_suffix(suffix) if suffix else picture.parent
    _, replayed = RunFiles().load(path)
    assert [to_the_bit(event) for event in replayed] == [to_the_bit(event) for event in events]


def test_a_trace_alone_replays_the_run(picture, events):
    picture.unlink()
    picture.with_suffix(".json").unlink()
    record, replayed = RunFiles().load(picture.with_suffix(".strace"))
    assert to_the_bit(replayed) == to_the_bit(events)
    assert record.evaluation is None


def test_a_reopened_run_has_the_same_request_and_evaluation(picture, request_, evaluation):
    record, _ = RunFiles().load(picture)
    assert record.request == request_
    assert to_the_bit(record.evaluation) == to_the_bit(evaluation)


@given(run=finished_runs(), evaluation=st.none() | evaluations)
@settings(
    max_examples=settings.default.max_examples // 2,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_every_run_reopens_as_it_was_stored(tmp_path, run, evaluation):
    request, events = run
    picture = store_run(request, events, evaluation, RunFiles(), tmp_path)
    record, replayed = RunFiles().load(picture)
    assert to_the_bit(record.request) == to_the_bit(request)
    assert to_the_bit(record.evaluation) == to_the_bit(evaluation)
    assert to_the_bit(replayed) == to_the_bit(events)
    assert "metadata" not in {fault.part for fault in RunFiles().verify(picture)}


def test_runs_of_one_name_are_all_kept(tmp_path, picture):
    record, events = RunFiles().load(picture)
    names = [RunFiles().save(record, events, tmp_path).stem for _ in range(2)]
    assert names == [f"{record.id}_2", f"{record.id}_3"]


def test_a_name_is_free_only_when_no_file_has_it(picture):
    record, events = RunFiles().load(picture)
    picture.unlink()
    assert RunFiles().save(record, events, picture.parent).stem == f"{record.id}_2"


def test_a_judged_run_tells_its_verdicts_beside_and_in_the_picture(
    tmp_path, request_, events, evaluation
):
    picture = store_run(request_, events, None, RunFiles(), tmp_path)
    RunFiles().mark(picture, MARKS)
    RunFiles().note_repetition(picture, NEAR)
    RunFiles().judge(picture, evaluation)
    record, replayed = RunFiles().load(picture)
    assert to_the_bit(record.evaluation) == to_the_bit(evaluation)
    assert to_the_bit(replayed) == to_the_bit(events)
    assert RunFiles().marks(picture) == MARKS
    beside = picture.with_suffix(".json")
    assert read_listing(beside.read_bytes(), beside.name).repetition == NEAR
    with Image.open(picture) as shown:
        assert json.loads(shown.text["spatial_studio"])["verdicts"]["r1"]["outcome"] == "PASS"


def test_marks_are_kept_without_touching_the_evaluation(picture, evaluation):
    RunFiles().mark(picture, MARKS)
    assert RunFiles().marks(picture) == MARKS
    assert to_the_bit(RunFiles().load(picture)[0].evaluation) == to_the_bit(evaluation)


def test_marks_make_a_new_sidecar_when_it_was_deleted(picture):
    picture.with_suffix(".json").unlink()
    RunFiles().mark(picture, MARKS)
    assert RunFiles().marks(picture) == MARKS


def test_a_sound_run_has_no_faults(picture):
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
def test_what_was_changed_is_named(picture, suffix, spoil, parts):
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
def test_a_forged_evaluation_is_noticed(picture, forge):
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
def test_a_forged_summary_is_noticed(picture, forge):
    change_sidecar(picture, lambda plain: forge(plain["summary"]))
    assert [fault.part for fault in RunFiles().verify(picture)] == ["evaluation"]


def test_a_run_that_is_not_there_is_called_by_the_name_asked_for(tmp_path):
    with pytest.raises(StudioError, match=r'There is no file ".*nope\.png"'):
        RunFiles().load(tmp_path / "nope.png")


def test_a_missing_evaluation_is_called_by_its_name(picture):
    picture.with_suffix(".json").unlink()
    [fault] = RunFiles().verify(picture)
    assert fault.message == f'The evaluation "{picture.stem}.json" is missing.'


def test_a_forged_verdict_is_noticed_in_runs_of_earlier_versions(picture, monkeypatch):
    record, events = RunFiles().load(picture)
    monkeypatch.setattr(run_files, "_hashes", lambda *_: {})
    older = RunFiles().save(record, events, picture.parent)
    assert RunFiles().verify(older) == ()
    change_sidecar(older, lambda plain: plain["evaluation"]["verdicts"][0].update(outcome="FAIL"))
    assert [fault.part for fault in RunFiles().verify(older)] == ["evaluation"]


def test_a_sound_trace_that_is_another_is_noticed(picture):
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
def test_what_a_picture_tells_otherwise_than_its_trace_is_named(picture, forge, named):
    retold(picture, forge)
    [fault] = RunFiles().verify(picture)
    assert fault.part == "metadata"
    assert {*fault.message.rpartition(": ")[2].rstrip(".").split(", ")} == {*named.split(", ")}


def test_forged_parameters_and_a_taken_mark_are_named(picture):
    retold(picture, parameters="a horse\nSteps: 3, Sampler: x, Seed: 99", **{XMP: "<x/>"})
    [fault] = RunFiles().verify(picture)
    assert fault.message.endswith("tells otherwise than its trace: parameters, XMP.")


def test_an_environment_that_cannot_be_read_is_a_fault(picture):
    retold(picture, lambda told: told.update(environment=7))
    [fault] = RunFiles().verify(picture)
    assert fault.part == "metadata"


def test_a_run_without_the_mark_is_as_sound(tmp_path, request_, events):
    picture = store_run(request_, events, None, RunFiles(), tmp_path, is_marked=False)
    assert RunFiles().verify(picture) == ()


FORGED = {"sameness": "same", "mean_difference": 0.0, "largest_difference": 0, "reasons": []}


@pytest.mark.parametrize("was_compared", [False, True])
def test_a_forged_comparison_is_noticed(picture, was_compared):
    if was_compared:
        RunFiles().note_repetition(picture, NEAR)
    change_sidecar(picture, lambda plain: plain.update(repetition=FORGED))
    [fault] = RunFiles().verify(picture)
    assert (fault.part, fault.message) == (
        "evaluation",
        f'The comparison in "{picture.stem}.json" is not the one that the picture tells.',
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


def test_the_first_files_of_this_schema_are_compared_and_judged_as_those_of_today(
    first, evaluation
):
    RunFiles().note_repetition(first, NEAR)
    assert RunFiles().verify(first) == ()
    change_sidecar(first, lambda plain: plain.update(repetition=FORGED))
    assert [fault.part for fault in RunFiles().verify(first)] == ["evaluation"]
    RunFiles().judge(first, evaluation)
    assert RunFiles().verify(first) == ()


def test_marks_and_a_new_verdict_leave_a_run_sound(picture, evaluation):
    RunFiles().mark(picture, MARKS)
    RunFiles().note_repetition(picture, NEAR)
    assert RunFiles().verify(picture) == ()
    RunFiles().judge(picture, replace(evaluation, seconds=9.0))
    assert RunFiles().verify(picture) == ()


class SuddenEnd(BaseException):
    """Stands for a program that is killed."""


@pytest.mark.parametrize(
    ("moment", "is_kept"),
    [(".judged", False), (".png", False), ("rename", True)],
    ids=["before anything", "before the picture", "after the picture"],
)
def test_a_judgement_cut_short_leaves_a_sound_run(
    picture, evaluation, monkeypatch, moment, is_kept
):
    write = judgement.write_whole

    def write_until(path, content):
        if path.suffix == moment:
            raise SuddenEnd
        write(path, content)

    def end(*_):
        raise SuddenEnd

    with monkeypatch.context() as patch:
        patch.setattr(judgement, "write_whole", write_until)
        if moment == "rename":
            patch.setattr(judgement, "_rename", end)
        with pytest.raises(SuddenEnd):
            RunFiles().judge(picture, replace(evaluation, seconds=9.0))
    assert RunFiles().verify(picture) == ()
    seconds = RunFiles().load(picture)[0].evaluation.seconds
    assert seconds == (9.0 if is_kept else evaluation.seconds)
    assert {path.suffix for path in picture.parent.iterdir()} == {".png", ".strace", ".json"}


def test_a_library_finishes_a_judgement_when_it_opens(picture, evaluation, monkeypatch, tmp_path):
    with monkeypatch.context() as patch:
        patch.setattr(judgement, "_rename", lambda *_: None)
        RunFiles().judge(picture, replace(evaluation, seconds=9.0))
    judgement.settle_judgements(picture.parent)
    beside = picture.with_suffix(".json")
    assert read_sidecar(beside.read_bytes(), beside.name).evaluation.seconds == 9.0


@pytest.mark.parametrize("suffix", [".png", ".strace", ".json"])
def test_a_truncated_file_is_noticed(picture, suffix):
    os.truncate(picture.with_suffix(suffix), 20)
    with pytest.raises(StudioError) as caught:
        RunFiles().load(picture)
    assert caught.value.hint


def rewritten(path, name, content):
    """Put another member into a trace."""
    with ZipFile(path) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    buffer = BytesIO()
    with ZipFile(buffer, "w") as archive:
        for member, data in (members | {name: content}).items():
            archive.writestr(member, data)
    path.write_bytes(buffer.getvalue())


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("format.json", b'{"format": "spatialstudio-trace", "version": 99}', "by a newer Spatial"),
        ("format.json", b'{"format": "other", "version": 1}', "is no trace"),
        ("format.json", b"[]", "is no trace"),
        ("run.json", b"{}", "is missing"),
        ("run.json", b"[" * 100_000, "is damaged"),
        ("maps.npz", b"", '"maps.npz" in the trace .* is damaged'),
        ("previews/0000.webp", b"", "0000.webp.* is damaged"),
        ("picture.webp", b"", "picture in the trace .* is damaged"),
    ],
)
def test_a_spoilt_member_of_the_trace_is_named(picture, name, content, message):
    rewritten(picture.with_suffix(".strace"), name, content)
    with pytest.raises(StudioError, match=message) as caught:
        RunFiles().load(picture)
    assert caught.value.hint


def test_a_folder_without_a_run_is_told(tmp_path):
    with pytest.raises(StudioError, match="holds no complete run"):
        RunFiles().load(tmp_path)


def test_a_file_of_another_kind_belongs_to_no_run(tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(StudioError, match="belongs to no run"):
        RunFiles().load(tmp_path / "notes.txt")


def test_a_file_is_no_folder_for_runs(tmp_path, picture):
    record, events = RunFiles().load(picture)
    (tmp_path / "file").write_text("taken")
    with pytest.raises(StudioError, match="is not a folder") as caught:
        RunFiles().save(record, events, tmp_path / "file")
    assert caught.value.hint


def test_a_folder_is_made_ready_before_work_is_spent(tmp_path):
    RunFiles().prepare(tmp_path / "new" / "runs")
    assert visible(tmp_path / "new" / "runs") == []


def test_a_folder_that_cannot_be_written_is_told_at_once(tmp_path):
    (tmp_path / "file").write_text("taken")
    with pytest.raises(StudioError, match="is not a folder"):
        RunFiles().prepare(tmp_path / "file" / "runs")


@contextmanager
def tiny_disk():
    """Let no file grow beyond 500 bytes, as if the disk were full; nor pytest's, so be brief."""
    resource = pytest.importorskip("resource")
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)


def test_nothing_half_written_is_left_when_the_disk_is_full(tmp_path, picture):
    record, events = RunFiles().load(picture)
    with tiny_disk(), pytest.raises(StudioError, match="is full") as caught:
        RunFiles().save(replace(record, evaluation=None), events, tmp_path / "full")
    assert caught.value.hint == "Free some space or choose a folder on another disk."
    assert visible(tmp_path / "full") == []
