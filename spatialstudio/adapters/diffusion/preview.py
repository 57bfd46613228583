"""Small previews of clean latents, cheap enough for every step."""

import math
from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import torch
from diffusers import EDMDPMSolverMultistepScheduler, EDMEulerScheduler
from diffusers.models.autoencoders.autoencoder_tiny import AutoencoderTiny
from torch.nn import functional

from spatialstudio.adapters.diffusion.latent_codec import decode_latents, latent_channels
from spatialstudio.domain.arrays import RgbImage

PROBE_SIDE = 4
WHITE = 255

DecodePreview: TypeAlias = Callable[[torch.Tensor], torch.Tensor]
"""Decodes clean latents, (1, c, h, w), to (1, 3, H, W) in [-1, 1]."""


def preview_decoder(autoencoder: Any) -> DecodePreview:
    """Choose a preview decoder that costs little compared with a denoising step.

    A linear encoder is inverted. Other tiny autoencoders, which belong to large denoisers, run
    their whole decoder; for the rest, each latent becomes one colour.

    Args:
        autoencoder: The pipeline's autoencoder.
    """
    if not isinstance(autoencoder, AutoencoderTiny):
        return _linear_decoder(autoencoder)
    if any(autoencoder.config["num_encoder_blocks"]):
        return partial(decode_latents, autoencoder)
    return _turned_around(autoencoder)


def picture_decoder(autoencoder: Any, decode_preview: DecodePreview) -> DecodePreview:
    """Return the decoder for pictures of full size.

    Args:
        autoencoder: The pipeline's autoencoder.
        decode_preview: Used where it decodes the whole picture anyway, and for latents that
            overflow in the autoencoder's number format.
    """
    if isinstance(autoencoder, AutoencoderTiny):
        return decode_preview

    def decode(latents: torch.Tensor) -> torch.Tensor:
        decoded = decode_latents(autoencoder, latents)
        return decoded if bool(decoded.isfinite().all()) else decode_preview(latents)

    return decode


@torch.no_grad()
def decode_preview(decode: DecodePreview, latents: torch.Tensor) -> RgbImage:
    """Decode clean latents, (1, c, h, w), to a picture, (H, W, 3)."""
    colours = (decode(latents)[0].float() / 2 + 0.5).clamp(0, 1)
    pixels = (colours.permute(1, 2, 0) * WHITE).round().to(torch.uint8)
    return np.ascontiguousarray(pixels.cpu().numpy())


@torch.no_grad()
def _turned_around(autoencoder: Any) -> DecodePreview:
    """Invert an encoder without blocks: each latent becomes the patch that it encodes."""
    config = autoencoder.config
    side = 2 ** (len(config.encoder_block_out_channels) - 1)
    colours = config.in_channels
    units = torch.eye(colours * side**2, dtype=autoencoder.dtype, device=autoencoder.device)
    pictures = units.reshape(-1, colours, side, side)
    grey = autoencoder.encode(torch.zeros_like(pictures[:1])).latents
    answers = (autoencoder.encode(pictures).latents - grey).flatten(1).float()
    patches = torch.linalg.pinv(answers).reshape(-1, colours, side, side)

    def decode(latents: torch.Tensor) -> torch.Tensor:
        values = latents.float() / config.scaling_factor - grey.float()
        return functional.conv_transpose2d(values, patches, stride=side)

    return decode


@torch.no_grad()
def _linear_decoder(autoencoder: Any) -> DecodePreview:
    """Fit the colour that each latent channel contributes, from the decoder itself."""
    channels = latent_channels(autoencoder)
    units = torch.eye(channels, device=autoencoder.device)
    steps = torch.cat([units, -units, torch.zeros_like(units[:1])])
    patches = steps[:, :, None, None].expand(-1, -1, PROBE_SIDE, PROBE_SIDE)
    colours = decode_latents(autoencoder, patches).float().mean((-2, -1))
    added = (colours[:channels] - colours[channels:-1]) / 2
    base = colours[-1, :, None, None]
    return lambda latents: torch.einsum("bchw,cr->brhw", latents.float(), added) + base


LEAST_SIGNAL = 0.0047
EDM_SAMPLERS = (EDMEulerScheduler, EDMDPMSolverMultistepScheduler)
FLOW_PREDICTION = "flow_prediction"


class Predicted(Enum):
    """The prediction type of a denoiser, as schedulers name it.

    Attributes:
        NOISE: The noise.
        CLEAN: The clean latents.
        VELOCITY: The velocity from the clean latents to the noise.
        RETURN: The negative velocity, which EDM schedulers call "epsilon".
    """

    NOISE = "epsilon"
    CLEAN = "sample"
    VELOCITY = "v_prediction"
    RETURN = "return"


def predicted_clean_latents(
    scheduler: Any,
    output: torch.Tensor,
    timestep: torch.Tensor,
    latents: torch.Tensor,
    input_scale: float,
) -> torch.Tensor:
    """Estimate the clean latents from one prediction.

    Args:
        scheduler: Its configuration gives the prediction type.
        output: Prediction of the shape of ``latents``, classifier-free guidance applied.
        timestep: Scheduler time.
        latents: In the scheduler's units.
        input_scale: Factor from those to variance-preserving units; 1 if they already are.

    Returns:
        Of the shape of ``latents``.
    """
    if is_flow(scheduler):
        noise = float(timestep) / scheduler.config.num_train_timesteps
        return latents.sub(output, alpha=noise)
    signal = signal_of(scheduler, timestep, input_scale)
    signal_share, noise_share = math.sqrt(signal), math.sqrt(1 - signal)
    vp_latents = latents * input_scale
    spread = scheduler.config.sigma_data if is_edm(scheduler) else 1.0
    match _predicted_by(scheduler):
        case Predicted.VELOCITY:
            return spread * (signal_share * vp_latents - noise_share * output)
        case Predicted.RETURN:
            return spread * (signal_share * vp_latents + noise_share * output)
        case Predicted.CLEAN:
            return output
        case Predicted.NOISE:
            return (vp_latents - noise_share * output) / signal_share


def signal_of(scheduler: Any, timestep: torch.Tensor, input_scale: float) -> float:
    """Return the picture's share of the variance of variance-preserving latents, (0, 1].

    Args:
        scheduler: Any scheduler except rectified flow.
        timestep: Scheduler time.
        input_scale: Factor from its latents to variance-preserving units; 1 if they already are.
    """
    if is_edm(scheduler):
        return min((input_scale * float(scheduler.config.sigma_data)) ** 2, 1.0)
    if input_scale < 1:
        return input_scale**2
    return float(scheduler.alphas_cumprod[int(timestep)])


def corrected(
    scheduler: Any, output: torch.Tensor, noise: torch.Tensor, signal: float
) -> torch.Tensor:
    """Add to the noise that a prediction of any type implies.

    Args:
        scheduler: Its configuration gives the prediction type.
        output: Prediction of the shape of the latents.
        noise: Of the same shape; added to the noise.
        signal: The picture's share of the variance, (0, 1].

    Returns:
        The prediction that implies the corrected noise. If hardly any signal is left, the
        correction is limited to that of the noisiest step of Stable Diffusion.
    """
    share = math.sqrt(max(signal, LEAST_SIGNAL))
    if is_flow(scheduler):
        return output + noise * (share + math.sqrt(1 - share**2)) / share
    match _predicted_by(scheduler):
        case Predicted.VELOCITY:
            return output + noise / share
        case Predicted.RETURN:
            return output - noise / share
        case Predicted.CLEAN:
            return output - noise * math.sqrt(1 - share**2) / share
        case Predicted.NOISE:
            return output + noise


def is_flow(scheduler: Any) -> bool:
    """Return True if a scheduler uses rectified flow."""
    prediction = getattr(scheduler.config, "prediction_type", FLOW_PREDICTION)
    return bool(prediction == FLOW_PREDICTION)


def is_edm(scheduler: Any) -> bool:
    """Return True if a scheduler is for EDM models."""
    return isinstance(scheduler, EDM_SAMPLERS)


def _predicted_by(scheduler: Any) -> Predicted:
    predicted = Predicted(scheduler.config.prediction_type)
    return Predicted.RETURN if is_edm(scheduler) and predicted is Predicted.NOISE else predicted
