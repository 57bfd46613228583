"""The cost of a denoiser pass, counted on tensors that have a shape but no values."""

from functools import lru_cache
from typing import Any

import diffusers
import torch
from torch.utils.flop_counter import FlopCounterMode

from spatialstudio.adapters.diffusion.model_outline import NOWHERE, model_outline
from spatialstudio.domain.ports import ModelCard

TEXT_TOKENS = 77
TIME_IDS = 6
"""Of SDXL: original size, crop and target size."""


def denoiser_flops(model: ModelCard, height: int, width: int) -> int | None:
    """Return the floating-point operations of one pass over one picture; no weights are loaded.

    Args:
        model: The model whose configuration is read.
        height: Picture height, pixels.
        width: Picture width, pixels.

    Returns:
        None for a denoiser that is not a UNet.

    Raises:
        ModelNotFound: The model is damaged or missing.
        BackendError: Its family is not supported.
    """
    pipeline = model_outline(model).pipeline
    denoiser = getattr(pipeline, "unet", None)
    if not isinstance(denoiser, diffusers.UNet2DConditionModel):
        return None
    scale = pipeline.vae_scale_factor
    return unet_flops(denoiser, height // scale, width // scale)


@lru_cache(maxsize=16)
def unet_flops(unet: Any, height: int, width: int) -> int:
    """Return the floating-point operations of a UNet on the meta device at a latent size."""
    config = unet.config
    with NOWHERE, torch.no_grad(), FlopCounterMode(display=False) as counter:
        added = None
        if config.addition_embed_type == "text_time":
            ids = TIME_IDS * config.addition_time_embed_dim
            text = config.projection_class_embeddings_input_dim - ids
            added = {"text_embeds": torch.empty(1, text), "time_ids": torch.empty(1, TIME_IDS)}
        unet(
            torch.empty(1, config.in_channels, height, width),
            torch.empty(1),
            encoder_hidden_states=torch.empty(1, TEXT_TOKENS, config.cross_attention_dim),
            added_cond_kwargs=added,
        )
    return int(counter.get_total_flops())
