"""Conversion between pictures and the latents of each model family, in every layout."""

from typing import Any

import torch
from torch.nn import functional

from spatialstudio.adapters.diffusion.families import LatentForm

PATCH = 2


def decode_latents(autoencoder: Any, latents: torch.Tensor) -> torch.Tensor:
    """Decode (batch, c, h, w) latents in the denoiser's units to (batch, 3, H, W)."""
    config, scaled = autoencoder.config, latents.to(autoencoder.dtype)
    if norm := getattr(autoencoder, "bn", None):  # FLUX.2: patches of 2 x 2, normalised
        deviation = (norm.running_var + config.batch_norm_eps).sqrt()
        scaled = scaled * _by_channel(deviation, scaled) + _by_channel(norm.running_mean, scaled)
        scaled = functional.pixel_shuffle(scaled, PATCH)
    elif hasattr(config, "z_dim"):  # Qwen-Image: one video frame
        scaled = scaled * _by_channel(config.latents_std, scaled)
        scaled = (scaled + _by_channel(config.latents_mean, scaled))[:, :, None]
    else:
        scaled = scaled / config.scaling_factor + (getattr(config, "shift_factor", None) or 0.0)
    decoded: torch.Tensor = autoencoder.decode(scaled, return_dict=False)[0]
    return decoded.reshape(decoded.shape[0], 3, *decoded.shape[-2:])


def _by_channel(values: Any, latents: torch.Tensor) -> torch.Tensor:
    """Reshape one value per channel to broadcast over (batch, c, h, w) latents."""
    return torch.as_tensor(values).to(latents)[:, None, None]


def latent_channels(autoencoder: Any) -> int:
    """Return the number of channels of the denoiser's latents."""
    config = autoencoder.config
    if getattr(autoencoder, "bn", None):
        return int(config.latent_channels) * PATCH**2
    return int(getattr(config, "latent_channels", None) or config.z_dim)


@torch.no_grad()
def encode_picture(autoencoder: Any, pixels: torch.Tensor) -> torch.Tensor:
    """Encode a picture, without noise; the inverse of ``decode_latents``.

    Args:
        autoencoder: The pipeline's autoencoder.
        pixels: (1, 3, H, W) in [-1, 1].

    Returns:
        (1, c, h, w) latents in the denoiser's units, float32.
    """
    config, is_upcast = autoencoder.config, needs_upcast(autoencoder)
    if is_upcast:
        autoencoder.to(torch.float32)
    given = pixels.to(autoencoder.dtype)
    try:
        encoded = autoencoder.encode(given[:, :, None] if hasattr(config, "z_dim") else given)
    finally:
        if is_upcast:
            autoencoder.to(torch.float16)
    latents = _most_likely(encoded).float()
    if norm := getattr(autoencoder, "bn", None):
        patches = functional.pixel_unshuffle(latents, PATCH)
        deviation = (norm.running_var + config.batch_norm_eps).sqrt()
        return (patches - _by_channel(norm.running_mean, patches)) / _by_channel(deviation, patches)
    if hasattr(config, "z_dim"):
        latents = latents[:, :, 0] - _by_channel(config.latents_mean, latents)
        return latents / _by_channel(config.latents_std, latents)
    shift = getattr(config, "shift_factor", None) or 0.0
    return (latents - shift) * float(config.scaling_factor)


def needs_upcast(autoencoder: Any) -> bool:
    """Return whether an autoencoder overflows in its number format, as that of SDXL in float16."""
    is_half = autoencoder.dtype is torch.float16
    return is_half and bool(getattr(autoencoder.config, "force_upcast", False))


def _most_likely(encoded: Any) -> torch.Tensor:
    """Return the latents of an encoder's output; of a distribution, its mode."""
    if hasattr(encoded, "latent_dist"):
        mode: torch.Tensor = encoded.latent_dist.mode()
        return mode
    latents: torch.Tensor = encoded.latents if hasattr(encoded, "latents") else encoded.latent
    return latents


def as_picture(latents: torch.Tensor, form: LatentForm, size: tuple[int, int]) -> torch.Tensor:
    """Convert latents to image layout.

    Args:
        latents: (batch, ...) as the pipeline passes them to its scheduler.
        form: Layout of ``latents``.
        size: (h, w) of the positions in the denoiser.

    Returns:
        (batch, c, h, w); h and w are doubled if patches were packed into channels.
    """
    rows, (height, width) = latents.shape[0], size
    match form:
        case LatentForm.PICTURE:
            return latents
        case LatentForm.TOKENS:
            return latents.transpose(1, 2).reshape(rows, -1, height, width)
        case LatentForm.PACKED:
            patches = latents.reshape(rows, height, width, -1, PATCH, PATCH)
            moved = patches.permute(0, 3, 1, 4, 2, 5)
            return moved.reshape(rows, -1, height * PATCH, width * PATCH)


def as_latents(picture: torch.Tensor, form: LatentForm) -> torch.Tensor:
    """Convert image layout to the layout of a pipeline's latents; the inverse of ``as_picture``.

    Args:
        picture: (batch, c, h, w).
        form: Layout of the latents.
    """
    rows, channels, height, width = picture.shape
    match form:
        case LatentForm.PICTURE:
            return picture
        case LatentForm.TOKENS:
            return picture.flatten(2).transpose(1, 2)
        case LatentForm.PACKED:
            patches = functional.pixel_unshuffle(picture, PATCH)
            count = height // PATCH * (width // PATCH)
            return patches.flatten(2).transpose(1, 2).reshape(rows, count, channels * PATCH**2)
