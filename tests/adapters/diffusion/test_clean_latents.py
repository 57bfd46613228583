import pytest
import torch
from diffusers import (
    DDIMScheduler,
    DPMSolverMultistepScheduler,
    EDMEulerScheduler,
    EulerDiscreteScheduler,
    FlowMatchEulerDiscreteScheduler,
)

from spatialstudio.adapters.diffusion.families import LatentForm
from spatialstudio.adapters.diffusion.latent_codec import as_picture
from spatialstudio.adapters.diffusion.preview import (
    corrected,
    predicted_clean_latents,
    signal_of,
)

SIGMA = 3.0


@pytest.fixture
def clean():
    return torch.randn(1, 4, 8, 12, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def noise():
    return torch.randn(1, 4, 8, 12, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("prediction_type", ["epsilon", "v_prediction", "sample"])
def test_a_perfect_prediction_gives_the_clean_latents(clean, noise, prediction_type):
    scheduler = DDIMScheduler(prediction_type=prediction_type)
    timestep = torch.tensor(400)
    noisy = scheduler.add_noise(clean, noise, timestep[None])
    outputs = {
        "epsilon": noise,
        "v_prediction": scheduler.get_velocity(clean, noise, timestep[None]),
        "sample": clean,
    }
    found = predicted_clean_latents(
        scheduler, outputs[prediction_type], timestep, noisy, input_scale=1.0
    )
    torch.testing.assert_close(found, clean, rtol=1e-4, atol=1e-4)


def test_latents_in_units_of_sigma_give_the_same(clean, noise):
    found = predicted_clean_latents(
        EulerDiscreteScheduler(prediction_type="epsilon"),
        noise,
        torch.tensor(400),
        clean + SIGMA * noise,
        input_scale=(SIGMA**2 + 1) ** -0.5,
    )
    torch.testing.assert_close(found, clean, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "scheduler",
    [
        FlowMatchEulerDiscreteScheduler(),
        DPMSolverMultistepScheduler(prediction_type="flow_prediction", use_flow_sigmas=True),
    ],
    ids=["of its own", "of a common sampler"],
)
def test_rectified_flow_gives_the_same(clean, noise, scheduler):
    noisy = 0.6 * clean + 0.4 * noise
    found = predicted_clean_latents(
        scheduler, noise - clean, torch.tensor(400.0), noisy, input_scale=1.0
    )
    torch.testing.assert_close(found, clean, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("prediction_type", ["epsilon", "v_prediction"])
def test_models_of_edm_are_understood_as_their_sampler_does(clean, noise, prediction_type):
    scheduler = EDMEulerScheduler(sigma_data=0.5, prediction_type=prediction_type)
    noisy, timestep = 0.5 * clean + SIGMA * noise, torch.tensor(0.0)
    scale = (SIGMA**2 + 0.5**2) ** -0.5
    signal = signal_of(scheduler, timestep, scale)
    assert signal == pytest.approx(0.5**2 * scale**2)
    theirs = scheduler.precondition_outputs(noisy, noise, SIGMA)
    found = predicted_clean_latents(scheduler, noise, timestep, noisy, scale)
    torch.testing.assert_close(found, theirs)
    more = corrected(scheduler, noise, clean, signal)
    moved = predicted_clean_latents(scheduler, more, timestep, noisy, scale)
    torch.testing.assert_close(noisy - moved, noisy - theirs + SIGMA * clean)


@pytest.mark.parametrize("form", LatentForm, ids=lambda form: form.value)
def test_latents_of_every_form_become_a_picture(form):
    picture = torch.arange(2 * 4 * 6.0).reshape(1, 2, 4, 6)
    patches = picture.reshape(1, 2, 2, 2, 3, 2).permute(0, 2, 4, 1, 3, 5)
    given, size = {
        LatentForm.PICTURE: (picture, (4, 6)),
        LatentForm.TOKENS: (picture.flatten(2).transpose(1, 2), (4, 6)),
        LatentForm.PACKED: (patches.reshape(1, 6, 8), (2, 3)),
    }[form]
    assert torch.equal(as_picture(given, form, size), picture)
