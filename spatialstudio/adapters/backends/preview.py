"""Small pictures of clean latents, cheap enough for every step."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import torch
from diffusers.models.autoencoders.autoencoder_tiny import AutoencoderTiny

from spatialstudio.domain.arrays import RgbImage

PROBE_SIDE = 4
WHITE = 255
PATCH = 2

DecodePreview: TypeAlias = Callable[[torch.Tensor], torch.Tensor]
"""From clean latents, (1, c, h, w), to (1, 3, H, W) in [-1, 1]."""


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
    """Decode (batch, c, h, w) latents in the denoiser's units to (batch, 3, H, W)."""
    config, scaled = autoencoder.config, latents.to(autoencoder.dtype)
    if norm := getattr(autoencoder, "bn", None):  # FLUX.2: patches of 2 x 2, normalised
        deviation = (norm.running_var + config.batch_norm_eps).sqrt()
        scaled = scaled * _by_channel(deviation, scaled) + _by_channel(norm.running_mean, scaled)
        scaled = torch.nn.functional.pixel_shuffle(scaled, PATCH)
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
