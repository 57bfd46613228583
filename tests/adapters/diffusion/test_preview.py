import numpy as np
import pytest
import torch
from diffusers import AutoencoderKL, AutoencoderTiny

from spatialstudio.adapters.diffusion.preview import decode_preview, preview_decoder
from spatialstudio.adapters.stickers.training.train import SMOKE
from spatialstudio.adapters.stickers.training.train_autoencoder import build_autoencoder, encode


@pytest.fixture
def clean():
    return torch.randn(1, 4, 8, 12, generator=torch.Generator().manual_seed(0))


def test_a_tiny_autoencoder_decodes_previews_wholly(clean):
    autoencoder = AutoencoderTiny(
        encoder_block_out_channels=(8, 8),
        decoder_block_out_channels=(8, 8),
        num_encoder_blocks=(1, 1),
        num_decoder_blocks=(1, 1),
    )
    picture = decode_preview(preview_decoder(autoencoder), clean)
    assert (picture.shape, picture.dtype) == ((16, 24, 3), np.uint8)


def test_a_linear_encoder_is_turned_around():
    autoencoder = build_autoencoder(SMOKE.autoencoder)
    generator = torch.Generator().manual_seed(0)
    latents = torch.randn(1, 16, 2, 3, generator=generator)
    preview = preview_decoder(autoencoder)(latents)
    assert preview.shape == (1, 3, 16, 24)
    torch.testing.assert_close(encode(autoencoder, preview), latents, rtol=1e-3, atol=1e-3)


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
