"""Pictures become the latents of each family and back."""

from types import SimpleNamespace

import pytest
import torch

from spatialstudio.adapters.diffusion.families import LatentForm
from spatialstudio.adapters.diffusion.latent_codec import (
    as_latents,
    as_picture,
    decode_latents,
    encode_picture,
)


class EchoAutoencoder:
    """Decodes what it encodes; holds the mode of a distribution like a diffusers autoencoder."""

    dtype = torch.float32

    def __init__(self, config, norm=None, answer="latent_dist"):
        self.config = SimpleNamespace(**config)
        self.bn = norm
        self._answer = answer

    def encode(self, pixels):
        value = SimpleNamespace(mode=lambda: pixels) if self._answer == "latent_dist" else pixels
        return SimpleNamespace(**{self._answer: value})

    def decode(self, latents, return_dict):
        return (latents,)


NORM = SimpleNamespace(running_mean=torch.arange(12.0), running_var=torch.arange(1.0, 13.0))
CODERS = {
    "scale and shift": EchoAutoencoder({"scaling_factor": 0.36, "shift_factor": 0.12}),
    "scale alone": EchoAutoencoder({"scaling_factor": 4.0}, answer="latent"),
    "tiny": EchoAutoencoder({"scaling_factor": 2.0, "shift_factor": None}, answer="latents"),
    "video": EchoAutoencoder(
        {"z_dim": 3, "latents_mean": [1.0, 2.0, 3.0], "latents_std": [0.5, 2.0, 4.0]}
    ),
    "patches": EchoAutoencoder({"batch_norm_eps": 0.1}, NORM),
}


@pytest.fixture
def pixels():
    return torch.rand(1, 3, 4, 6, generator=torch.Generator().manual_seed(0)) * 2 - 1


@pytest.mark.parametrize("name", CODERS)
def test_decoding_undoes_encoding(name, pixels):
    latents = encode_picture(CODERS[name], pixels)
    assert torch.allclose(decode_latents(CODERS[name], latents), pixels, atol=1e-5)
    assert not torch.allclose(latents.flatten(), pixels.flatten())


def test_an_autoencoder_that_overflows_encodes_in_float32(pixels):
    kept = []

    class HalfAutoencoder(EchoAutoencoder):
        dtype = torch.float16

        def to(self, dtype):
            self.dtype = dtype
            kept.append(dtype)

    coder = HalfAutoencoder({"scaling_factor": 1.0, "force_upcast": True})
    assert torch.equal(encode_picture(coder, pixels), pixels)
    assert kept == [torch.float32, torch.float16]


@pytest.mark.parametrize("form", LatentForm, ids=lambda form: form.value)
def test_every_layout_of_latents_becomes_a_picture_and_back(form):
    picture = torch.arange(2 * 4 * 4 * 6.0).reshape(2, 4, 4, 6)
    size = (2, 3) if form is LatentForm.PACKED else (4, 6)
    assert torch.equal(as_picture(as_latents(picture, form), form, size), picture)
