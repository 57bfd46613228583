"""A local repair keeps latents outside its regions, under every sampler and in every family."""

from dataclasses import replace

import diffusers
import numpy as np
import pytest
import torch

from spatialstudio.adapters.diffusion.latent_updates import without_channel_means
from spatialstudio.adapters.diffusion.masked_latents import MaskedLatents
from spatialstudio.domain.errors import Cancelled, RequestError
from spatialstudio.domain.repair import LocalRepair, Region
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.steering import Steering, StepReward
from tests.adapters.diffusion.drawn_families import (
    CAPTURED,
    FAMILY_WARNINGS,
    NINE_SAMPLERS,
    STRONG,
    decoded_by,
    steps_of,
)
from tests.fakes import CountingToken

pytestmark = FAMILY_WARNINGS
LEFT_HALF = Region(x=0.0, y=0.0, width=0.5, height=1.0)
REPAIR = LocalRepair(start="start", sha256="", regions=(LEFT_HALF,))


def repaired(drawn, request, start, token=None):
    """Return the events of a repair, and the latents that the autoencoder decoded."""
    events = []
    with decoded_by(drawn.loaded.pipeline) as latents:
        finished = drawn.backend.generate(
            request, drawn.card, token or CountingToken(), events.append, start=start
        )
    return [*events, finished], latents[-1]


def halves(picture):
    middle = picture.shape[1] // 2
    return picture[:, :middle], picture[:, middle:]


def test_every_family_redraws_the_region_and_nothing_else(family, make_request):
    request = make_request(family.tiny.size)
    start = family.run(request).image
    other = replace(with_values(request, seed=99, guidance=STRONG), repair=REPAIR, capture=CAPTURED)
    events, latents = repaired(family, other, start)
    redrawn, kept = halves(events[-1].image)
    assert np.array_equal(kept, halves(start)[1])
    assert not np.array_equal(redrawn, halves(start)[0])
    assert steps_of(events)[0].guidance_loss > 0
    assert steps_of(events)[0].attention is not None
    again = repaired(family, other, start)[1]
    assert torch.equal(again, latents)


@pytest.mark.parametrize("scheduler_id", NINE_SAMPLERS)
def test_every_sampler_ends_at_the_start_outside_the_regions(
    samplers_model, make_request, scheduler_id
):
    drawn = samplers_model("PixArtAlphaPipeline")
    request = make_request(drawn.tiny.size, scheduler_id=scheduler_id, steps=4)
    start = drawn.draw(request)[-1].image
    _, one = repaired(drawn, replace(with_values(request, seed=1), repair=REPAIR), start)
    _, other = repaired(drawn, replace(with_values(request, seed=2), repair=REPAIR), start)
    middle = one.shape[-1] // 2
    assert torch.equal(one[..., middle:], other[..., middle:])
    assert not torch.allclose(one[..., :middle], other[..., :middle])


@pytest.mark.parametrize(
    "scheduler",
    [
        diffusers.DDIMScheduler(clip_sample=False),
        diffusers.EulerDiscreteScheduler(),
        diffusers.FlowMatchEulerDiscreteScheduler(),
    ],
    ids=lambda scheduler: type(scheduler).__name__,
)
def test_the_held_latents_are_those_of_the_samplers_own_path(scheduler):
    """With the true noise as the prediction, a sampler reaches the held latents by itself."""
    clean, noise = torch.randn(2, 1, 4, 8, 8, generator=torch.Generator().manual_seed(3))
    scheduler.set_timesteps(8)
    is_flow = not hasattr(scheduler, "init_noise_sigma")
    latents = noise * getattr(scheduler, "init_noise_sigma", 1.0)
    masked, own = MaskedLatents(clean, torch.zeros_like(clean)), []
    step = scheduler.step
    scheduler.step = lambda *given, **more: own.append(step(*given, **more)[0]) or (own[-1],)
    with masked.attached(scheduler):
        for time in scheduler.timesteps:
            latents = scheduler.step(noise - clean if is_flow else noise, time, latents)[0]
            if len(own) > 1:
                assert torch.allclose(own[-1], latents, atol=1e-3)
    assert torch.allclose(latents, clean)


def test_the_scheduler_is_itself_again_afterwards():
    scheduler = diffusers.DDIMScheduler()
    masked = MaskedLatents(torch.zeros(1), torch.zeros(1))
    with pytest.raises(ZeroDivisionError), masked.attached(scheduler):
        raise ZeroDivisionError
    assert "step" not in vars(scheduler)


@pytest.fixture
def stickers_like(samplers_model):
    return samplers_model("StableDiffusionPipeline")


@pytest.fixture
def start_and_request(stickers_like, make_request):
    request = make_request(stickers_like.tiny.size)
    start = stickers_like.draw(request)[-1].image
    return start, replace(with_values(request, seed=5), repair=REPAIR)


def test_particles_are_repaired_as_well(stickers_like, start_and_request):
    start, request = start_and_request
    steering = Steering(particles=2, start=0, rewards=(StepReward.ATTENTION,))
    events, _ = repaired(stickers_like, replace(request, steering=steering), start)
    assert np.array_equal(halves(events[-1].image)[1], halves(start)[1])


def test_a_repair_is_cancelled_like_any_run(stickers_like, start_and_request):
    start, request = start_and_request
    with pytest.raises(Cancelled):
        repaired(stickers_like, request, start, CountingToken(stop_at=3))


def test_a_picture_of_another_size_is_refused(stickers_like, start_and_request):
    start, request = start_and_request
    with pytest.raises(RequestError, match="differ in size") as refusal:
        repaired(stickers_like, request, start[:, :-8])
    assert "pixels" in refusal.value.hint


def test_a_region_below_the_models_grid_is_refused(stickers_like, start_and_request):
    start, request = start_and_request
    speck = Region(x=0.26, y=0.26, width=0.02, height=0.02)
    repair = replace(REPAIR, regions=(speck,))
    with pytest.raises(RequestError, match="smaller than the model's grid"):
        repaired(stickers_like, replace(request, repair=repair), start)


def test_updates_leave_kept_latents_and_the_colours_of_the_region():
    inside = torch.zeros(1, 2, 4, 4)
    inside[..., :2] = 1
    gradient = torch.rand(1, 2, 4, 4) * inside
    changed = without_channel_means(gradient, inside)
    assert not changed[..., 2:].any()
    assert torch.allclose(changed.sum((-2, -1)), torch.zeros(1, 2), atol=1e-5)
