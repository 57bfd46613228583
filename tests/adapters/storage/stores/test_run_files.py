"""A run on disk is whole, checked, and the same as when it was drawn."""

import json
import os
from contextlib import contextmanager
from dataclasses import replace
from zipfile import ZipFile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from spatialstudio.adapters.storage.stores import judgement
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.adapters.storage.stores.sidecar import read_listing, read_sidecar
from spatialstudio.application.storage.run_writer import store_run
from spatialstudio.domain.derived_requests import best_request
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.requirements import RequirementKind
from spatialstudio.domain.verdict import MentionVerdict, Outcome
from tests.adapters.storage.stores.conftest import MARKS, NEAR, rewritten
from tests.comparing import to_the_bit
from tests.strategies import evaluations, finished_runs


def visible(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_run_has_three_files_of_one_name(picture):
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
    assert to_the_bit(record.request) == to_the_bit(best_request(request, record.candidates))
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


def test_a_judged_run_has_its_verdicts_in_sidecar_and_picture(
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


def test_a_missing_run_is_named_as_requested(tmp_path):
    with pytest.raises(StudioError, match=r'There is no file ".*nope\.png"'):
        RunFiles().load(tmp_path / "nope.png")


class SuddenEnd(BaseException):
    """Stands for a program that is killed."""


@pytest.mark.parametrize(
    ("moment", "is_kept"),
    [(".judged", False), (".png", False), ("rename", True)],
    ids=["before anything", "before the picture", "after the picture"],
)
def test_an_interrupted_evaluation_leaves_a_valid_run(
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


def test_a_library_completes_an_interrupted_evaluation_when_opened(
    picture, evaluation, monkeypatch, tmp_path
):
    with monkeypatch.context() as patch:
        patch.setattr(judgement, "_rename", lambda *_: None)
        RunFiles().judge(picture, replace(evaluation, seconds=9.0))
    judgement.recover_judgements(picture.parent)
    beside = picture.with_suffix(".json")
    assert read_sidecar(beside.read_bytes(), beside.name).evaluation.seconds == 9.0


@pytest.mark.parametrize("suffix", [".png", ".strace", ".json"])
def test_a_truncated_file_is_detected(picture, suffix):
    os.truncate(picture.with_suffix(suffix), 20)
    with pytest.raises(StudioError) as caught:
        RunFiles().load(picture)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("format.json", b'{"format": "spatialstudio-trace", "version": 99}', "by a newer Spatial"),
        ("format.json", b'{"format": "other", "version": 1}', "is not a trace"),
        ("format.json", b"[]", "is not a trace"),
        ("run.json", b"{}", "is missing"),
        ("run.json", b"[" * 100_000, "is nested too deeply"),
        ("maps.npz", b"", '"maps.npz" in the trace .* is damaged'),
        ("previews/0000.webp", b"", "0000.webp.* is damaged"),
        ("picture.webp", b"", "picture in the trace .* is damaged"),
    ],
)
def test_a_corrupted_member_of_the_trace_is_named(picture, name, content, message):
    rewritten(picture.with_suffix(".strace"), name, content)
    with pytest.raises(StudioError, match=message) as caught:
        RunFiles().load(picture)
    assert caught.value.hint


@pytest.mark.parametrize("shape", [(2, 1, 3, 2, 2), (2, 2, 4, 2, 2), (2, 1, 0, 0, 0)])
def test_self_attention_of_another_shape_is_damage(picture, shape):
    file = {"layer": "mid_block.attn1", "name": "self.npy", "words": [], "shape": shape}
    list_layers(picture, "self_attention_files", [file])
    with pytest.raises(StudioError, match="self-attention of this run is damaged"):
        RunFiles().load(picture)


@pytest.mark.parametrize("field", ["attention_files", "self_attention_files"])
def test_a_layer_that_is_listed_twice_is_damage(picture, field):
    shape = (2, 1, 4, 2, 2)
    once = {"layer": "mid.attn", "name": "0.npy", "words": [], "shape": shape}
    before = once | {"name": "1.npy", "steps_before": [0, 1]}
    list_layers(picture, field, [once, before])
    RunFiles().load(picture)
    list_layers(picture, field, [once, before, once | {"name": "2.npy"}])
    with pytest.raises(StudioError, match=r'lists the layer "mid\.attn" twice') as caught:
        RunFiles().load(picture)
    assert caught.value.hint


def list_layers(picture, field, files):
    """Replace the recorded layers in a run's record."""
    trace = picture.with_suffix(".strace")
    with ZipFile(trace) as archive:
        plain = json.loads(archive.read("run.json"))
    rewritten(trace, "run.json", json.dumps(plain | {field: files}).encode())


def test_a_folder_without_a_run_is_reported(tmp_path):
    with pytest.raises(StudioError, match="contains no complete run"):
        RunFiles().load(tmp_path)


def test_a_file_of_another_kind_belongs_to_no_run(tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(StudioError, match="does not belong to a run"):
        RunFiles().load(tmp_path / "notes.txt")


@pytest.mark.parametrize("name", ["absent", "absent.txt"])
def test_a_path_that_does_not_exist_is_reported(tmp_path, name):
    with pytest.raises(StudioError, match=f'There is no file or run ".*{name}"'):
        RunFiles().load(tmp_path / name)


def test_a_file_is_rejected_as_folder_for_runs(tmp_path, picture):
    record, events = RunFiles().load(picture)
    (tmp_path / "file").write_text("taken")
    with pytest.raises(StudioError, match="is not a folder") as caught:
        RunFiles().save(record, events, tmp_path / "file")
    assert caught.value.hint


def test_a_folder_is_prepared_before_generation(tmp_path):
    RunFiles().prepare(tmp_path / "new" / "runs")
    assert visible(tmp_path / "new" / "runs") == []


def test_a_read_only_folder_is_reported_at_once(tmp_path):
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


def test_a_full_disk_leaves_no_partial_files(tmp_path, picture):
    record, events = RunFiles().load(picture)
    with tiny_disk(), pytest.raises(StudioError, match="is full") as caught:
        RunFiles().save(replace(record, evaluation=None), events, tmp_path / "full")
    assert caught.value.hint == "Free some space or choose a folder on another disk."
    assert visible(tmp_path / "full") == []


def test_counts_and_colours_are_stored_and_listed(picture, evaluation):
    mention = RunFiles().load(picture)[0].request.scene.mentions[0]
    verdict = MentionVerdict(
        mention_id=mention.id,
        kind=RequirementKind.COUNT,
        words="three",
        outcome=Outcome.FAIL,
        confidence=0.8,
        count=1,
    )
    RunFiles().judge(picture, replace(evaluation, mention_verdicts=(verdict,)))
    record, _ = RunFiles().load(picture)
    assert record.evaluation.mention_verdicts == (verdict,)
    content = picture.with_suffix(".json").read_bytes()
    claim = read_listing(content, "run").summary.claims[-1]
    assert (claim.type_id, claim.subject, claim.object) == ("count", mention.head, "three")
    assert claim.outcome is Outcome.FAIL
    RunFiles().judge(picture, evaluation)
    content = picture.with_suffix(".json").read_bytes()
    assert b"mention_verdicts" not in content
    listed = read_listing(content, "run").summary
    assert [each.type_id for each in listed.claims].count("count") == 0
