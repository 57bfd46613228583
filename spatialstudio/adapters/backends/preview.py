"""Small pictures of clean latents, cheap enough for every step."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import torch
from diffusers.models.autoencoders.autoencoder_tiny import AutoencoderTiny
from torch.nn import functional

from spatialstudio.domain.arrays import RgbImage

PROBE_SIDE = 4
WHITE = 255
PATCH = 2

DecodePreview: TypeAlias = Callable[[torch.Tensor], torch.Tensor]
"""From clean latents, (1, c, h, w), to (1, 3, H, W) in [-1, 1]."""


def preview_decoder(autoencoder: Any) -> DecodePreview:
    """Choose how previews are decoded, so that they cost little beside a step of denoising.

    A linear encoder is turned around. Other tiny autoencoders, which belong to large denoisers,
    decode wholly; of the rest each latent becomes one colour.

    Args:
        autoencoder: Of the pipeline.
    """
    if not isinstance(autoencoder, AutoencoderTiny):
        return _linear_decoder(autoencoder)
    if any(autoencoder.config["num_encoder_blocks"]):
        return partial(_decode, autoencoder)
    return _turned_around(autoencoder)


@torch.no_grad()
def decode_preview(decode: DecodePreview, latents: torch.Tensor) -> RgbImage:
    """Decode clean latents, (1, c, h, w), to a picture, (H, W, 3)."""
    colours = (decode(latents)[0].float() / 2 + 0.5).clamp(0, 1)
    pixels = (colours.permute(1, 2, 0) * WHITE).round().to(torch.uint8)
    return np.ascontiguousarray(pixels.cpu().numpy())


def _decode(autoencoder: Any, latents: torch.Tensor) -> torch.Tensor:
    """Decode (batch, c, h, w) latents in the denoiser's units to (batch, 3, H, W)."""
    config, scaled = autoencoder.config, latents.to(autoencoder.dtype)
    if norm := getattr(autoencoder, "bn", None):  # FLUX.2: patches of 2 x 2, normalised
        deviation = (norm.running_var + config.batch_norm_eps).sqrt()
        scaled = scaled * _by_channel(deviation, scaled) + _by_channel(norm.running_mean, scaled)
        scaled = functional.pixel_shuffle(scaled, PATCH)
    elif hasattr(config, "z_dim"):  # Qwen-Image: one frame of a film
        scaled = scaled * _by_channel(config.latents_std, scaled)
        scaled = (scaled + _by_channel(config.latents_mean, scaled))[:, :, None]
    else:
        scaled = scaled / config.scaling_factor + (getattr(config, "shift_factor", None) or 0.0)
    decoded: torch.Tensor = autoencoder.decode(scaled, return_dict=False)[0]
    return decoded.reshape(decoded.shape[0], 3, *decoded.shape[-2:])


def _by_channel(values: Any, latents: torch.Tensor) -> torch.Tensor:
    """Shape one value a channel to meet (batch, c, h, w) latents."""
    return torch.as_tensor(values).to(latents)[:, None, None]


def latent_channels(autoencoder: Any) -> int:
    """Return how many channels the denoiser's latents have."""
    config = autoencoder.config
    if getattr(autoencoder, "bn", None):
        return int(config.latent_channels) * PATCH**2
    return int(getattr(config, "latent_channels", None) or config.z_dim)


@torch.no_grad()
def _turned_around(autoencoder: Any) -> DecodePreview:
    """Turn an encoder without blocks around: each latent becomes the patch that it stands for."""
    config = autoencoder.config
    side = 2 ** (len(config.encoder_block_out_channels) - 1)
    colours = config.in_channels
    units = torch.eye(colours * side**2, dtype=autoencoder.dtype, device=autoencoder.device)
    pictures = units.reshape(-1, colours, side, side)
    grey = autoencoder.encode(torch.zeros_like(pictures[:1])).latents
    answers = (autoencoder.encode(pictures).latents - grey).flatten(1).float()
    patches = torch.linalg.pinv(answers).reshape(-1, colours, side, side)

    def decode(latents: torch.Tensor) -> torch.Tensor:
        told = latents.float() / config.scaling_factor - grey.float()
        return functional.conv_transpose2d(told, patches, stride=side)

    return decode


@torch.no_grad()
def _linear_decoder(autoencoder: Any) -> DecodePreview:
    """Learn from the decoder itself which colour each latent channel adds."""
    channels = latent_channels(autoencoder)
    units = torch.eye(channels, device=autoencoder.device)
    steps = torch.cat([units, -units, torch.zeros_like(units[:1])])
    patches = steps[:, :, None, None].expand(-1, -1, PROBE_SIDE, PROBE_SIDE)
    colours = _decode(autoencoder, patches).float().mean((-2, -1))
    added = (colours[:channels] - colours[channels:-1]) / 2
    base = colours[-1, :, None, None]
    return lambda latents: torch.einsum("bchw,cr->brhw", latents.float(), added) + base
