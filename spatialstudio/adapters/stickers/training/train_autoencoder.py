"""Training of the autoencoder: a fitted encoder, and a decoder that restores lost details."""

from functools import partial
from pathlib import Path

import numpy as np
import torch
from diffusers.models.autoencoders.autoencoder_tiny import AutoencoderTiny
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from spatialstudio.adapters.stickers.training.patch_encoder import (
    GATHERED,
    SHRINKING,
    fit_encoder,
)
from spatialstudio.adapters.stickers.training.scenes import (
    SceneReserve,
    SceneSettings,
    draw_scenes,
    paint,
)
from spatialstudio.adapters.stickers.training.training_loop import (
    Recipe,
    Report,
    ShareOfLoss,
    TrainingLoop,
)
from spatialstudio.domain.frozen import frozen

LATENT_SCALE = 4.0
"""Latents are divided by this in the autoencoder, whose decoder squashes values above 1."""

OPPONENT_COLOURS = ((1 / 3, 1 / 3, 1 / 3), (1.0, -1.0, 0.0), (-0.5, -0.5, 1.0))
"""Brightness, red minus green, and blue minus yellow, from red, green and blue."""

LAST_OF_RESIDUAL = "conv.4"


@frozen
class AutoencoderSettings:
    """Architecture and training settings of the autoencoder.

    Attributes:
        recipe: Training schedule.
        channels: Width of every level of the decoder.
        latent_channels: Channels of the latents.
        crop: Side of the square crops in pixels; a multiple of 8.
        most_latent_noise: Largest deviation of the noise on the latents before decoding.
        gradient_weight: Weight of the picture gradient loss, which keeps edges sharp.
        fitted_to: Number of scenes to fit the encoder to.
    """

    recipe: Recipe
    channels: int = 32
    latent_channels: int = 16
    crop: int = 64
    most_latent_noise: float = 0.2
    gradient_weight: float = 0.5
    fitted_to: int = 500


def build_autoencoder(settings: AutoencoderSettings) -> AutoencoderTiny:
    """Create an autoencoder with eightfold downsampling and an untrained decoder."""
    model: AutoencoderTiny = AutoencoderTiny(
        encoder_block_out_channels=(GATHERED,) * 4,
        decoder_block_out_channels=(settings.channels,) * 4,
        latent_channels=settings.latent_channels,
        num_encoder_blocks=(0, 0, 0, 0),
        num_decoder_blocks=(8, 8, 5, 0),  # deep at the cheap resolutions, to memorise each sticker
        scaling_factor=LATENT_SCALE,
    )
    _initialise(model)
    scenes = draw_scenes(settings.fitted_to, settings.recipe.seed)
    fit_encoder(model, np.stack([paint(scene, SceneSettings().side).pixels for scene in scenes]))
    return model


def train_decoder(
    model: AutoencoderTiny, settings: AutoencoderSettings, checkpoint: Path, report: Report
) -> None:
    """Train in place, resuming from the checkpoint if there is one; reports the squared error."""
    reserve = SceneReserve(SceneSettings())

    def draw_shares(rng: np.random.Generator, _progress: float) -> list[ShareOfLoss]:
        pictures = draw_crops(reserve, rng, settings.recipe.batch, settings.crop)
        latents = encode(model, pictures)
        strength = torch.from_numpy(rng.random((len(latents), 1, 1, 1), dtype=np.float32))
        noise = torch.from_numpy(rng.standard_normal(latents.shape, dtype=np.float32))
        noisy = latents + settings.most_latent_noise * strength * noise
        workers = settings.recipe.workers
        return [
            partial(_loss, model, *share, settings.gradient_weight)
            for share in zip(noisy.chunk(workers), pictures.chunk(workers), strict=True)
        ]

    model.encoder.requires_grad_(requires_grad=False)
    TrainingLoop(model, settings.recipe, checkpoint, report).run(draw_shares)


@torch.no_grad()
def encode(model: AutoencoderTiny, pictures: Tensor) -> Tensor:
    """Encode (batch, 3, H, W) in [-1, 1] to latents in the denoiser's units."""
    latents: Tensor = model.encode(pictures).latents * model.config["scaling_factor"]
    return latents


def decode(model: AutoencoderTiny, latents: Tensor) -> Tensor:
    """Decode latents in the denoiser's units to (batch, 3, H, W), about [-1, 1]."""
    pictures: Tensor = model.decode(latents / model.config["scaling_factor"]).sample
    return pictures


def draw_crops(reserve: SceneReserve, rng: np.random.Generator, count: int, side: int) -> Tensor:
    """Draw crops of painted scenes, each around an object.

    Returns:
        (count, 3, side, side) in [-1, 1].
    """
    crops = np.empty((count, side, side, 3), dtype=np.uint8)
    for index, painted in enumerate(reserve.draw(rng, count)):
        placements, whole = painted.scene.placements, len(painted.pixels)
        near = placements[rng.integers(len(placements))]
        corner = np.array([near.y, near.x]) * whole + rng.normal(0, side / 5, 2) - side / 2
        top, left = np.clip(np.round(corner / SHRINKING) * SHRINKING, 0, whole - side).astype(int)
        crops[index] = painted.pixels[top : top + side, left : left + side]
    return to_tensor(crops)


def to_tensor(pixels: NDArray[np.uint8]) -> Tensor:
    """Convert (batch, H, W, 3) to a contiguous (batch, 3, H, W) in [-1, 1]."""
    return torch.from_numpy(pixels).permute(0, 3, 1, 2).contiguous().float() / 127.5 - 1


def _initialise(model: AutoencoderTiny) -> None:
    """Initialise layers to pass signals unchanged, with small residual branches."""
    for name, layer in model.named_modules():
        if isinstance(layer, nn.Conv2d):
            if ".conv." in name:
                nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            else:
                nn.init.orthogonal_(layer.weight)
            if name.endswith(LAST_OF_RESIDUAL):
                layer.weight.data *= 0.3
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)


def _loss(
    model: AutoencoderTiny, latents: Tensor, pictures: Tensor, gradient_weight: float
) -> tuple[Tensor, tuple[float]]:
    with torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False):
        decoded = decode(model, latents)
    error = decoded.float() - pictures
    return _picture_loss(error, gradient_weight), (error.square().mean().item(),)


def _picture_loss(error: Tensor, gradient_weight: float) -> Tensor:
    """Return the error in opponent colours, plus the error of picture gradients.

    With plain RGB a new autoencoder learns grey pictures first and colours a thousand steps later.
    """
    opponent = torch.einsum("oc,bchw->bohw", torch.tensor(OPPONENT_COLOURS), error)
    coarse = functional.avg_pool2d(opponent, 4).abs().mean()
    edges = error.diff(dim=-1).abs().mean() + error.diff(dim=-2).abs().mean()
    flat = opponent.abs().mean() + opponent.square().mean()
    return flat + coarse + gradient_weight * edges
