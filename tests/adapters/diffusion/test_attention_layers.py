import pytest
import torch
from diffusers import UNet2DConditionModel

from spatialstudio.adapters.diffusion.attention_layers import (
    decoder_levels,
    guiding_layers,
    map_size,
    unet_text_layers,
)


@pytest.fixture(scope="module")
def stable_diffusion_unet():
    """The UNet of Stable Diffusion 1.x, without memory for its weights."""
    with torch.device("meta"):
        return UNet2DConditionModel(sample_size=64, cross_attention_dim=768)


def test_stable_diffusion_is_guided_by_the_five_layers_of_a_fourth_of_its_latents(
    stable_diffusion_unet,
):
    layers = guiding_layers(unet_text_layers(stable_diffusion_unet), 64)
    places = [layer.name.split(".attentions")[0] for layer in layers]
    assert places == ["down_blocks.2"] * 2 + ["up_blocks.1"] * 3
    assert {layer.level for layer in layers} == {2}


def test_the_decoders_levels_come_coarse_to_fine(stable_diffusion_unet):
    levels = decoder_levels(unet_text_layers(stable_diffusion_unet))
    places = [{layer.name.split(".attentions")[0] for layer in level} for level in levels]
    assert places == [{"up_blocks.1"}, {"up_blocks.2"}, {"up_blocks.3"}]
    assert [len(level) for level in levels] == [3, 3, 3]


def test_layers_are_listed_in_the_order_in_which_they_run(stable_diffusion_unet):
    levels = [layer.level for layer in unet_text_layers(stable_diffusion_unet)]
    assert levels == [0, 0, 1, 1, 2, 2, 3, 2, 2, 2, 1, 1, 1, 0, 0, 0]


def test_small_latents_are_read_at_full_size(unet):
    layers = guiding_layers(unet_text_layers(unet), 16)
    assert {layer.level for layer in layers} == {0}


def test_layers_that_attend_to_the_picture_are_left_out(unet):
    assert all(layer.name.endswith("attn2") for layer in unet_text_layers(unet))


@pytest.mark.parametrize(
    ("latents", "level", "maps"),
    [((64, 64), 2, (16, 16)), ((64, 96), 2, (16, 24)), ((15, 22), 1, (8, 11))],
    ids=["square", "wide", "odd sides are rounded up"],
)
def test_maps_keep_the_shape_of_the_latents(latents, level, maps):
    assert map_size(*latents, level) == maps
