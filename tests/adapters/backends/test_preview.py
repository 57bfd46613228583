import numpy as np
import pytest
import torch
from diffusers import AutoencoderKL, AutoencoderTiny, DDIMScheduler, EulerDiscreteScheduler

from spatialstudio.adapters.backends.preview import (
    decode_preview,
    predicted_clean_latents,
    preview_decoder,
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


def test_a_tiny_autoencoder_decodes_previews_wholly(clean):
    autoencoder = AutoencoderTiny(
        encoder_block_out_channels=(8, 8),
        decoder_block_out_channels=(8, 8),
        num_encoder_blocks=(1, 1),
        num_decoder_blocks=(1, 1),
    )
    picture = decode_preview(preview_decoder(autoencoder), clean)
    assert (picture.shape, picture.dtype) == ((16, 24, 3), np.uint8)


@pytest.fixture(scope="module")
def large_autoencoder():
    torch.manual_seed(0)
    return AutoencoderKL(block_out_channels=(8, 8), norm_num_groups=4, latent_channels=4).eval()


def test_other_autoencoders_give_one_colour_a_latent(large_autoencoder, clean):
    picture = decode_preview(preview_decoder(large_autoencoder), clean)
    assert picture.shape == (8, 12, 3)


def test_that_colour_is_what_the_decoder_makes_of_a_flat_patch(large_autoencoder):
    decode = preview_decoder(large_autoencoder)
    flat = torch.zeros(1, 4, 4, 4)
    with torch.no_grad():
        wanted = large_autoencoder.decode(flat).sample.mean((-2, -1))
    torch.testing.assert_close(decode(flat)[..., 0, 0], wanted)
