"""Floating-point operations of a denoiser pass."""

import diffusers
import pytest
import torch

from spatialstudio.adapters.diffusion.denoiser_cost import unet_flops
from spatialstudio.adapters.diffusion.diffusers_backend import DiffusersBackend
from spatialstudio.adapters.models.model_files import ModelFolders
from tests.adapters.diffusion.tiny_families import TINY_FAMILIES, build_tiny_family

SD14 = {"cross_attention_dim": 768, "attention_head_dim": 8}
SDXL = {
    "cross_attention_dim": 2048,
    "attention_head_dim": [5, 10, 20],
    "addition_embed_type": "text_time",
    "addition_time_embed_dim": 256,
    "projection_class_embeddings_input_dim": 2816,
    "block_out_channels": [320, 640, 1280],
    "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"],
    "up_block_types": ["CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"],
    "transformer_layers_per_block": [1, 2, 10],
    "use_linear_projection": True,
}


@pytest.mark.parametrize(
    ("config", "side", "gigaflops"), [(SD14, 64, 803), (SDXL, 128, 6761)], ids=["SD 1.4", "SDXL"]
)
def test_published_denoisers_cost_what_was_counted_for_them(config, side, gigaflops):
    with torch.device("meta"):
        unet = diffusers.UNet2DConditionModel(**config)

    assert unet_flops(unet, side, side) / 1e9 == pytest.approx(gigaflops, rel=0.01)


def test_the_cost_of_a_model_is_read_from_its_folder(tmp_path):
    build_tiny_family(TINY_FAMILIES[0]).save_pretrained(tmp_path / "tiny")
    (card,) = ModelFolders([tmp_path], ()).cards()
    backend = DiffusersBackend(tmp_path)

    whole = backend.denoiser_flops(card, card.native_size, card.native_size)
    assert whole > backend.denoiser_flops(card, card.native_size // 2, card.native_size // 2) > 0
