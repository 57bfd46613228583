"""What a guided step costs more than a plain one, counted in arithmetic, not in seconds.

The shares are those of methods.md, section 3.6, for Stable Diffusion 1.4 at 512 pixels.
"""

import pytest
import torch
from diffusers import UNet2DConditionModel
from torch.utils.flop_counter import FlopCounterMode

from spatialstudio.adapters.backends.attention_tap import tapped
from spatialstudio.adapters.backends.attention_layers import guiding_layers, unet_text_layers

LATENT_SIDE = 64
TOKENS = 77
WORDS = (5, 9)


@pytest.fixture(scope="module")
def unet():
    with torch.device("meta"):
        return UNet2DConditionModel(
            sample_size=LATENT_SIDE, cross_attention_dim=768
        ).requires_grad_(False)


@pytest.fixture(scope="module")
def layers(unet):
    return guiding_layers(unet_text_layers(unet), LATENT_SIDE)


@pytest.fixture
def inputs():
    sample = torch.empty(1, 4, LATENT_SIDE, LATENT_SIDE, device="meta")
    timestep, words = (
        torch.empty(1, device="meta"),
        torch.empty(1, TOKENS, 768, device="meta"),
    )
    return sample, timestep, words


@pytest.fixture
def whole_pass(unet, inputs):
    with FlopCounterMode(display=False) as counted:
        unet(*inputs)
    return counted.get_total_flops()


def test_the_guiding_pass_ends_halfway(unet, layers, inputs, whole_pass):
    with (
        FlopCounterMode(display=False) as counted,
        tapped(layers, WORDS, stops_early=True),
    ):
        unet(*inputs)
    assert counted.get_total_flops() / whole_pass == pytest.approx(0.49, abs=0.02)


def test_its_gradient_costs_about_as_much_again(unet, layers, inputs, whole_pass):
    sample, *rest = inputs
    sample.requires_grad_()
    with tapped(layers, WORDS, stops_early=True) as probabilities:
        unet(sample, *rest)
    total = torch.stack([layer.sum() for layer in probabilities]).sum()
    with FlopCounterMode(display=False) as counted:
        torch.autograd.grad(total, sample)
    assert counted.get_total_flops() / whole_pass == pytest.approx(0.55, abs=0.02)


def test_reading_the_ordinary_pass_adds_next_to_nothing(unet, layers, inputs, whole_pass):
    with FlopCounterMode(display=False) as counted, tapped(layers, WORDS):
        unet(*inputs)
    assert counted.get_total_flops() / whole_pass < 1.001
