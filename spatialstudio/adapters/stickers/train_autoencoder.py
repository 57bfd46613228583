"""Trains the autoencoder: first encoder and decoder together, later the decoder alone.

The first stage fixes the latents that the generator learns on. The second sharpens the pictures
that the same latents decode to.
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from diffusers.models.autoencoders.autoencoder_tiny import AutoencoderTiny
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from spatialstudio.adapters.stickers.scene_layout import SceneSettings, draw_scene
from spatialstudio.adapters.stickers.scene_reserve import SceneReserve
from spatialstudio.adapters.stickers.scenes import paint
from spatialstudio.adapters.stickers.training_loop import (
    Recipe,
    Report,
    ShareOfLoss,
    TrainingLoop,
)

SHRINKING = 8
"""Picture pixels a latent pixel, each way."""

OPPONENT_COLOURS = ((1 / 3, 1 / 3, 1 / 3), (1.0, -1.0, 0.0), (-0.5, -0.5, 1.0))
"""Brightness, red against green, blue against yellow, from red, green and blue."""

LAST_OF_RESIDUAL = "conv.4"


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoencoderSettings:
    """How the autoencoder is built and trained.

    Attributes:
        recipe: How long and how fast.
        channels: Width of every level.
        latent_channels: Channels of the latents.
        crop: Side of the square crops in pixels; a multiple of 8.
        early_crop: Side of the crops in the early steps, which need many steps, not wide views.
        early_share: Share of the steps that are early.
        latent_noise: Noise on the latents before decoding, in their own standard deviations.
        gradient_weight: Weight of the difference of picture gradients, which keeps edges sharp.
        spread_weight: Weight of the pull towards mean 0 and deviation 1 of each latent channel.
        decoder_only: Leave the encoder as it is.
    """

    recipe: Recipe
    channels: int = 32
    latent_channels: int = 8
    crop: int = 64
    early_crop: int = 32
    early_share: float = 0.6
    latent_noise: float = 0.1
    gradient_weight: float = 0.5
    spread_weight: float = 0.02
    decoder_only: bool = False


def build_autoencoder(settings: AutoencoderSettings) -> AutoencoderTiny:
    """Make an untrained autoencoder that shrinks a picture eightfold."""
    widths = (settings.channels,) * 4
    model: AutoencoderTiny = AutoencoderTiny(
        encoder_block_out_channels=widths,
        decoder_block_out_channels=widths,
        latent_channels=settings.latent_channels,
        num_encoder_blocks=(0, 1, 2, 6),
        num_decoder_blocks=(8, 8, 5, 0),  # deep where it is cheap: it knows each sticker
        scaling_factor=1.0,
    )
    _initialise(model)
    return model


def train_autoencoder(
    model: AutoencoderTiny, settings: AutoencoderSettings, checkpoint: Path, report: Report
) -> None:
    """Train in place, going on from the checkpoint if there is one; figure: squared error."""
    reserve = SceneReserve(SceneSettings())

    def draw_shares(rng: np.random.Generator, progress: float) -> list[ShareOfLoss]:
        side = settings.early_crop if progress < settings.early_share else settings.crop
        crops = draw_crops(reserve, rng, settings.recipe.batch, side)
        latent_side = side // SHRINKING
        size = (len(crops), settings.latent_channels, latent_side, latent_side)
        noise = torch.from_numpy(rng.standard_normal(size, dtype=np.float32))
        workers = settings.recipe.workers
        return [
            partial(_loss, model, share, noise_share * settings.latent_noise, settings)
            for share, noise_share in zip(crops.chunk(workers), noise.chunk(workers), strict=True)
        ]

    model.encoder.requires_grad_(not settings.decoder_only)
    TrainingLoop(model, settings.recipe, checkpoint, report).run(draw_shares)


@torch.no_grad()
def standardise(model: AutoencoderTiny, seed: int, count: int = 256) -> None:
    """Give each latent channel of painted scenes mean 0 and deviation 1, as the noise has.

    The change is folded into the encoder's last and the decoder's first layer. It leaves the
    pictures as they were, but for extreme latents, which the decoder squeezes; so train that on.
    """
    rng = np.random.default_rng(seed)
    scenes = SceneSettings()
    pictures = [paint(draw_scene(rng, scenes), scenes.side).pixels for _ in range(count)]
    latents = model.encode(to_tensor(np.stack(pictures))).latents
    mean, deviation = latents.mean((0, 2, 3)), latents.std((0, 2, 3))
    encoder, decoder = cast("Any", model.encoder), cast("Any", model.decoder)
    last, first = encoder.layers[-1], decoder.layers[0]
    last.weight.div_(deviation.view(-1, 1, 1, 1))
    last.bias.sub_(mean).div_(deviation)
    first.bias.add_(torch.einsum("oiyx,i->o", first.weight, mean))
    first.weight.mul_(deviation.view(1, -1, 1, 1))


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
    """Turn (batch, H, W, 3) into a contiguous (batch, 3, H, W) in [-1, 1]."""
    return torch.from_numpy(pixels).permute(0, 3, 1, 2).contiguous().float() / 127.5 - 1


def _initialise(model: AutoencoderTiny) -> None:
    """Start with layers that neither shrink nor mix up what passes, and quiet residuals."""
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
    model: AutoencoderTiny, pictures: Tensor, noise: Tensor, settings: AutoencoderSettings
) -> tuple[Tensor, tuple[float]]:
    with torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False):
        latents = model.encoder(pictures)
        decoded = model.decoder(latents + noise)
    latents, error = latents.float(), decoded.float() - pictures
    mean, deviation = latents.mean((0, 2, 3)), latents.std((0, 2, 3))
    spread = mean.square().mean() + (deviation - 1).square().mean()
    loss = _picture_loss(error, settings.gradient_weight) + settings.spread_weight * spread
    return loss, (error.square().mean().item(),)


def _picture_loss(error: Tensor, gradient_weight: float) -> Tensor:
    """Weigh errors of colour like those of brightness, and errors of edges on top.

    On plain RGB a fresh autoencoder learns grey pictures first and colours a thousand steps later.
    """
    opponent = torch.einsum("oc,bchw->bohw", torch.tensor(OPPONENT_COLOURS), error)
    coarse = functional.avg_pool2d(opponent, 4).abs().mean()
    edges = error.diff(dim=-1).abs().mean() + error.diff(dim=-2).abs().mean()
    flat = opponent.abs().mean() + opponent.square().mean()
    return flat + coarse + gradient_weight * edges
