"""Trains the autoencoder: first encoder and decoder together, later the decoder alone.

The first stage fixes the latents that the generator learns on. The second sharpens the pictures
that the same latents decode to.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from diffusers.models.autoencoders.autoencoder_tiny import AutoencoderTiny
from torch import Tensor
from torch.nn import functional

from spatialstudio.adapters.stickers.checkpoints import load_checkpoint, save_checkpoint
from spatialstudio.adapters.stickers.scene_layout import SceneSettings, draw_scene
from spatialstudio.adapters.stickers.scenes import paint
from spatialstudio.adapters.stickers.shared_work import SharedWork

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoencoderSettings:
    """How the autoencoder is built and trained.

    Attributes:
        channels: Width of every level.
        latent_channels: Channels of the latents.
        steps: Optimizer steps.
        batch: Crops a step.
        crop: Side of the square crops in pixels; a multiple of 8.
        learning_rate: Highest learning rate; it warms up, then falls as a cosine.
        latent_noise: Noise on the latents before decoding, in their own standard deviations.
        gradient_weight: Weight of the difference of picture gradients, which keeps edges sharp.
        spread_weight: Weight of the pull towards mean 0 and deviation 1 of each latent channel.
        workers: Threads that share a batch;
        decoder_only: Leave the encoder as it is.
        checkpoint_every: Steps between checkpoints.
        seed: Seed of all randomness.
    """

    channels: int = 32
    latent_channels: int = 8
    steps: int = 5000
    batch: int = 16
    crop: int = 64
    learning_rate: float = 2e-3
    latent_noise: float = 0.1
    gradient_weight: float = 1.0
    spread_weight: float = 0.02
    workers: int = 2
    decoder_only: bool = False
    checkpoint_every: int = 500
    seed: int = 1


def build_autoencoder(settings: AutoencoderSettings) -> AutoencoderTiny:
    """Make an untrained autoencoder that shrinks a picture eightfold."""
    widths = (settings.channels,) * 4
    model: AutoencoderTiny = AutoencoderTiny(
        encoder_block_out_channels=widths,
        decoder_block_out_channels=widths,
        latent_channels=settings.latent_channels,
        num_encoder_blocks=(0, 1, 2, 3),
        num_decoder_blocks=(3, 3, 2, 1),
        scaling_factor=1.0,
    )
    return model


def train_autoencoder(
    model: AutoencoderTiny, settings: AutoencoderSettings, checkpoint: Path, report: Report
) -> None:
    """Train in place, going on from the checkpoint if there is one."""
    model.train()
    model.encoder.requires_grad_(not settings.decoder_only)
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=settings.learning_rate, weight_decay=1e-4)
    first_step = 0
    if (state := load_checkpoint(checkpoint)) is not None:
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        first_step = state["step"]
    work = SharedWork(settings.workers)
    for step in range(first_step, settings.steps):
        rng = np.random.default_rng((settings.seed, step))
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * warm_cosine(step, settings.steps)
        shares = [
            partial(_loss, model, crops, noise, settings)
            for crops, noise in _draw_shares(rng, settings)
        ]
        (picture_error,) = work.set_gradients(trained, shares)
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        if (step + 1) % 100 == 0:
            report(f"autoencoder step {step + 1} of {settings.steps}: {decibels(picture_error)}")
        if (step + 1) % settings.checkpoint_every == 0 or step + 1 == settings.steps:
            save_checkpoint(
                checkpoint,
                {
                    "model": model.state_dict(),
                    "optimizer": optimizer.state_dict(),
                    "step": step + 1,
                },
            )
    model.eval()


@torch.no_grad()
def standardise(model: AutoencoderTiny, seed: int, count: int = 256) -> None:
    """Set the scaling factor so that scaled latents of painted scenes have deviation 1."""
    rng = np.random.default_rng(seed)
    scenes = SceneSettings()
    pictures = [paint(draw_scene(rng, scenes), scenes.side).pixels for _ in range(count)]
    latents = model.encode(to_tensor(np.stack(pictures))).latents
    set_scaling(model, round(1 / float(latents.std()), 4))


def set_scaling(model: AutoencoderTiny, factor: float) -> None:
    """Set what encoded latents are multiplied with before they are noised."""
    model.register_to_config(scaling_factor=factor)  # type: ignore[no-untyped-call]


def warm_cosine(step: int, steps: int, warm_share: float = 0.03) -> float:
    """Say which share of the highest learning rate a step uses."""
    progress = (step + 1) / steps
    if progress < warm_share:
        return progress / warm_share
    falling = (progress - warm_share) / (1 - warm_share)
    return 0.02 + 0.98 * (1 + math.cos(math.pi * falling)) / 2


def decibels(mean_squared_error: float) -> str:
    """Write an error on a scale of [-1, 1] as peak signal-to-noise ratio."""
    return f"{-10 * math.log10(mean_squared_error / 4):.2f} dB"


def _draw_shares(
    rng: np.random.Generator, settings: AutoencoderSettings
) -> Iterator[tuple[Tensor, Tensor]]:
    """Draw each worker's crops, and noise for their latents."""
    crops = draw_crops(rng, settings)
    latent_side = settings.crop // 8
    size = (settings.batch, settings.latent_channels, latent_side, latent_side)
    noise = torch.from_numpy(rng.standard_normal(size, dtype=np.float32)) * settings.latent_noise
    return zip(crops.chunk(settings.workers), noise.chunk(settings.workers), strict=True)


def draw_crops(rng: np.random.Generator, settings: AutoencoderSettings) -> Tensor:
    """Draw crops of fresh scenes, most of them around an object.

    Returns:
        (batch, 3, crop, crop) in [-1, 1].
    """
    scenes = SceneSettings()
    crops = np.empty((settings.batch, settings.crop, settings.crop, 3), dtype=np.uint8)
    for index in range(settings.batch):
        scene = draw_scene(rng, scenes)
        centre = scene.placements[rng.integers(len(scene.placements))]
        left, top = (
            int(np.clip(place * scenes.side + rng.normal(0, 12) - settings.crop / 2, 0,
                        scenes.side - settings.crop))
            for place in (centre.x, centre.y)
        )  # fmt: skip
        pixels = paint(scene, scenes.side).pixels
        crops[index] = pixels[top : top + settings.crop, left : left + settings.crop]
    return to_tensor(crops)


def to_tensor(pixels: np.ndarray) -> Tensor:
    """Turn (batch, H, W, 3) uint8 into a contiguous (batch, 3, H, W) in [-1, 1]."""
    return torch.from_numpy(pixels).permute(0, 3, 1, 2).contiguous().float() / 127.5 - 1


def _loss(
    model: AutoencoderTiny, pictures: Tensor, noise: Tensor, settings: AutoencoderSettings
) -> tuple[Tensor, tuple[float]]:
    with torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False):
        latents = model.encoder(pictures)
        decoded = model.decoder(latents + noise)
    decoded, latents = decoded.float(), latents.float()
    loss = functional.l1_loss(decoded, pictures)
    loss = loss + settings.gradient_weight * _gradient_difference(decoded, pictures)
    mean, deviation = latents.mean((0, 2, 3)), latents.std((0, 2, 3))
    spread = mean.square().mean() + (deviation - 1).square().mean()
    error = functional.mse_loss(decoded, pictures).item()
    return loss + settings.spread_weight * spread, (error,)


def _gradient_difference(first: Tensor, second: Tensor) -> Tensor:
    difference = first - second
    return difference.diff(dim=-1).abs().mean() + difference.diff(dim=-2).abs().mean()
