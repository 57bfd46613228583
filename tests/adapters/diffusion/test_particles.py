"""Steered runs of every family and sampler: particles continue as if they were drawn alone."""

from dataclasses import replace

import diffusers
import numpy as np
import pytest
import torch
from diffusers import DDIMScheduler, EDMEulerScheduler, FlowMatchEulerDiscreteScheduler

from spatialstudio.adapters.diffusion import particles
from spatialstudio.adapters.diffusion.diffusers_backend import DiffusersBackend, _wanted
from spatialstudio.adapters.diffusion.particles import (
    noise_shares,
    particles_at_once,
    repeated,
    resample_sampler,
    with_fresh_noise,
)
from spatialstudio.adapters.diffusion.patched import patched_attribute
from spatialstudio.adapters.diffusion.pipeline_arguments import pipeline_arguments
from spatialstudio.api import open_run, steer
from spatialstudio.application.paths import HOME_VARIABLE
from spatialstudio.domain.errors import Cancelled, RequestError
from spatialstudio.domain.generation import (
    CaptureSettings,
    GenerationRequest,
    GenerationStarted,
    GuidanceSettings,
    ModelRef,
    RequestId,
    SamplingSettings,
    StepEvent,
)
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.steering import Steering, StepReward
from spatialstudio.science.guidance.steering import particle_seeds
from tests.adapters.diffusion.drawn_families import card_of
from tests.adapters.diffusion.tiny_families import TINY_FAMILIES
from tests.fakes import CountingToken, scene_of

pytestmark = [
    pytest.mark.filterwarnings("ignore:__array_:DeprecationWarning"),  # diffusers 0.42, numpy 2
    pytest.mark.filterwarnings("ignore:`clean_caption"),
    pytest.mark.filterwarnings("ignore:`upcast_vae"),  # which its own pipeline calls
]

STEPS = 4
SEEDS = particle_seeds(7, 3)
HALVING = Steering(
    particles=2,
    keep=0.5,
    start=0.5,
    every=1.0,
    strength=1000.0,
    rewards=(StepReward.PICTURE,),
)
"""One of two particles continues after the second of four steps."""

PREFERS_FIRST, PREFERS_SECOND = (1.0, 0.0, 1.0), (0.0, 1.0, 1.0)
"""Rewards of both after the second step, then of the one that is left."""


class Steered:
    """A family whose model is loaded."""

    def __init__(self, tiny, folder, archives):
        self.tiny = tiny
        self.card = card_of(folder)
        self.backend = DiffusersBackend(archives)
        self.rows = []

    def request(self, **changes):
        height, width = self.tiny.wide
        plain = GenerationRequest(
            id=RequestId("run"),
            scene=scene_of(),
            backend_id="diffusers",
            model=ModelRef(id="tiny"),
            sampling=SamplingSettings(seed=SEEDS[0], steps=STEPS),
            height=height,
            width=width,
            capture=CaptureSettings(attention_every=0, preview_every=0),
        )
        return with_values(plain, **changes)

    def draw(self, request, rewards=(), token=None):
        """Return the events of a run whose particles get rewards in the order of the ratings."""
        left, events = iter(rewards), []

        def listen(forward, *args, **kwargs):
            self.rows.append(len(args[0] if args else kwargs["hidden_states"]))
            return forward(*args, **kwargs)

        denoiser = self.backend._ready(self.card, _wanted(request, self.card)).denoiser
        self.rows = []
        with patched_attribute(denoiser, "forward", listen):
            finished = self.backend.generate(
                request,
                self.card,
                token or CountingToken(),
                events.append,
                rate=lambda _picture, _maps: next(left),
            )
        return [*events, finished]


def steps_of(events):
    return [event for event in events if isinstance(event, StepEvent)]


def assert_alike(one, other):
    """Pictures of a batch differ from those drawn alone by rounding only."""
    assert np.abs(one.astype(int) - other).max() <= 2


@pytest.fixture(scope="module", params=TINY_FAMILIES, ids=lambda tiny: tiny.pipeline_class)
def family(request, tiny_folder, tmp_path_factory):
    folder = tiny_folder(request.param.pipeline_class)
    return Steered(request.param, folder, tmp_path_factory.mktemp("archives"))


@pytest.fixture(scope="module")
def stable(tiny_folder, tmp_path_factory):
    (tiny,) = (each for each in TINY_FAMILIES if each.pipeline_class == "StableDiffusionPipeline")
    folder = tiny_folder(tiny.pipeline_class)
    return Steered(tiny, folder, tmp_path_factory.mktemp("archives"))


def test_the_particle_that_continues_gives_the_picture_of_its_seed(family):
    alone = family.draw(family.request(seed=SEEDS[1]))[-1].image
    steered = family.draw(family.request(steering=HALVING), PREFERS_SECOND)
    assert_alike(steered[-1].image, alone)
    assert [event.particles.passes for event in steps_of(steered)[-STEPS:]] == [2, 2, 1, 1]
    many, few = family.rows[0], family.rows[-1]
    assert many == 2 * few
    assert family.rows == sorted(family.rows, reverse=True)
    assert 2 * family.rows.count(few) in (len(family.rows), len(family.rows) - 1)


def test_a_users_pipeline_is_steered_as_the_program_steers(family):
    request = family.request(seed=SEEDS[1])
    alone = family.draw(request)[-1].image
    loaded, left = family.backend._loaded, iter(PREFERS_SECOND)
    arguments = pipeline_arguments(loaded, family.request())
    values = {"keep": 0.5, "start": 0.5, "every": 1.0, "strength": 1000.0}
    with steer(
        loaded.pipeline,
        request.scene,
        particles=2,
        reward=lambda _: next(left),
        method="none",
        **values,
    ) as run:
        (picture,) = loaded.pipeline(**arguments).images
    assert_alike((picture * 255).round(), alone)
    assert [step.particles.passes for step in run.steps[-STEPS:]] == [2, 2, 1, 1]
    assert run.steps[0].particles.shown == 1
    assert len(run.pictures) == 1


def test_a_steered_call_is_saved_with_its_steering(stable, tmp_path, monkeypatch):
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    request = stable.request()
    pipeline = stable.backend._ready(stable.card, _wanted(request, stable.card)).pipeline
    arguments = pipeline_arguments(stable.backend._loaded, request)
    with steer(pipeline, request.scene, particles=2, method="none") as run:
        pipeline(**arguments)
    record = open_run(run.save(tmp_path / "runs")).record
    assert record.request.steering == Steering(particles=2, rewards=(StepReward.ATTENTION,))
    assert record.request.sampling.seed == SEEDS[0]
    assert record.trace[-1].particles.rewards


def test_guidance_acts_on_every_particle_and_large_ones_are_denoised_in_turn(family, monkeypatch):
    monkeypatch.setattr(particles, "MOST_POSITIONS", 1)
    guidance = GuidanceSettings(method_id="psg", strength=2000.0, last_step=3)
    alone = family.draw(family.request(seed=SEEDS[1], guidance=guidance))[-1].image
    request = family.request(steering=HALVING, guidance=guidance)
    steered = family.draw(request, PREFERS_SECOND)
    assert all(event.guiding_passes == 1 for event in steps_of(steered))
    assert max(family.rows) <= 2
    close = np.abs(steered[-1].image.astype(int) - alone) <= 8  # gradients amplify rounding
    assert close.mean() > 0.9


def test_copies_of_a_particle_differ_and_a_run_can_be_repeated(family):
    steering = replace(HALVING, particles=3, keep=0.6)
    request = family.request(steering=steering, capture=CaptureSettings(preview_every=1))
    rewards = (0.0, 1.0, 0.0, 0.2, 0.9)
    first, again = (family.draw(request, rewards) for _ in range(2))
    _, second_step, _, own, *_ = steps_of(first)
    assert second_step.particles.parents == (1, 1)
    copy = steps_of(first)[-1]
    assert (own.particles.shown, copy.particles.shown) == (0, 1)
    assert not np.array_equal(own.preview, copy.preview)
    assert np.array_equal(first[-1].image, again[-1].image)


DETERMINISTIC = (
    "DDIMScheduler",
    "DEISMultistepScheduler",
    "DPMSolverMultistepScheduler",
    "EulerDiscreteScheduler",
    "HeunDiscreteScheduler",
    "PNDMScheduler",
    "UniPCMultistepScheduler",
)


@pytest.mark.parametrize("scheduler_id", DETERMINISTIC)
def test_the_state_of_every_sampler_continues_with_its_particle(stable, scheduler_id):
    request = stable.request(scheduler_id=scheduler_id)
    alone = stable.draw(with_values(request, seed=SEEDS[1]))[-1].image
    steered = stable.draw(replace(request, steering=HALVING), PREFERS_SECOND)[-1].image
    assert_alike(steered, alone)


@pytest.mark.parametrize("scheduler_id", ["DDPMScheduler", "EulerAncestralDiscreteScheduler"])
def test_samplers_that_add_noise_separate_copies_themselves(stable, scheduler_id, monkeypatch):
    monkeypatch.setattr(
        "spatialstudio.adapters.diffusion.guidance_hook.with_fresh_noise",
        lambda *_: pytest.fail("noise was added twice"),
    )
    steering = replace(HALVING, particles=3, keep=0.6)
    request = stable.request(
        scheduler_id=scheduler_id, steering=steering, capture=CaptureSettings(preview_every=1)
    )
    events = stable.draw(request, (0.0, 1.0, 0.0, 0.2, 0.9))
    assert not np.array_equal(steps_of(events)[3].preview, events[-2].preview)


def test_the_steps_of_the_best_particle_come_last(stable):
    steering = replace(HALVING, keep=1.0, strength=0.0)
    events = stable.draw(stable.request(steering=steering), (0.9, 0.1, 0.2, 0.8))
    started = [event for event in events if isinstance(event, GenerationStarted)]
    assert [event.is_repeated for event in started] == [False, True]
    assert [event.particles.shown for event in steps_of(events)] == [0] * STEPS + [1] * STEPS
    assert steps_of(events)[-1].particles.rewards == (0.2, 0.8)
    assert_alike(events[-1].image, stable.draw(stable.request(seed=SEEDS[1]))[-1].image)


def test_steps_of_a_run_that_keeps_its_particle_are_reported_once(stable):
    events = stable.draw(stable.request(steering=HALVING), PREFERS_FIRST)
    assert [event.step for event in steps_of(events)] == list(range(STEPS))


def test_one_particle_is_no_steering(stable):
    request = stable.request()
    plain = stable.draw(request)
    off = stable.draw(replace(request, steering=Steering(particles=1, strength=3.0)))
    assert np.array_equal(plain[-1].image, off[-1].image)
    assert {event.particles for event in steps_of(off)} == {None}


def test_without_a_rater_particles_are_rated_by_their_attention(stable):
    events = []
    request = stable.request(steering=HALVING)
    stable.backend.generate(request, stable.card, CountingToken(), events.append)
    rewards = steps_of(events)[1].particles.rewards
    assert len(set(rewards)) == 2
    assert all(0 < reward < 1 for reward in rewards)


def test_no_model_call_follows_a_cancelled_token(stable):
    stable.draw(stable.request(steering=HALVING), PREFERS_FIRST, token := CountingToken())
    with pytest.raises(Cancelled):
        stable.draw(
            stable.request(steering=HALVING),
            PREFERS_FIRST,
            CountingToken(stop_at=token.asked - 3),
        )
    assert len(stable.rows) < STEPS


@pytest.mark.parametrize(
    "scheduler",
    [
        *(
            pytest.param(
                getattr(diffusers, name).from_config(DDIMScheduler(clip_sample=False).config),
                id=name,
            )
            for name in ("DDIMScheduler", "DPMSolverMultistepScheduler", "EulerDiscreteScheduler")
        ),
        pytest.param(EDMEulerScheduler(), id="EDM"),
        pytest.param(FlowMatchEulerDiscreteScheduler(), id="rectified flow"),
    ],
)
def test_fresh_noise_keeps_clean_latents_and_noise_level(scheduler):
    scheduler.set_timesteps(10)
    generator = torch.Generator().manual_seed(0)
    clean, noise, fresh = torch.randn(3, 1, 4, 64, 64, generator=generator)
    call = 4
    time = scheduler.timesteps[call : call + 1]
    if isinstance(scheduler, FlowMatchEulerDiscreteScheduler):
        latents, scale = scheduler.scale_noise(clean, time, noise), 1.0
    else:
        latents = scheduler.add_noise(clean, noise, time)
        scaled = getattr(scheduler, "scale_model_input", lambda one, _: one)
        scale = float(scaled(torch.ones(1), scheduler.timesteps[call]))
    shares = noise_shares(scheduler, call, scale)
    changed = (with_fresh_noise(latents, clean, fresh, shares) - shares[0] * clean) / shares[1]
    assert float(changed.std()) == pytest.approx(1, abs=0.03)
    correlation = float(torch.corrcoef(torch.stack([changed.flatten(), noise.flatten()]))[0, 1])
    assert correlation == pytest.approx(0.75**0.5, abs=0.02)


def test_a_sampler_keeps_what_is_not_its_state(stable):
    scheduler = DDIMScheduler()
    scheduler.set_timesteps(4)
    scheduler.history = [torch.arange(2.0)[:, None], None]
    resample_sampler(scheduler, (1, 1), torch.Size((2, 1)))
    assert scheduler.history[0].flatten().tolist() == [1, 1]
    assert scheduler.timesteps.tolist() == [750, 500, 250, 0]


@pytest.mark.parametrize(
    ("latent_size", "count"), [((16, 16), 16), ((64, 64), 1), ((128, 128), 1)], ids=str
)
def test_only_small_pictures_share_a_call(latent_size, count):
    assert particles_at_once(latent_size) == count


@pytest.mark.parametrize(
    ("settings", "arguments", "message"),
    [
        ({"speed": 2}, {}, 'no setting "speed"'),
        ({"keep": 2.0}, {}, "particles that continue cannot be 2"),
        ({"particles": 1}, {}, "at least 2 particles"),
        ({"potential": "product"}, {}, "known potential"),
        ({}, {"generator": None}, "needs a seed"),
        ({}, {"num_images_per_prompt": 2}, "draws one picture"),
        ({}, {"latents": torch.zeros(1, 4, 8, 8)}, "makes its noise itself"),
    ],
    ids=["unknown", "range", "one particle", "potential", "no seed", "pictures", "latents"],
)
def test_what_cannot_be_steered_is_refused(stable, settings, arguments, message):
    request = stable.request()
    stable.backend._ready(stable.card, _wanted(request, stable.card))
    loaded = stable.backend._loaded
    given = pipeline_arguments(loaded, request) | arguments
    with (
        pytest.raises(RequestError, match=message),
        steer(loaded.pipeline, request.scene, **settings),
    ):
        loaded.pipeline(**given)


def test_entries_that_occurred_before_are_found():
    assert repeated((2, 0, 2, 2, 1)) == [2, 3]
