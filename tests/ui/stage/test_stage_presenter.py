from dataclasses import replace

import pytest

from spatialstudio.application.run.choose_settings import new_request
from spatialstudio.application.session import OpenRun, RunState
from spatialstudio.domain.attention import Moment
from spatialstudio.domain.scene import MentionId
from spatialstudio.domain.verdict import AbstentionReason, Outcome
from spatialstudio.ui.framework.map_view import MapLook
from spatialstudio.ui.stage.map_presenter import MapSelection
from spatialstudio.ui.stage.stage_presenter import (
    picture_scene,
    shows_result,
    step_seen,
    word_maps,
)
from spatialstudio.ui.widgets.picture_layers import Layer
from tests.fakes import counted_scene, scene_of
from tests.ui.scripted_engine import STEPS, STICKERS, evaluation_of, picture_of, step_of

ALL = frozenset(Layer)


@pytest.fixture
def live():
    """A run after three of its steps."""
    request = new_request(scene_of(), STICKERS, seed=7)
    return OpenRun(
        id=request.id,
        scene=request.scene,
        request=request,
        state=RunState.RUNNING,
        total_steps=STEPS,
        steps=tuple(step_of(request, step) for step in range(3)),
    )


@pytest.fixture
def done(live):
    """The same run, finished and judged."""
    picture = picture_of(7)
    return OpenRun(
        id=live.id,
        scene=live.scene,
        request=live.request,
        state=RunState.DONE,
        total_steps=STEPS,
        steps=tuple(step_of(live.request, step) for step in range(STEPS)),
        image=picture,
        evaluation=evaluation_of(live.scene, picture),
    )


def test_a_live_run_shows_its_preview_under_both_maps(live):
    shown = picture_scene(live, 0, MapSelection(), ALL, "Guided")
    assert shown.picture is live.steps[0].preview
    assert [layer.hue for layer in shown.maps] == [0, 1]
    assert shown.remark == f"step 1 of {STEPS}, after the step's updates"


def test_maps_before_the_updates_are_told_from_the_preview_after_them(live):
    before = MapSelection(look=MapLook(moment=Moment.BEFORE))
    shown = picture_scene(live, 0, before, ALL, "Guided")
    assert shown.remark == f"step 1 of {STEPS}, maps before, preview after the updates"
    alone = picture_scene(live, 0, before, ALL - {Layer.PICTURE}, "Guided")
    assert alone.remark == f"step 1 of {STEPS}, before the step's updates"


def test_a_picture_that_was_right_by_itself_says_so(done, live):
    def unguided(run):
        return replace(run, steps=tuple(replace(each, guiding_passes=0) for each in run.steps))

    shown = picture_scene(unguided(done), STEPS - 1, MapSelection(), ALL, "Guided")
    assert shown.remark == "seed 7, no guidance needed"
    guided = replace(done, steps=(replace(done.steps[0], guiding_passes=5), *done.steps[1:]))
    assert picture_scene(guided, STEPS - 1, MapSelection(), ALL, "Guided").remark == "seed 7"
    assert "needed" not in picture_scene(unguided(live), 2, MapSelection(), ALL, "Guided").remark


def test_the_last_step_of_a_finished_run_is_the_picture_as_judged(done):
    shown = picture_scene(done, STEPS - 1, MapSelection(), ALL, "Guided")
    assert shown.picture is done.image
    assert [box.label for box in shown.boxes] == ["dog 0.90", "car 0.90"]
    assert len(shown.masks) == 2
    assert shown.maps == ()


def test_a_box_is_called_what_was_detected_not_what_was_asked_for(done):
    asked = replace(done, scene=counted_scene())
    shown = picture_scene(asked, STEPS - 1, MapSelection(), ALL, "Guided")
    assert [box.label for box in shown.boxes] == ["dog 0.90", "car 0.90"]


def test_where_the_checker_could_not_choose_both_candidates_are_shown(done):
    found = done.evaluation.perception.detections
    second_dog = replace(found[0], score=0.85)
    perception = replace(done.evaluation.perception, detections=(*found, second_dog))
    verdict = replace(
        done.evaluation.verdicts[0],
        outcome=Outcome.UNDECIDABLE,
        reason=AbstentionReason.AMBIGUOUS_OBJECT,
        about=(done.scene.mentions[0].id,),
    )
    torn = replace(
        done, evaluation=replace(done.evaluation, perception=perception, verdicts=(verdict,))
    )
    shown = picture_scene(torn, STEPS - 1, MapSelection(), ALL, "Guided")
    assert [(box.label, box.is_rival) for box in shown.boxes] == [
        ("dog 0.90", False),
        ("dog 0.85", True),
        ("car 0.90", False),
    ]


def test_a_picked_word_shows_its_map_on_the_finished_picture(done):
    car = done.scene.mentions[1].id
    shown = picture_scene(done, STEPS - 1, MapSelection(words=(car,)), ALL, "Guided")
    assert [layer.hue for layer in shown.maps] == [1]
    assert [profile.hue for profile in shown.profiles] == [1]


def test_where_no_masks_or_boxes_are_wanted_the_finished_picture_keeps_its_maps(done):
    maps_only = frozenset({Layer.PICTURE, Layer.MAPS})
    shown = picture_scene(done, STEPS - 1, MapSelection(), maps_only, "Guided")
    assert [layer.hue for layer in shown.maps] == [0, 1]


def test_two_words_of_a_relation_show_where_their_curves_cross(done):
    both = MapSelection(words=done.scene.relations[0].ends)
    (crossing,) = picture_scene(done, STEPS - 1, both, ALL, "Guided").crossings
    assert crossing.hues == (0, 1)
    assert crossing.rising[-1] == pytest.approx(1)
    assert crossing.share > 0.5


def test_curves_cross_only_by_the_user_s_wish(live):
    assert picture_scene(live, 2, MapSelection(), ALL, "Guided").crossings == ()


def test_the_picture_is_told_in_words_as_well(live):
    words = picture_scene(live, 2, MapSelection(), ALL, "Guided").words
    assert words.startswith("The map of dog peaks at ")
    assert "the dog is to the left of the car." in words


def test_a_word_of_another_prompt_is_not_looked_at(live):
    shown = picture_scene(live, 1, MapSelection(words=(MentionId("m9"),)), ALL, "Guided")
    assert [layer.hue for layer in shown.maps] == [0, 1]


def test_an_earlier_step_of_a_finished_run_has_no_boxes(done):
    shown = picture_scene(done, 0, MapSelection(), ALL, "Guided")
    assert shown.boxes == ()
    assert not shows_result(done, 0)


def test_a_run_is_seen_at_its_newest_step_until_it_reaches_the_picked_one(live):
    assert step_seen(live, STEPS - 1, of_ending=False) == 2
    assert step_seen(live, 1, of_ending=False) == 1
    assert step_seen(live, 0, of_ending=True) == 2


def test_marginals_are_distributions(live):
    for_dog = picture_scene(live, 1, MapSelection(), ALL, "").profiles[0]
    assert for_dog.along_x.sum() == pytest.approx(1, abs=1e-5)
    assert for_dog.along_y.sum() == pytest.approx(1, abs=1e-5)


def test_a_picture_without_a_trace_shows_the_marginals_of_its_masks(done):
    foreign = OpenRun(
        id=done.id,
        scene=done.scene,
        state=RunState.DONE,
        image=done.image,
        evaluation=done.evaluation,
    )
    shown = picture_scene(foreign, 0, MapSelection(), ALL, "Your picture")
    assert len(shown.profiles) == 2


@pytest.mark.parametrize(
    ("layer", "part"),
    [
        (Layer.PICTURE, "picture"),
        (Layer.MASKS, "masks"),
        (Layer.BOXES, "boxes"),
        (Layer.MARGINALS, "profiles"),
    ],
    ids=lambda value: str(value),
)
def test_a_layer_that_is_off_is_not_shown(done, layer, part):
    shown = picture_scene(done, STEPS - 1, MapSelection(), ALL - {layer}, "")
    assert not getattr(shown, part)


def test_a_run_in_the_queue_says_that_it_waits():
    request = new_request(scene_of(), STICKERS, seed=7)
    waiting = OpenRun(id=request.id, scene=request.scene, request=request)
    assert picture_scene(waiting, 0, MapSelection(), ALL, "Baseline").waiting == (
        "Waiting in the queue"
    )


def test_a_run_without_previews_says_that_its_picture_appears_at_the_end(live):
    steps = tuple(replace(each, preview=None) for each in live.steps)
    drawing = replace(live, steps=steps, image=None)
    loading = replace(drawing, steps=())
    words = [picture_scene(each, 1, MapSelection(), ALL, "").waiting for each in (loading, drawing)]
    assert words[0] == "The model is being loaded"
    assert "no previews" in words[1]


def test_tiles_keep_room_for_a_baseline_that_has_not_begun(live):
    waiting = OpenRun(id=live.id, scene=live.scene, request=live.request)
    tiles = word_maps(live, waiting, 1)
    assert [tile.second_name for tile in tiles] == ["Other run"] * 2
    assert [tile.second for tile in tiles] == [None, None]
