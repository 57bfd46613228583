"""What a guided step costs more than a plain one, counted in arithmetic, not in seconds.

The shares are those of methods.md, section 3.6, for Stable Diffusion 1.4 at 512 pixels.
"""

import time
import timeit

import pytest
import torch
from diffusers import UNet2DConditionModel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from spatialstudio.adapters.diffusion.attention_layers import guiding_layers, unet_text_layers
from spatialstudio.adapters.diffusion.attention_tap import MeanAttention, tapped
from spatialstudio.domain.scene import (
    ABOVE,
    BELOW,
    LEFT_OF,
    RIGHT_OF,
    Relation,
)
from spatialstudio.science.guidance.losses import scene_loss
from tests.performance.measure_run_cost import count_pass

LATENT_SIDE = 64
TOKENS = 77
WORDS = (5, 9)
MAP_SIDE = 64


@pytest.fixture(scope="module")
def unet():
    with torch.device("meta"):
        return UNet2DConditionModel(
            sample_size=LATENT_SIDE, cross_attention_dim=768
        ).requires_grad_(False)


@pytest.fixture(scope="module")
def layers(unet):
    return guiding_layers(unet_text_layers(unet), LATENT_SIDE)


@pytest.fixture(scope="module")
def cost():
    """The arithmetic of a plain pass, of a guiding pass and of its gradient."""
    return count_pass()


def test_the_guiding_pass_ends_halfway(cost):
    assert cost.guiding / cost.whole == pytest.approx(0.49, abs=0.02)


def test_its_gradient_about_doubles_the_cost(cost):
    assert cost.gradient / cost.whole == pytest.approx(0.55, abs=0.02)


def test_reading_the_ordinary_pass_adds_almost_nothing(unet, layers, cost):
    sample = torch.empty(1, 4, LATENT_SIDE, LATENT_SIDE, device="meta")
    timestep, words = (torch.empty(shape, device="meta") for shape in (1, (1, TOKENS, 768)))
    mean = MeanAttention(WORDS)
    with FlopCounterMode(display=False) as counted, tapped(layers, mean.take):
        unet(sample, timestep, words)
        mean.mean()
    assert counted.get_total_flops() / cost.whole < 1.001


def test_a_whole_run_as_published_costs_a_fourth_more(cost):
    assert cost.overhead(passes=25, steps=51) <= 0.26


class OperationCounter(TorchDispatchMode):
    """Counts the operations of torch, and the numbers that they write."""

    def __init__(self):
        super().__init__()
        self.operations, self.numbers = 0, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        self.operations += 1
        written = result if isinstance(result, tuple | list) else [result]
        self.numbers += sum(each.numel() for each in written if isinstance(each, torch.Tensor))
        return result


@pytest.fixture
def gradient():
    """The gradient of the loss of ten relations between six maps, as a function to call."""
    torch.manual_seed(0)
    maps = {name: torch.rand(MAP_SIDE, MAP_SIDE, requires_grad=True) for name in "abcdef"}
    kinds = (LEFT_OF, ABOVE, RIGHT_OF, BELOW, LEFT_OF, ABOVE, LEFT_OF, ABOVE, RIGHT_OF, BELOW)
    names = "abcdef" * 3
    relations = [
        Relation(id=str(n), type=kind, subject=names[n], object=names[n + 1 + n // 6])
        for n, kind in enumerate(kinds)
    ]
    return lambda: torch.autograd.grad(scene_loss(relations, maps), list(maps.values()))


def test_ten_relations_on_large_maps_are_little_work(gradient):
    with OperationCounter() as counted:
        gradient()
    assert counted.operations < 600
    assert counted.numbers < 40 * MAP_SIDE**2


@pytest.mark.slow
def test_ten_relations_on_large_maps_take_two_milliseconds(gradient):
    seconds = min(timeit.repeat(gradient, timer=time.thread_time, number=5, repeat=40))
    assert seconds / 5 <= 0.002
