"""The ways to guide a run: what is passed, what is moved, and what is told of it."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from spatialstudio.domain.attention import Moment
from spatialstudio.domain.errors import PluginError
from spatialstudio.domain.generation import (
    PSG,
    GuidanceSettings,
    Refinement,
    StepEvent,
    StepUnit,
)
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.scene import (
    ABOVE,
    IN_FRONT_OF,
    LEFT_OF,
    Relation,
)
from spatialstudio.science.guidance.methods import GUIDANCE_METHODS
from spatialstudio.science.pos.superiority import relation_pos
from tests.fakes import events_of, last_call, scene_of

pytestmark = pytest.mark.filterwarnings(  # diffusers 0.42 with numpy 2
    "ignore:__array_:DeprecationWarning"
)

STRONG = GuidanceSettings(method_id=PSG, strength=500.0)


@pytest.fixture
def draw(backend, tiny_model, tiny_request):
    """Draw with these settings and return the steps and the picture."""

    def draw(settings=STRONG, scheduler_id="", **changes):
        request = with_values(tiny_request, guidance=settings, scheduler_id=scheduler_id, **changes)
        events = last_call(events_of(backend, request, tiny_model))
        return [event for event in events if isinstance(event, StepEvent)], events[-1].image

    return draw


@pytest.fixture(scope="module")
def drawn():
    """Runs of this file, by their arguments."""
    return {}


@pytest.fixture
def run(draw, drawn):
    """Return the steps and the picture of a run, drawn for the first test that asks."""

    def run(*arguments, **changes):
        key = repr((arguments, changes))
        if key not in drawn:
            drawn[key] = draw(*arguments, **changes)
        return drawn[key]

    return run


@pytest.fixture
def rows_seen(backend, draw):
    """Draw and return how many rows every call of the denoiser had."""

    def count(settings):
        draw(GuidanceSettings(), steps=1)  # loads the model
        rows = []
        seen = backend._loaded.denoiser.conv_in.register_forward_pre_hook(
            lambda _, inputs: rows.append(inputs[0].shape[0])
        )
        draw(settings)
        seen.remove()
        return rows

    return count


@pytest.mark.parametrize(
    "scheduler_id",
    ["EulerDiscreteScheduler", "UniPCMultistepScheduler", "DPMSolverMultistepScheduler"],
)
def test_one_strength_means_the_same_for_every_sampler(run, scheduler_id):
    ddim, other = run(scheduler_id="DDIMScheduler")[0][0], run(scheduler_id=scheduler_id)[0][0]
    gain = ddim.pos_after["r1"] - ddim.pos["r1"]
    assert gain > 0.01
    assert other.step_size == ddim.step_size
    assert other.pos_after["r1"] - other.pos["r1"] == pytest.approx(gain, rel=0.05)


def test_a_limit_scales_down_larger_gradients_only(run):
    _, free = run()
    _, unguided = run(GuidanceSettings())
    assert np.array_equal(run(replace(STRONG, gradient_limit=1e9))[1], free)
    assert not np.array_equal(free, unguided)
    assert np.abs(run(replace(STRONG, gradient_limit=1e-9))[1] - unguided.astype(float)).max() <= 1


@pytest.mark.parametrize(("limit", "clipped"), [(1e9, 0), (1e-9, 1)])
def test_each_step_counts_its_clipped_updates(run, limit, clipped):
    steps, _ = run(replace(STRONG, gradient_limit=limit))
    guided = [step for step in steps if step.is_guided]
    assert guided
    assert [step.clipped_updates for step in guided] == [
        clipped * step.guiding_passes for step in guided
    ]


def test_a_strength_of_sigma_units_is_told_in_vp_units(run):
    sigma = replace(STRONG, unit=StepUnit.SIGMA)
    euler, ddim = run(sigma, "EulerDiscreteScheduler")[0], run(sigma, "DDIMScheduler")[0]
    assert euler[0].step_size < 100
    assert euler[0].step_size == pytest.approx(ddim[0].step_size, rel=0.02)
    assert euler[1].step_size > euler[0].step_size


def test_steps_tell_what_the_updates_did(run):
    (first, second, third, _), _ = run()
    assert [step.guiding_passes for step in (first, second, third)] == [1, 1, 0]
    assert first.pos_after["r1"] > first.pos["r1"]
    assert third.pos_after == {}


@pytest.mark.parametrize(
    "method_id", [method.id for method in GUIDANCE_METHODS if not method.takes_boxes]
)
def test_every_method_guides(run, method_id):
    steps, image = run(replace(STRONG, method_id=method_id))
    assert steps[0].guidance_loss > 0
    assert not np.array_equal(image, run(GuidanceSettings())[1])


class FaultyLoss:
    """Raises, or returns a loss without a gradient."""

    reads_whole_text = False

    def __init__(self, error):
        self._error = error

    def __call__(self, relations, attention):
        if self._error:
            raise self._error
        return torch.tensor(1.0)


@pytest.mark.parametrize(
    ("error", "cause"),
    [(KeyError("m1"), "KeyError: 'm1'"), (None, "RuntimeError: element 0 of tensors")],
    ids=["raises", "no gradient"],
)
def test_a_loss_of_a_plugin_that_fails_names_the_plugin(draw, error, cause):
    method = replace(GUIDANCE_METHODS[PSG], id="faulty", make_loss=lambda _: FaultyLoss(error))
    GUIDANCE_METHODS.register(method, plugin="Losses")
    try:
        with pytest.raises(PluginError) as caught:
            draw(replace(STRONG, method_id="faulty"))
    finally:
        GUIDANCE_METHODS.unregister("faulty")
    named = 'The guidance method "faulty" of the plugin "Losses" failed: '
    assert caught.value.message.startswith(named + cause)


@pytest.mark.parametrize(
    "method_id", [PSG, "psg-presence", "attend-excite", "boxdiff", "infsplign"]
)
def test_no_method_of_no_strength_changes_the_picture(run, method_id):
    idle = GuidanceSettings(method_id=method_id, strength=0.0)
    assert np.array_equal(run(idle)[1], run(GuidanceSettings())[1])


def test_infsplign_leaves_the_latents_and_corrects_what_is_predicted(run):
    far = GuidanceSettings(method_id="infsplign", strength=500.0, last_step=3)
    steps, _ = run(far)
    idle, _ = run(replace(far, strength=0.0))
    assert (steps[0].attention_after, steps[0].pos_after) == (None, {})
    assert steps[0].guidance_loss == idle[0].guidance_loss
    assert steps[-1].guidance_loss < idle[-1].guidance_loss


def test_maps_for_people_are_the_same_whatever_the_loss_reads(run):
    read, free = run(GuidanceSettings(method_id="infsplign"))[0][0], run(GuidanceSettings())[0][0]
    assert read.attention.layers == free.attention.layers
    for mention, weights in free.attention.maps.items():
        assert read.attention.maps[mention] == pytest.approx(weights, abs=1e-6)


@pytest.mark.parametrize("one_by_one", [False, True], ids=["together", "one by one"])
def test_presence_needs_no_relation(run, one_by_one):
    scene = scene_of("dog", "car", IN_FRONT_OF)
    excited = replace(STRONG, method_id="attend-excite", one_by_one=one_by_one)
    steps, _ = run(excited, scene=scene)
    assert steps[0].guidance_loss > 0


@pytest.fixture
def crossing():
    scene = scene_of("dog", "car")
    second = Relation(id="r2", type=ABOVE, subject="m1", object="m2")
    return replace(scene, relations=(*scene.relations, second))


def test_relations_share_a_pass_or_take_one_each(run, crossing):
    together, _ = run(scene=crossing)
    one_by_one, _ = run(replace(STRONG, one_by_one=True), scene=crossing)
    assert (together[0].guiding_passes, one_by_one[0].guiding_passes) == (1, 2)
    assert one_by_one[0].pos_after["r1"] > one_by_one[0].pos["r1"]
    assert one_by_one[0].pos_after["r2"] > one_by_one[0].pos["r2"]


@pytest.mark.parametrize("method_id", ["attend-excite", "weighted-presence"])
def test_presence_is_not_taken_once_for_each_relation(run, crossing, method_id):
    settings = replace(STRONG, method_id=method_id)
    together, picture = run(settings, scene=crossing)
    one_by_one, same = run(replace(settings, one_by_one=True), scene=crossing)
    assert [step.guiding_passes for step in one_by_one] == [s.guiding_passes for s in together]
    assert np.array_equal(picture, same)


def test_one_by_one_makes_no_pass_for_the_rest_once_all_goals_are_reached(run, crossing):
    content = replace(STRONG, one_by_one=True, goal=0.500001)
    near = 0.5 + 1e-6
    first = run(content, scene=crossing)[0][0]
    assert min(first.pos.values()) >= near
    assert first.guiding_passes == 1


def test_the_loss_of_one_by_one_is_that_of_the_first_relation(run, crossing):
    one_by_one, _ = run(replace(STRONG, one_by_one=True), scene=crossing)
    alone, _ = run()
    assert one_by_one[0].guidance_loss == pytest.approx(alone[0].guidance_loss, abs=1e-6)


def muted(scene, relation_id):
    relations = (replace(each, is_muted=each.id == relation_id) for each in scene.relations)
    return replace(scene, relations=tuple(relations))


def test_a_muted_relation_is_measured_and_not_guided(run, crossing):
    steps, image = run(scene=muted(crossing, "r2"))
    alone, lonely_image = run()
    assert np.array_equal(image, lonely_image)
    assert steps[0].guidance_loss == pytest.approx(alone[0].guidance_loss, abs=1e-6)
    assert set(steps[0].pos) == {"r1", "r2"}


def test_guidance_that_rests_waits_for_no_muted_relation(run, crossing):
    goal = run()[0][0].pos_after["r1"] - 1e-4
    resting, _ = run(replace(STRONG, goal=goal, last_step=3), scene=muted(crossing, "r2"))
    assert [step.guiding_passes for step in resting[:2]] == [1, 0]


def test_a_picture_whose_only_relation_is_muted_is_not_guided(run):
    steps, _ = run(scene=muted(scene_of("dog", "car"), "r1"))
    assert [step.guidance_loss for step in steps] == [None] * len(steps)


def test_a_heavier_relation_changes_the_picture(run):
    scene = scene_of("dog", "car")
    heavy = replace(scene, relations=(replace(scene.relations[0], weight=2.0),))
    assert run(scene=heavy)[0][0].guidance_loss == pytest.approx(2 * run()[0][0].guidance_loss)


def test_guidance_rests_on_what_the_last_step_showed_and_wakes(run):
    goal = run()[0][0].pos_after["r1"] - 1e-4
    resting, _ = run(replace(STRONG, goal=goal, last_step=3))
    assert [step.guiding_passes for step in resting[:2]] == [1, 0]
    woken = replace(STRONG, goal=run()[0][0].pos_after["r1"] + 1e-4, last_step=3)
    assert [step.guiding_passes for step in run(woken)[0][:2]] == [1, 1]


def test_a_resting_step_makes_the_calls_of_a_plain_one(rows_seen):
    assert rows_seen(STRONG) == [1, 2, 1, 2, 2, 2]
    assert rows_seen(replace(STRONG, goal=0.5001)) == [1, 2, 2, 2, 2]


def test_a_reused_prediction_spares_the_prompts_half(rows_seen):
    assert rows_seen(replace(STRONG, reuses_prediction=True)) == [1, 1, 1, 1, 2, 2]


def test_a_reused_prediction_of_no_strength_is_nearly_the_plain_picture(run):
    idle = GuidanceSettings(method_id=PSG, strength=0.0, reuses_prediction=True)
    difference = run(idle)[1].astype(int) - run(GuidanceSettings())[1]
    assert abs(difference).max() <= 1


def test_a_reused_prediction_still_raises_pos(run):
    reused, _ = run(replace(STRONG, reuses_prediction=True))
    assert reused[-1].pos["r1"] > run(GuidanceSettings())[0][-1].pos["r1"] + 0.01


def test_checkpointing_changes_memory_alone(draw, run, backend):
    steps, image = draw(replace(STRONG, checkpointing=True))
    assert np.array_equal(image, run()[1])
    assert [step.guidance_loss for step in steps] == [step.guidance_loss for step in run()[0]]
    assert not backend._loaded.denoiser.is_gradient_checkpointing


def test_a_refinement_stops_when_the_loss_is_low_enough(run):
    losses = [step.guidance_loss for step in run()[0]]
    presence = 1 - (losses[0] + losses[1]) / 2
    refined = replace(STRONG, refinements=(Refinement(step=0, presence=presence),))
    assert 2 < run(refined)[0][0].guiding_passes < 21
    patient = replace(refined, most_refinements=2)
    assert run(patient)[0][0].guiding_passes == 3


def test_boxdiff_refines_by_its_inner_part_alone(run):
    plain = GuidanceSettings(method_id="boxdiff", strength=20.0)
    met = replace(plain, refinements=(Refinement(step=0, presence=0.0),))
    never = replace(plain, refinements=(Refinement(step=0, presence=1.0),), most_refinements=3)
    first, selected_verdict, refined = (run(settings)[0][0] for settings in (plain, met, never))
    assert [step.guiding_passes for step in (first, selected_verdict, refined)] == [1, 2, 4]
    assert selected_verdict.guidance_loss == first.guidance_loss > 1
    assert selected_verdict.pos_after == first.pos_after
    assert refined.pos_after != first.pos_after


def test_a_guided_step_is_read_before_and_after_its_updates(run):
    first, *_, last = run(replace(STRONG, last_step=0))[0]
    for moment, pos in ((Moment.BEFORE, first.pos), (Moment.AFTER, first.pos_after)):
        maps = first.attention_at(moment).maps
        read = relation_pos(LEFT_OF, [maps["m1"], maps["m2"]])
        assert float(read) == pytest.approx(pos["r1"], abs=1e-5)
    assert first.pos_at(Moment.AFTER)["r1"] > first.pos_at(Moment.BEFORE)["r1"]
    assert last.attention_after is None
    assert last.attention_at(Moment.AFTER) is last.attention
    assert last.pos_at(Moment.AFTER) is last.pos


def test_reading_twice_makes_no_pass_more(rows_seen):
    assert rows_seen(replace(STRONG, last_step=0))[:3] == [1, 2, 2]


def test_a_reused_prediction_is_read_before_the_updates_alone(run):
    first = run(replace(STRONG, reuses_prediction=True))[0][0]
    assert first.is_guided
    assert (first.attention_after, first.pos_after) == (None, {})


def test_every_second_step_can_be_left_unguided(run):
    steps, _ = run(replace(STRONG, every=2, last_step=3))
    assert [step.guiding_passes for step in steps] == [1, 0, 1, 0]


def test_a_picture_can_be_drawn_from_the_objects_alone(run):
    steps, image = run(replace(STRONG, names_only=True))
    assert steps[0].pos_after["r1"] > steps[0].pos["r1"]
    assert not np.array_equal(image, run()[1])


def test_gradients_leave_nothing_on_the_weights(draw, backend):
    draw()
    assert all(weights.grad is None for weights in backend._loaded.denoiser.parameters())
    assert torch.is_grad_enabled()
