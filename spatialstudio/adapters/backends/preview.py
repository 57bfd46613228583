"""What the finished picture will look like, as far as one step can tell."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import torch
from diffusers.models.autoencoders.autoencoder_tiny import AutoencoderTiny

from spatialstudio.domain.arrays import RgbImage

PROBE_SIDE = 4
WHITE = 255

DecodePreview: TypeAlias = Callable[[torch.Tensor], torch.Tensor]
"""From clean latents, (1, c, h, w), to (1, 3, H, W) in [-1, 1]."""


def predicted_clean_latents(
    scheduler: Any,
    output: torch.Tensor,
    timestep: torch.Tensor,
    latents: torch.Tensor,
    input_scale: float,
) -> torch.Tensor:
    """Estimate the finished latents from one prediction.

    Args:
        scheduler: Its configuration says what is predicted.
        output: (..., h, w) prediction, classifier-free guidance applied.
        timestep: Scheduler time.
        latents: (..., h, w) in the scheduler's units.
        input_scale: From those to variance-preserving units; 1 where they already are.

    Returns:
        (..., h, w).
    """
    signal = input_scale**2 if input_scale < 1 else float(scheduler.alphas_cumprod[int(timestep)])
    signal_share, noise_share = math.sqrt(signal), math.sqrt(1 - signal)
    vp_latents = latents * input_scale
    match scheduler.config.prediction_type:
        case "v_prediction":
            return signal_share * vp_latents - noise_share * output
        case "sample":
            return output
        case _:
            return (vp_latents - noise_share * output) / signal_share


def preview_decoder(autoencoder: Any) -> DecodePreview:
    """Choose how previews are decoded: wholly where that is cheap, else one colour a latent.

    Args:
        autoencoder: Of the pipeline.
    """
    if isinstance(autoencoder, AutoencoderTiny):
        return partial(_decode, autoencoder)
    return _linear_decoder(autoencoder)


@torch.no_grad()
def decode_preview(decode: DecodePreview, latents: torch.Tensor) -> RgbImage:
    """Decode clean latents, (1, c, h, w), to a picture, (H, W, 3)."""
    colours = (decode(latents)[0].float() / 2 + 0.5).clamp(0, 1)
    pixels = (colours.permute(1, 2, 0) * WHITE).round().to(torch.uint8)
    return np.ascontiguousarray(pixels.cpu().numpy())


def _decode(autoencoder: Any, latents: torch.Tensor) -> torch.Tensor:
    scaled = latents / autoencoder.config.scaling_factor
    decoded: torch.Tensor = autoencoder.decode(scaled, return_dict=False)[0]
    return decoded


@torch.no_grad()
def _linear_decoder(autoencoder: Any) -> DecodePreview:
    """Learn from the decoder itself which colour each latent channel adds."""
    channels = autoencoder.config.latent_channels
    units = torch.eye(channels, device=autoencoder.device)
    steps = torch.cat([units, -units, torch.zeros_like(units[:1])])
    patches = steps[:, :, None, None].expand(-1, -1, PROBE_SIDE, PROBE_SIDE)
    colours = _decode(autoencoder, patches.to(autoencoder.dtype)).float().mean((-2, -1))
    added = (colours[:channels] - colours[channels:-1]) / 2
    base = colours[-1, :, None, None]
    return lambda latents: torch.einsum("bchw,cr->brhw", latents.float(), added) + base
