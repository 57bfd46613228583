from copy import deepcopy

import diffusers
import pytest
import torch
from diffusers import DDIMScheduler

from spatialstudio.adapters.diffusion.guidance_hook import move_along

pytestmark = pytest.mark.filterwarnings(  # diffusers 0.42 with numpy 2
    "ignore:__array_:DeprecationWarning"
)

STEPS = 20
SHAPE = (1, 4, 8, 8)


class Sampling:
    """A sampler amid a run whose noise is told in advance."""

    def __init__(self, scheduler_id):
        betas = {"beta_schedule": "scaled_linear", "beta_start": 0.00085, "beta_end": 0.012}
        usual = DDIMScheduler(clip_sample=False, **betas)
        self.scheduler = getattr(diffusers, scheduler_id).from_config(usual.config)
        self.scheduler.set_timesteps(STEPS)
        self.latents = torch.ones(SHAPE) * self.scheduler.init_noise_sigma

    def scale_to_vp(self, step):
        timestep = self.scheduler.timesteps[step]
        return float(deepcopy(self.scheduler).scale_model_input(torch.ones(1), timestep))

    def step(self, step, shift=0.0):
        shift = shift / self.scale_to_vp(step) * torch.ones(SHAPE)
        move_along(self.scheduler, shift)
        noise = torch.randn(SHAPE, generator=torch.Generator().manual_seed(step))
        timestep, before = self.scheduler.timesteps[step], self.latents - shift
        self.latents = self.scheduler.step(noise, timestep, before).prev_sample


@pytest.fixture
def left_of():
    """Tell how much is left of a move after the step that it was made on, VP units."""

    def measure(scheduler_id, step):
        moved = Sampling(scheduler_id)
        for earlier in range(step):
            moved.step(earlier)
        still = deepcopy(moved)
        torch.manual_seed(0)  # of samplers that add noise
        still.step(step)
        torch.manual_seed(0)
        moved.step(step, shift=1.0)
        return float((still.latents - moved.latents).mean()) * still.scale_to_vp(step + 1)

    return measure


@pytest.mark.parametrize("step", [1, 2, 7], ids=["second", "third", "eighth"])
@pytest.mark.parametrize(
    "scheduler_id",
    [
        "DEISMultistepScheduler",
        "DPMSolverMultistepScheduler",
        "DPMSolverSinglestepScheduler",
        "EulerAncestralDiscreteScheduler",
        "EulerDiscreteScheduler",
        "UniPCMultistepScheduler",
    ],
)
def test_a_move_goes_as_far_as_with_ddim(left_of, scheduler_id, step):
    assert left_of(scheduler_id, step) == pytest.approx(left_of("DDIMScheduler", step), rel=0.25)


@pytest.mark.parametrize("step", [1, 2, 7], ids=["second", "third", "eighth"])
@pytest.mark.parametrize(
    "scheduler_id",
    ["HeunDiscreteScheduler", "KDPM2AncestralDiscreteScheduler", "KDPM2DiscreteScheduler"],
)
def test_a_move_outlives_the_stages_of_a_step(left_of, scheduler_id, step):
    assert left_of(scheduler_id, step) > 0.99


def test_no_move_leaves_a_sampler_as_it_is():
    sampling = Sampling("UniPCMultistepScheduler")
    sampling.step(0)
    kept = sampling.scheduler.last_sample
    move_along(sampling.scheduler, torch.zeros(SHAPE))
    assert sampling.scheduler.last_sample is kept
