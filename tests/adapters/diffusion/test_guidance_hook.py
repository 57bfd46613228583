from contextlib import nullcontext

import pytest
import torch

from spatialstudio.adapters.diffusion.attention_reader import AttentionReader
from spatialstudio.adapters.diffusion.attention_tap import tapped
from spatialstudio.adapters.diffusion.denoiser_call import CallLayout
from spatialstudio.adapters.diffusion.guidance_hook import GuidanceHook
from spatialstudio.adapters.diffusion.latent_updates import Guidance
from spatialstudio.adapters.diffusion.token_spans import token_spans
from spatialstudio.domain.errors import BackendError, Cancelled
from spatialstudio.domain.generation import GuidanceSettings
from spatialstudio.domain.scene import (
    ABOVE,
    LEFT_OF,
    RIGHT_OF,
)
from spatialstudio.science.guidance.losses import PsgLoss, scene_loss
from spatialstudio.science.guidance.schedule import GuidanceSchedule
from tests.fakes import CountingToken, scene_of

pytestmark = pytest.mark.filterwarnings(  # diffusers 0.42 with numpy 2
    "ignore:__array_:DeprecationWarning"
)

STEPS = 4
SEEDS = (7, 8)
STRONG = 500.0  # random weights attend almost evenly, so that small steps do little
SCENE = scene_of("dog", "car")

schedulers = pytest.mark.parametrize(
    "scheduler_id",
    [
        "DDIMScheduler",
        "DDPMScheduler",
        "DEISMultistepScheduler",
        "DPMSolverMultistepScheduler",
        "EulerAncestralDiscreteScheduler",
        "EulerDiscreteScheduler",
        "HeunDiscreteScheduler",
        "PNDMScheduler",
        "UniPCMultistepScheduler",
    ],
)


def reader_of(loaded, scene):
    spans = token_spans(loaded.streams, scene.prompt.text, scene.mentions)
    return AttentionReader(loaded.guiding_layers, spans, scene.relations, smooths_maps=True)


@pytest.fixture
def reader(loaded):
    return reader_of(loaded, SCENE)


@pytest.fixture
def make_hook(loaded):
    def make(strength=None, scene=SCENE, token=None, finish_step=None, **settings):
        guidance = None
        if strength is not None:
            chosen = GuidanceSettings(method_id="psg", strength=strength, **settings)
            guidance = Guidance(loss=PsgLoss(), schedule=GuidanceSchedule(chosen, STEPS))
        return GuidanceHook(
            reader_of(loaded, scene),
            guidance,
            token or CountingToken(),
            finish_step or (lambda *_: None),
        )

    return make


@pytest.fixture
def draw(loaded):
    """Run the pipeline itself, with a hook or untouched, to its last latents."""

    def run(
        hook=None, scheduler_id="", scene=SCENE, guidance_scale=4.0, size=(128, 128), seeds=(7,)
    ):
        loaded.set_scheduler(scheduler_id)
        scheduler, calls = loaded.pipeline.scheduler, CallLayout(pictures=len(seeds))
        with hook.attached(loaded.denoiser, scheduler, calls) if hook else nullcontext():
            return loaded.pipeline(
                prompt=scene.prompt.text,
                height=size[0],
                width=size[1],
                num_inference_steps=STEPS,
                guidance_scale=guidance_scale,
                generator=[torch.Generator("cpu").manual_seed(seed) for seed in seeds],
                num_images_per_prompt=len(seeds),
                output_type="latent",
            ).images

    return run


@pytest.fixture(scope="module")
def readings():
    """The readings of the runs of this file, by their arguments."""
    return {}


@pytest.fixture
def steps_of(draw, make_hook, readings):
    """Return the readings of a run, drawn for the first test that asks."""

    def run(strength=None, scheduler_id="", size=(128, 128), scene=SCENE, **settings):
        key = repr((strength, scheduler_id, size, scene, settings))
        if key not in readings:
            steps = []
            hook = make_hook(
                strength,
                scene,
                finish_step=lambda step, _: steps.append(step.reading()),
                **settings,
            )
            draw(hook, scheduler_id, scene=scene, size=size)
            readings[key] = steps
        return readings[key]

    return run


@schedulers
def test_reading_and_step_size_zero_leave_the_untouched_pipelines_latents_to_the_bit(
    draw, make_hook, scheduler_id
):
    untouched = draw(None, scheduler_id)
    for strength in (None, 0.0):
        assert torch.equal(draw(make_hook(strength), scheduler_id), untouched)


@pytest.mark.parametrize(
    "scheduler_id",
    ["DDIMScheduler", "EulerDiscreteScheduler", "UniPCMultistepScheduler"],
)
def test_guidance_lowers_the_loss(steps_of, scheduler_id):
    free, guided = steps_of(0.0, scheduler_id), steps_of(STRONG, scheduler_id)
    assert guided[0].loss == free[0].loss
    assert guided[1].loss < free[1].loss - 0.01


@schedulers
def test_one_pass_in_each_guided_step_raises_pos_to_the_last_step(steps_of, scheduler_id):
    free = steps_of(None, scheduler_id)
    guided = steps_of(STRONG, scheduler_id, first_step=1, last_step=2)
    assert [step.passes for step in guided[:STEPS]] == [0, 1, 1, 0]
    assert guided[1].pos["r1"] == pytest.approx(free[1].pos["r1"], abs=1e-5)
    assert guided[-1].pos["r1"] > free[-1].pos["r1"] + 0.01


@pytest.mark.parametrize("relation_type", [LEFT_OF, RIGHT_OF, ABOVE], ids=lambda t: t.id)
def test_guidance_goes_the_way_of_the_relation(steps_of, relation_type):
    scene = scene_of("dog", "car", relation_type)
    free, guided = steps_of(None, scene=scene), steps_of(STRONG, scene=scene)
    assert guided[0].pos["r1"] == pytest.approx(free[0].pos["r1"], abs=1e-5)
    assert guided[-1].pos["r1"] > free[-1].pos["r1"] + 0.01


def test_one_strength_means_the_same_for_samplers_of_other_units(steps_of, draw, make_hook):
    ddim, scales = steps_of(STRONG, "DDIMScheduler"), []
    euler = steps_of(STRONG, "EulerDiscreteScheduler")
    draw(make_hook(finish_step=lambda s, _: scales.append(s.input_scale)), "EulerDiscreteScheduler")
    assert scales[1] < 0.9
    assert euler[1].pos["r1"] == pytest.approx(ddim[1].pos["r1"], abs=1e-3)


def test_the_first_update_is_the_gradient_of_the_loss_times_the_step_length(
    draw, make_hook, reader, loaded
):
    untouched, guided = [], []
    draw(make_hook(None, finish_step=lambda *ended: untouched.append(ended)))
    draw(make_hook(2.0, finish_step=lambda *ended: guided.append(ended)))
    (_, start), (step, moved) = untouched[0], guided[0]
    words, _ = loaded.pipeline.encode_prompt(SCENE.prompt.text, "cpu", 1, False)
    sample = start.latents.clone().requires_grad_()
    taken = reader.mean()
    with tapped(reader.watch.layers, taken.take):
        loaded.denoiser(sample, start.timestep, words)
    loss = scene_loss(SCENE.relations, reader.read(taken, sample.shape[-2:]).loss_maps())
    (gradient,) = torch.autograd.grad(loss, sample)
    torch.testing.assert_close(start.latents - moved.latents, 2.0 * gradient)
    assert step.reading().loss == pytest.approx(float(loss.detach()))
    assert step.reading().step_size == 2.0


@pytest.mark.parametrize("scale", [4.0, 1.0], ids=["batch of two halves", "batch of one"])
def test_maps_are_those_of_the_prompt_whatever_the_batch(draw, make_hook, scale):
    read, guided = [], []
    draw(make_hook(None, finish_step=lambda s, _: read.append(s.reading())), guidance_scale=scale)
    draw(make_hook(0.0, finish_step=lambda s, _: guided.append(s.reading())), guidance_scale=scale)
    for mention, weights in read[0].snapshot.maps.items():
        assert guided[0].snapshot.maps[mention] == pytest.approx(weights, abs=1e-6)


def test_pictures_need_not_be_square(steps_of):
    steps = steps_of(STRONG, size=(64, 192))
    assert {weights.shape for weights in steps[0].snapshot.maps.values()} == {(8, 24)}
    assert steps[1].loss < steps[0].loss


def test_guidance_acts_within_its_window_only(steps_of):
    steps = steps_of(STRONG, first_step=1, last_step=2)
    assert [step.loss is not None for step in steps] == [False, True, True, False]
    assert [step.step_size is not None for step in steps] == [False, True, True, False]


def test_guidance_rests_once_the_goal_is_reached(steps_of):
    steps = steps_of(STRONG, last_step=3, goal=0.52)
    assert steps[0].loss is not None
    assert steps[-1].loss is None
    assert steps[-1].pos["r1"] >= 0.52


@pytest.mark.parametrize("reuses", [False, True], ids=["own passes", "guiding passes reused"])
def test_of_pictures_drawn_at_once_each_rests_by_its_own_relations(draw, make_hook, reuses):
    def guided(*seeds, goal):
        steps = []
        settings = {"last_step": 3, "goal": goal, "reuses_prediction": reuses}
        hook = make_hook(STRONG, finish_step=lambda step, _: steps.append(step), **settings)
        return steps, draw(hook, seeds=seeds)

    restless = [guided(seed, goal=1)[0][1].reading().pos["r1"] for seed in SEEDS]
    goal = sum(restless) / 2  # one picture reaches it sooner than the other
    alone = [guided(seed, goal=goal) for seed in SEEDS]
    steps, together = guided(*SEEDS, goal=goal)
    awake = [tuple(n for n in (0, 1) if alone[n][0][step].guided) for step in range(STEPS)]
    assert [step.guided for step in steps] == awake
    assert {(0,), (1,)} & set(awake)
    for step, *own in zip(steps, *(of_one for of_one, _ in alone), strict=True):
        assert [step.reading(n).passes for n in (0, 1)] == [each.reading().passes for each in own]
    for number, (_, latents) in enumerate(alone):
        torch.testing.assert_close(together[number], latents[0], atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("reuses", [False, True], ids=["own passes", "guiding passes reused"])
def test_a_picture_that_rests_is_read_while_another_is_guided(draw, make_hook, reuses):
    steps = []
    settings = {"last_step": 3, "goal": 0.9, "reuses_prediction": reuses}
    hook = make_hook(STRONG, finish_step=lambda step, _: steps.append(step), **settings)
    hook._last_pos = {0: {"r1": 1.0}}  # as if it had reached its goal before
    draw(hook, seeds=SEEDS)
    assert steps[0].guided == (1,)
    assert steps[0].reading().pos["r1"] < 0.9
    assert steps[1].guided == (0, 1)


def test_more_inner_updates_go_further(steps_of):
    once, thrice = steps_of(STRONG), steps_of(STRONG, inner_updates=3)
    assert thrice[1].pos["r1"] > once[1].pos["r1"]


@pytest.mark.parametrize("strength", [None, STRONG], ids=["read", "guided"])
def test_after_an_exception_model_and_scheduler_are_as_before(draw, make_hook, loaded, strength):
    before = draw(None)

    def fail(*_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        draw(make_hook(strength, finish_step=fail))
    assert "forward" not in vars(loaded.denoiser)
    assert vars(loaded.pipeline.scheduler).keys().isdisjoint({"step", "scale_model_input"})
    assert not any(
        module._forward_hooks or module._forward_pre_hooks for module in loaded.denoiser.modules()
    )
    assert torch.equal(draw(None), before)


@pytest.mark.parametrize("stop_at", [1, 2, 3, 5])
def test_a_cancelled_token_lets_no_more_model_call_begin(draw, make_hook, loaded, stop_at):
    calls = []
    counter = loaded.denoiser.conv_in.register_forward_pre_hook(lambda *_: calls.append(1))
    with pytest.raises(Cancelled):
        draw(make_hook(STRONG, token=CountingToken(stop_at=stop_at)))
    counter.remove()
    assert len(calls) == stop_at - 1


def test_latents_that_turn_invalid_are_told(draw, make_hook):
    with pytest.raises(BackendError, match="invalid numbers"):
        draw(make_hook(float("nan")))
