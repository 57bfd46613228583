"""A run on disk is whole, checked, and the same as when it was drawn."""

import json
import os
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from spatialstudio.adapters.stores.folder_store import RECORD, FolderStore
from spatialstudio.application.flow.store_run import store_run
from spatialstudio.domain.attention import AttentionSnapshot
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.generation import (
    GenerationFinished,
    GenerationRequest,
    GenerationStarted,
    ModelRef,
    StepEvent,
)
from spatialstudio.domain.perception import DepthMap, Mask, Perception
from spatialstudio.domain.prompt import ObjectMention, Prompt, TextSpan, TokenSpan
from spatialstudio.domain.relation import LEFT_OF, Relation, SceneGraph
from spatialstudio.domain.verdict import (
    ConfidenceComponents,
    Evaluation,
    Measurement,
    Outcome,
    Verdict,
)
from tests.comparing import to_the_bit
from tests.strategies import evaluations, finished_runs

FILES = ("picture.png", "run.json", "trace.npz", "evaluation.json", "perception.npz")
PARTS = [name for name in FILES if name != RECORD]


@pytest.fixture
def scene():
    mentions = (
        ObjectMention(id="m1", phrase="cat", head="cat", span=TextSpan(start=2, stop=5)),
        ObjectMention(id="m2", phrase="dog", head="dog", span=TextSpan(start=16, stop=19)),
    )
    claim = Relation(id="r1", type=LEFT_OF, subject="m1", object="m2")
    return SceneGraph(
        prompt=Prompt(text="a cat left of a dog"),
        mentions=mentions,
        relations=(claim,),
        extractor_id="grammar",
    )


@pytest.fixture
def request_(scene):
    return GenerationRequest(
        id="x1", scene=scene, backend_id="diffusers", model=ModelRef(id="stickers"), seed=7
    )


@pytest.fixture
def events():
    rng = np.random.default_rng(0)
    attention = AttentionSnapshot(
        maps={"m1": rng.random((4, 4), np.float32), "m2": rng.random((4, 4), np.float32)},
        layers=("down_blocks.0.attn2", "up_blocks.1.attn2"),
    )
    span = TokenSpan(mention_id="m1", encoder_id="text_encoder", indices=(2,))
    preview, image = rng.integers(0, 256, (2, 8, 8, 3), np.uint8)
    first = StepEvent(
        request_id="x1",
        step=0,
        total_steps=2,
        timestep=900.0,
        pos={"r1": np.float32(0.3)},
        guidance_loss=0.49,
        step_size=5.0,
        attention=attention,
        preview=preview,
    )
    return (
        GenerationStarted(request_id="x1", total_steps=2, token_spans=(span,), device="cpu"),
        first,
        StepEvent(request_id="x1", step=1, total_steps=2, timestep=400.0, pos={"r1": 0.8}),
        GenerationFinished(request_id="x1", image=image, seconds=1.5, peak_memory_bytes=10**9),
    )


@pytest.fixture
def evaluation():
    pixels = np.zeros((8, 8), bool)
    pixels[:4] = True
    mask = Mask(mention_id="m1", pixels=pixels, score=0.9, source_id="segmenter")
    depth = DepthMap(values=np.linspace(0, 1, 64, dtype=np.float32).reshape(8, 8), estimator_id="d")
    perception = Perception(
        image_sha256="0", height=8, width=8, detections=(), masks=(mask,), depth=depth
    )
    sure = ConfidenceComponents(detection=1.0, geometry=1.0, stability=1.0, agreement=1.0)
    measured = Measurement(delta=-0.3, margin=0.1, overlap=0.0, pos=0.97, pse=0.94)
    verdict = Verdict(
        relation_id="r1",
        outcome=Outcome.PASS,
        confidence=1.0,
        components=sure,
        measurement=measured,
    )
    return Evaluation(perception=perception, verdicts=(verdict,), seconds=0.2)


@pytest.fixture
def run_folder(tmp_path, request_, events, evaluation):
    return store_run(request_, events, evaluation, FolderStore(), tmp_path)


def visible(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_run_is_a_folder_of_plain_files(run_folder):
    assert visible(run_folder) == sorted(FILES)
    assert run_folder.name.endswith("_a-cat-left-of-a-dog_7")


def test_any_program_can_show_the_picture(run_folder, events):
    with Image.open(run_folder / "picture.png") as picture:
        assert np.array_equal(np.asarray(picture), events[-1].image)


def test_a_reopened_run_replays_the_same_events(run_folder, events):
    _, replayed = FolderStore().load(run_folder)
    assert [to_the_bit(event) for event in replayed] == [to_the_bit(event) for event in events]


def test_a_reopened_run_has_the_same_request_and_evaluation(run_folder, request_, evaluation):
    record, _ = FolderStore().load(run_folder)
    assert record.request == request_
    assert to_the_bit(record.evaluation) == to_the_bit(evaluation)


def test_the_record_names_every_file_with_its_hash(run_folder):
    record, _ = FolderStore().load(run_folder)
    steps = {record.trace[0].attention.path, record.trace[0].preview.path}
    assert steps | {artifact.path for artifact in record.artifacts} == set(PARTS)
    assert record.artifacts[0].kind == "image"
    assert record.trace[1].attention is None


@given(run=finished_runs(), evaluation=st.none() | evaluations)
@settings(
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_every_run_reopens_as_it_was_stored(tmp_path, run, evaluation):
    request, events = run
    record, replayed = FolderStore().load(
        store_run(request, events, evaluation, FolderStore(), tmp_path)
    )
    assert to_the_bit(record.request) == to_the_bit(request)
    assert to_the_bit(record.evaluation) == to_the_bit(evaluation)
    assert to_the_bit(replayed) == to_the_bit(events)


def test_what_save_returns_is_what_load_gives(tmp_path, run_folder):
    record, events = FolderStore().load(run_folder)
    saved = FolderStore().save(record, events, tmp_path / "elsewhere")
    loaded, _ = FolderStore().load(tmp_path / "elsewhere" / saved.id)
    assert to_the_bit(loaded) == to_the_bit(saved)


def test_runs_of_one_name_are_all_kept(tmp_path, run_folder):
    record, events = FolderStore().load(run_folder)
    names = [FolderStore().save(record, events, tmp_path).id for _ in range(2)]
    assert names == [f"{record.id}_2", f"{record.id}_3"]
    assert visible(tmp_path) == [record.id, *names]


@pytest.mark.parametrize("name", PARTS)
def test_a_damaged_file_is_noticed(run_folder, name):
    content = bytearray((run_folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (run_folder / name).write_bytes(content)
    with pytest.raises(StoreError, match=f'The file "{name}" of the run .* is damaged') as caught:
        FolderStore().load(run_folder)
    assert caught.value.hint


@pytest.mark.parametrize("name", FILES)
def test_a_truncated_file_is_noticed(run_folder, name):
    os.truncate(run_folder / name, 20)
    with pytest.raises(StoreError, match=name):
        FolderStore().load(run_folder)


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_noticed(run_folder, name):
    (run_folder / name).unlink()
    with pytest.raises(StoreError, match=f"holds no complete run: there is no {name}"):
        FolderStore().load(run_folder)


def edit_record(run_folder, **changes):
    path = run_folder / RECORD
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_newer_format_asks_for_an_update(run_folder):
    edit_record(run_folder, schema_version=99)
    with pytest.raises(StoreError, match="was written by a newer Spatial Studio"):
        FolderStore().load(run_folder)


def test_a_run_names_no_files_outside_its_folder(run_folder):
    outside = {"kind": "image", "path": "../secret", "sha256": "", "bytes": 1}
    edit_record(run_folder, artifacts=[outside])
    with pytest.raises(StoreError, match="names a file outside its folder"):
        FolderStore().load(run_folder)


def test_a_run_without_a_picture_is_refused(run_folder):
    edit_record(run_folder, artifacts=[])
    with pytest.raises(StoreError, match="has no picture"):
        FolderStore().load(run_folder)


def test_a_trace_that_lacks_an_array_is_refused(run_folder):
    buffer = BytesIO()
    np.savez(buffer, other=np.ones(1))
    (run_folder / "trace.npz").write_bytes(buffer.getvalue())
    trace = json.loads((run_folder / RECORD).read_text())["trace"]
    digest = {"sha256": sha256(buffer.getvalue()).hexdigest()}
    trace[0] |= {"attention": trace[0]["attention"] | digest, "preview": None}
    edit_record(run_folder, trace=trace)
    with pytest.raises(StoreError, match="The trace has no"):
        FolderStore().load(run_folder)


@pytest.mark.parametrize("content", ["[]", "{}", "null", "[" * 100_000, '{"id": '])
def test_a_record_that_is_none_is_refused(run_folder, content):
    (run_folder / RECORD).write_text(content)
    with pytest.raises(StoreError):
        FolderStore().load(run_folder)


def test_a_file_is_no_folder_for_runs(tmp_path, run_folder):
    record, events = FolderStore().load(run_folder)
    (tmp_path / "file").write_text("taken")
    with pytest.raises(StoreError, match="is not a folder") as caught:
        FolderStore().save(record, events, tmp_path / "file")
    assert caught.value.hint


def test_a_folder_is_made_ready_before_work_is_spent(tmp_path):
    FolderStore().prepare(tmp_path / "new" / "runs")
    assert visible(tmp_path / "new" / "runs") == []


def test_a_folder_that_cannot_be_written_is_told_at_once(tmp_path):
    (tmp_path / "file").write_text("taken")
    with pytest.raises(StoreError, match="is not a folder"):
        FolderStore().prepare(tmp_path / "file" / "runs")


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


def test_nothing_half_written_is_left_when_the_disk_is_full(tmp_path, run_folder):
    record, events = FolderStore().load(run_folder)
    with tiny_disk(), pytest.raises(StoreError, match="is full") as caught:
        FolderStore().save(replace(record, evaluation=None), events, tmp_path / "full")
    assert caught.value.hint == "Free some space or choose a folder on another disk."
    assert visible(tmp_path / "full") == []


def test_a_run_stored_by_the_first_version_still_opens():
    record, events = FolderStore().load(Path(__file__).parents[2] / "golden" / "run_of_schema_1")
    assert record.schema_version == 1
    assert len(events) == len(record.trace) + 2
    assert record.evaluation.verdicts[0].relation_id == record.request.scene.relations[0].id
