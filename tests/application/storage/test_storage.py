"""What the studio keeps is there again in the next program."""

import hashlib
from dataclasses import fields, replace
from datetime import UTC, datetime

import numpy as np
import pytest

from spatialstudio.application.compose.edit_relations import (
    with_relation_muted,
    with_relation_weight,
)
from spatialstudio.application.gallery.library import LibraryChanged
from spatialstudio.application.jobs.messages import PictureJudged
from spatialstudio.application.paths import StudioPaths
from spatialstudio.application.plugins import open_registry
from spatialstudio.application.run.choose_settings import request_of
from spatialstudio.application.session import RunStored, StoreFailed
from spatialstudio.application.storage.picture_settings import (
    scene_to_take,
    usable_fields,
    with_fields,
)
from spatialstudio.application.storage.storage import Reproduced, Storage
from spatialstudio.domain.attention import AttentionDetail
from spatialstudio.domain.devices import Saving
from spatialstudio.domain.errors import ModelNotFound, StoreError
from spatialstudio.domain.generation import (
    SAMPLING_OPTIONS,
    UNGUIDED,
    GenerationFinished,
    GenerationRequest,
    GenerationStarted,
    GuidanceSettings,
    ModelRef,
    ModelSetup,
    SamplingSettings,
)
from spatialstudio.domain.library import Sameness
from spatialstudio.domain.picture_settings import PictureSettings, compare_settings
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.run_settings import RunSettings, with_values
from spatialstudio.domain.scene import LoraUse
from spatialstudio.domain.verdict import Evaluation, Perception
from tests.fakes import scene_of
from tests.sparse_weights import write_sparse
from tests.ui.scripted_engine import STICKERS

USUAL = RunSettings(
    model_id="stickers",
    width=64,
    height=64,
    sampling=SamplingSettings(steps=10, seed=11),
)


@pytest.fixture
def published():
    return []


@pytest.fixture
def opened(tmp_path, published):
    """Start the keeping of one more program; all are closed at the end."""
    paths = StudioPaths.within(tmp_path)
    models = (tmp_path / "models",)
    registry = open_registry(Surroundings(resources=paths.resources, model_folders=models))
    started = []

    def start():
        started.append(Storage(registry, paths, None, published.append, bool))
        return started[-1]

    yield start
    for storage in started:
        storage.close()


@pytest.fixture
def request_():
    return GenerationRequest(
        id="r1",
        scene=scene_of(),
        backend_id="b",
        model=ModelRef(id="stickers"),
        sampling=SamplingSettings(seed=3),
    )


def test_a_run_is_not_stored_through_a_link_out_of_the_library(opened, tmp_path):
    storage = opened()
    month = storage.folder_now()
    assert month.parent.parent == storage.runs_folder
    (tmp_path / "elsewhere").mkdir()
    storage.runs_folder.mkdir(parents=True)
    month.parent.symlink_to(tmp_path / "elsewhere")
    assert storage.folder_now() == storage.runs_folder


def draw(storage, request, value=7, setup=None):
    """Have a request drawn in one colour, and judged."""
    image = np.full((8, 8, 3), value, np.uint8)
    seen = Perception(image_sha256="", height=8, width=8, detections=(), masks=())
    storage.run_recorder.expect(request)
    for event in (
        GenerationStarted(request_id=request.id, total_steps=0, token_spans=(), device="cpu"),
        GenerationFinished(
            request_id=request.id,
            image=image,
            seconds=1.0,
            peak_memory_bytes=1,
            setup=setup or ModelSetup(),
        ),
        PictureJudged(request_id=request.id, evaluation=Evaluation(perception=seen, verdicts=())),
    ):
        storage.run_recorder.apply_event(event)


def only(kind, published):
    (event,) = (event for event in published if isinstance(event, kind))
    return event


def test_a_run_is_stored_by_month_and_listed(opened, published, request_):
    storage = opened()
    storage.library.refresh()
    draw(storage, request_)
    picture = only(RunStored, published).path
    assert picture.parent == storage.runs_folder / f"{datetime.now(UTC):%Y/%m}"
    assert [e.path for e in storage.library.entries(storage.library.list("dog"))] == [picture]
    assert only(LibraryChanged, published).change.added == (picture,)


def test_a_draft_is_restored_at_the_next_start(opened):
    first = opened()
    first.drafts.keep_prompt("a cat above a 犬", "stickers")
    first.close()
    assert opened().drafts.newest.prompt == "a cat above a 犬"


def test_edits_by_hand_are_restored_at_the_next_start(opened):
    scene = scene_of()
    muted = with_relation_muted(scene, scene.relations[0].id, muted=True)
    first = opened()
    first.drafts.keep_prompt(scene.prompt.text, "stickers")
    first.drafts.keep_scene(muted)
    first.close()
    assert opened().drafts.newest.scene == muted


def test_a_new_prompt_has_no_scene_until_it_is_read(opened):
    storage = opened()
    storage.drafts.keep_scene(scene_of())
    storage.drafts.keep_prompt("a", "stickers")
    assert storage.drafts.newest.scene is None


def test_only_unfinished_requests_are_listed_as_interrupted(opened, request_):
    first = opened()
    draw(first, request_)
    first.run_recorder.expect(replace(request_, id="r2"))
    first.run_recorder.expect(replace(request_, id="r3"))
    first.close()
    second = opened()
    assert [request.id for request in second.interrupted()] == ["r2", "r3"]
    second.forget(replace(request_, id="r2"))
    assert [request.id for request in second.interrupted()] == ["r3"]


def test_a_library_that_cannot_be_written_gives_a_recovery_copy(
    opened, published, request_, tmp_path, caplog
):
    storage = opened()
    storage.runs_folder = tmp_path / "file"
    storage.runs_folder.write_text("taken")
    draw(storage, request_)
    failure = only(StoreFailed, published)
    assert failure.recovered.parent == tmp_path / "recovery"
    assert storage.store.load(failure.recovered)[0].request == request_
    moved = opened().library.move(failure.recovered, tmp_path / "elsewhere")
    assert storage.store.load(moved)[0].request == request_


@pytest.mark.parametrize(
    ("value", "sameness"),
    [(7, Sameness.SAME), (8, Sameness.CLOSE), (90, Sameness.DIFFERENT)],
)
def test_a_run_drawn_again_is_compared(opened, published, request_, value, sameness):
    storage = opened()
    draw(storage, request_)
    first = only(RunStored, published).path
    again = storage.again(first, "r2")
    draw(storage, again, value)
    told = only(Reproduced, published)
    assert (told.first, told.comparison.sameness) == (first, sameness)
    assert told.comparison.largest_difference == value - 7
    assert told.comparison.reasons == ()
    assert again.parent_run_id == first.stem
    storage.close()
    library = opened().library
    library.reindex()
    (kept,) = library.repetitions(library.entry(first).summary)
    assert kept.repetition == told.comparison


@pytest.fixture
def lora(tmp_path):
    """The file of a LoRA named "ink"."""
    (tmp_path / "models" / "loras").mkdir(parents=True)
    layer = "unet.mid_block.attentions.0.transformer_blocks.0.attn2.to_k"
    weights = {f"{layer}.lora_A.weight": ("F16", (1, 768))}
    weights[f"{layer}.lora_B.weight"] = ("F16", (320, 1))
    return write_sparse(tmp_path / "models" / "loras" / "ink.safetensors", weights)


@pytest.fixture
def drawn_with_lora(opened, published, request_, lora):
    """A storage, and the picture of a run with the LoRA."""
    storage = opened()
    setup = ModelSetup(loras={"ink": hashlib.sha256(lora.read_bytes()).hexdigest()})
    request = with_values(request_, loras=(LoraUse(name="ink", weight=0.8),))
    draw(storage, request, setup=setup)
    return storage, only(RunStored, published).path


def test_a_run_is_repeated_with_its_lora(drawn_with_lora):
    storage, path = drawn_with_lora
    assert storage.again(path, "r2").sampling.loras == (LoraUse(name="ink", weight=0.8),)


def test_a_run_whose_lora_is_missing_is_not_repeated(drawn_with_lora, lora):
    storage, path = drawn_with_lora
    lora.unlink()
    with pytest.raises(ModelNotFound, match='There is no LoRA "ink"') as refusal:
        storage.again(path, "r2")
    assert "ink.safetensors" in refusal.value.hint


def test_a_run_whose_lora_has_changed_is_not_repeated(drawn_with_lora, lora):
    storage, path = drawn_with_lora
    before = hashlib.sha256(lora.read_bytes()).hexdigest()
    lora.write_bytes(lora.read_bytes()[:-1] + b"x")
    with pytest.raises(ModelNotFound, match='LoRA "ink" has changed since the run') as refusal:
        storage.again(path, "r2")
    assert before[:10] in refusal.value.hint


def test_all_stored_fields_of_a_request_are_restored_in_the_form(opened, published, request_):
    storage = opened()
    scene = with_relation_weight(request_.scene, request_.scene.relations[0].id, 2.0)
    guidance = GuidanceSettings(method_id="psg", strength=3.0, every=2, last_step=7, goal=0.9)
    form = with_values(
        USUAL,
        negative="fog",
        guidance_scale=7.5,
        steps=12,
        guidance=guidance,
        detail=AttentionDetail.EVERY_WORD,
        preview_every=3,
        savings=(Saving.TILING,),
        dtype="bfloat16",
        scheduler_id="euler",
        candidates=4,
    )
    draw(storage, request_of(scene, STICKERS, form, 5))
    theirs = storage.metadata.read(only(RunStored, published).path)
    wanted = storage.request_in(theirs)
    names = usable_fields(theirs, ["stickers"], wanted)
    assert {option.id for option in SAMPLING_OPTIONS} <= set(names)
    others = {field.name for field in fields(PictureSettings)} - set(names)
    assert others == {
        *("dialect", "scheduler", "model_hash", "device", "options"),
        *("extras", "left_out", "record", "is_marked_as_generated"),
    }
    taken = with_fields(USUAL, theirs, names, STICKERS, wanted)
    assert with_values(taken, seed=form.sampling.seed) == replace(form, width=8, height=8)
    assert scene_to_take(wanted) == scene


def picture_record_of(storage, published):
    return storage.metadata.read(only(RunStored, published).path)


def test_every_field_that_differs_is_a_row(opened, published, request_):
    storage = opened()
    scene = with_relation_weight(request_.scene, request_.scene.relations[0].id, 2.0)
    guidance = GuidanceSettings(method_id="psg", strength=3.0, every=2)
    form = with_values(USUAL, negative="fog", guidance=guidance)
    draw(storage, request_of(scene, STICKERS, form, 5))
    rows = storage.compare_picture(
        picture_record_of(storage, published), request_.scene, [STICKERS]
    )
    told = {row.name: (row.mine, row.theirs) for row in rows}
    assert told["negative"] == ("", "fog")
    assert told["guidance"][1] == "every 2"
    sentence = request_.scene.sentence(request_.scene.relations[0])
    assert told["relations"] == (sentence, f"{sentence} (weighs 2)")


def test_default_settings_replace_unusual_ones(opened, published, request_):
    storage = opened()
    usual = with_values(USUAL, guidance=GuidanceSettings(method_id="psg", strength=3.0))
    draw(storage, request_of(request_.scene, STICKERS, usual, USUAL.sampling.seed))
    unusual = with_values(
        usual,
        negative="fog",
        guidance=replace(usual.sampling.guidance, every=2),
        savings=(Saving.TILING,),
        device="cpu",
    )
    storage.drafts.keep_settings(unusual)
    path = only(RunStored, published).path
    rows = storage.compare_picture(storage.metadata.read(path), request_.scene, [STICKERS])
    told = {row.name: (row.mine, row.theirs) for row in rows if row.is_stated and not row.is_same}
    assert told["negative"] == ("fog", "")
    assert told["guidance"] == ("every 2", "")
    assert told["savings"] == ("tiles", "")
    assert told["device"] == ("cpu", "")
    theirs = storage.metadata.read(path)
    wanted = storage.request_in(theirs)
    names = usable_fields(theirs, ["stickers"], wanted)
    taken = with_fields(unusual, theirs, set(names) & set(told), request=wanted)
    assert replace(taken, width=64, height=64) == with_values(usual, device="cpu")


def test_a_baseline_takes_the_guidance_of_the_form_away(opened, published, request_):
    storage = opened()
    guided = with_values(USUAL, guidance=GuidanceSettings(method_id="psg", strength=3.0))
    asked = request_of(request_.scene, STICKERS, guided, USUAL.sampling.seed)
    draw(storage, with_values(asked, guidance=replace(asked.sampling.guidance, method_id=UNGUIDED)))
    storage.drafts.keep_settings(guided)
    path = only(RunStored, published).path
    rows = storage.compare_picture(storage.metadata.read(path), request_.scene, [STICKERS])
    assert [(row.mine, row.theirs) for row in rows if row.name == "method"] == [("psg", "none")]
    theirs = storage.metadata.read(path)
    wanted = storage.request_in(theirs)
    names = usable_fields(theirs, ["stickers"], wanted)
    taken = with_fields(guided, theirs, names, request=wanted)
    assert (taken.sampling.guidance.method_id, taken.sampling.guidance.strength) == ("psg", 0.0)
    storage.drafts.keep_settings(taken)
    again = storage.compare_picture(storage.metadata.read(path), request_.scene, [STICKERS])
    assert all(row.is_same for row in again if row.name == "method")


def test_fields_of_other_programs_are_listed_too():
    theirs = PictureSettings(dialect="a1111", extras={"Clip skip": "2"})
    *_, extra = compare_settings(PictureSettings(dialect=""), theirs)
    assert (extra.name, extra.theirs, extra.is_stated, extra.is_extra) == (
        *("Clip skip", "2"),
        *(True, True),
    )


def test_an_unreadable_record_gives_no_request(opened):
    theirs = PictureSettings(dialect="spatial studio", record='{"version": 99}')
    assert opened().request_in(theirs) is None


def test_a_dropped_picture_is_compared_with_the_form_and_changes_nothing(
    opened, published, request_
):
    storage = opened()
    draw(storage, request_)
    storage.drafts.keep_settings(USUAL)
    storage.drafts.keep_prompt("something else", None)
    rows = storage.compare_picture(picture_record_of(storage, published), None, [STICKERS])
    told = {row.name: (row.mine, row.theirs) for row in rows}
    assert told["prompt"] == ("something else", request_.scene.prompt.text)
    assert told["seed"] == ("11", "3")
    assert told["model"] == ("stickers", "stickers")
    assert told["width"][0] == "64"
    assert storage.drafts.newest.prompt == "something else"


def test_marks_searches_and_the_trash_are_kept(opened, published, request_):
    storage = opened()
    draw(storage, request_)
    picture = only(RunStored, published).path
    storage.library.refresh()
    storage.library.rate([picture], 4)
    storage.library.tag([picture], ["good", "car"], drop=["car"])
    storage.library.note(picture, "nice")
    storage.library.save_search("best", "stars>=4")
    storage.close()
    library = opened().library
    library.refresh()
    (entry,) = library.entries(library.list(library.searches()["best"]))
    assert (entry.marks.stars, entry.marks.tags, entry.marks.note) == (4, ("good",), "nice")
    deletion = library.trash([picture])
    assert library.list() == ()
    assert library.restore(deletion.inside) == (picture,)
    library.reject([picture])
    assert library.marks(picture).is_rejected


def test_the_watcher_reports_changes_by_other_programs(opened, published, request_):
    storage = opened()
    draw(storage, request_)
    picture = only(RunStored, published).path
    storage.library.refresh()
    picture.unlink()
    assert storage.library.refresh().missing == (picture,)
    storage.library.watch(every_s=60)
    storage.library.close()


def test_another_library_is_used_at_once_and_after_a_restart(opened, request_, tmp_path):
    storage, chosen = opened(), tmp_path / "chosen"
    draw(storage, request_)
    storage.library.refresh()
    storage.use_library(chosen)
    storage.library.refresh()
    assert storage.library.list() == ()
    draw(storage, replace(request_, id="r2"))
    (there,) = storage.library.entries(storage.library.list())
    assert there.path.parent == chosen / f"{datetime.now(UTC):%Y/%m}"
    storage.close()
    later = opened()
    assert later.runs_folder == chosen
    later.use_library(None)
    later.library.refresh()
    assert [entry.path.parent.is_relative_to(tmp_path / "runs") for entry in found(later)] == [True]
    assert opened().runs_folder == tmp_path / "runs"


def found(storage):
    return storage.library.entries(storage.library.list())


def test_a_read_only_folder_is_rejected_and_the_former_one_stays(opened, tmp_path):
    storage = opened()
    usual, taken = storage.runs_folder, tmp_path / "file"
    taken.write_text("taken")
    with pytest.raises(StoreError, match="is not a folder"):
        storage.use_library(taken)
    assert (storage.runs_folder, opened().runs_folder) == (usual, usual)


def test_the_library_cannot_change_while_a_run_is_pending(opened, request_, tmp_path):
    storage = opened()
    storage.run_recorder.expect(request_)
    with pytest.raises(StoreError, match="The queue is not empty"):
        storage.use_library(tmp_path / "chosen")
    assert storage.runs_folder == tmp_path / "runs"
