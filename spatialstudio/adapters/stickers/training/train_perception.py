"""Training of segmenter and depth estimator on painted scenes, degraded like generated ones."""

from collections.abc import Callable
from dataclasses import field, replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import torch
from diffusers.models.autoencoders.autoencoder_tiny import AutoencoderTiny
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from spatialstudio.adapters.stickers.pixel_net import PixelNet, PixelNetConfig
from spatialstudio.adapters.stickers.training.scenes import (
    PaintedScene,
    SceneReserve,
    SceneSettings,
)
from spatialstudio.adapters.stickers.training.train_autoencoder import (
    decode,
    encode,
    to_tensor,
)
from spatialstudio.adapters.stickers.training.training_loop import (
    Recipe,
    Report,
    ShareOfLoss,
    TrainingLoop,
)
from spatialstudio.adapters.stickers.vocabulary import sticker_objects
from spatialstudio.domain.frozen import frozen

BACKGROUND = 0
"""Class index of the background in the segmenter's output; objects start at 1."""


@frozen
class PerceptionSettings:
    """Training settings of a perception net.

    Attributes:
        recipe: Training schedule; its seed differs from the generator's.
        widths: Channels of its levels.
        decoded_share: Share of pictures passed through the autoencoder with noise on the latents.
        most_latent_noise: Largest deviation of that noise.
        background_weight: Weight of background pixels in the segmenter's loss.
        scenes: Distribution of the scenes.
    """

    recipe: Recipe
    widths: tuple[int, ...] = (24, 48, 96, 128)
    decoded_share: float = 0.25
    most_latent_noise: float = 0.5
    background_weight: float = 0.4
    scenes: SceneSettings = field(default_factory=SceneSettings)


Loss = Callable[[Tensor, list[PaintedScene]], Tensor]


def build_segmenter(settings: PerceptionSettings) -> PixelNet:
    """Create an untrained net with one channel for the background and one per object."""
    outputs = len(sticker_objects()) + 1
    return PixelNet(PixelNetConfig(outputs=outputs, widths=settings.widths))


def build_depth_net(segmenter: PixelNet) -> PixelNet:
    """Create a net with one channel, depth, initialised from the segmenter."""
    net = PixelNet(replace(segmenter.config, outputs=1))
    seen = {
        name: weight
        for name, weight in segmenter.state_dict().items()
        if not name.startswith("answer.")
    }
    net.load_state_dict({**net.state_dict(), **seen})
    return net


def segmenter_loss(settings: PerceptionSettings) -> Loss:
    """Return a loss that compares (batch, classes, h, w) with the true classes."""
    weights = torch.ones(len(sticker_objects()) + 1)
    weights[BACKGROUND] = settings.background_weight

    def loss(answer: Tensor, scenes: list[PaintedScene]) -> Tensor:
        classes = torch.from_numpy(np.stack([class_map(scene) for scene in scenes]))
        return functional.cross_entropy(answer.float(), class_shares(classes, answer), weights)

    return loss


def depth_loss(answer: Tensor, scenes: list[PaintedScene]) -> Tensor:
    """Compare (batch, 1, h, w) with the true depth; objects and background weigh the same."""
    target = torch.from_numpy(_to_answer_size(np.stack([scene.depth for scene in scenes]), answer))
    objects = torch.from_numpy(
        _to_answer_size(np.stack([scene.masks.any(0) for scene in scenes]), answer)
    )
    error = (answer.float()[:, 0] - target).abs()
    return error[objects].mean() + error[~objects].mean()


def class_map(scene: PaintedScene) -> NDArray[np.int64]:
    """Return the class index of each pixel: (H, W), 0 is background."""
    classes = np.full(scene.depth.shape, BACKGROUND, dtype=np.int64)
    for placement, mask in zip(scene.scene.placements, scene.masks, strict=True):
        classes[mask] = placement.number + 1
    return classes


def class_shares(classes: Tensor, answer: Tensor) -> Tensor:
    """Return the share of each class in the area of each output pixel.

    Args:
        classes: (batch, H, W) class indices; H and W are multiples of the output's.
        answer: (batch, classes, h, w), the net's output.

    Returns:
        Shape of ``answer``, not negative; sums to 1 over the classes.
    """
    stride = classes.shape[-1] // answer.shape[-1]
    shares = torch.zeros(answer.shape)
    part = torch.full((1, 1, 1, 1), 1 / stride**2)
    for row, column in product(range(stride), repeat=2):
        numbers = classes[:, None, row::stride, column::stride]
        shares.scatter_add_(1, numbers, part.expand(numbers.shape))
    return shares


def train_perception(
    net: PixelNet,
    loss_of: Loss,
    autoencoder: AutoencoderTiny,
    settings: PerceptionSettings,
    checkpoint: Path,
    report: Report,
) -> None:
    """Train in place, resuming from the checkpoint if there is one; reports the loss."""
    reserve = SceneReserve(settings.scenes)

    def draw_shares(rng: np.random.Generator, _progress: float) -> list[ShareOfLoss]:
        scenes = reserve.draw(rng, settings.recipe.batch)
        pictures = roughened(scenes, rng, autoencoder, settings)
        return [partial(_loss, net, loss_of, pictures, scenes)]

    TrainingLoop(net, settings.recipe, checkpoint, report).run(draw_shares)


def _loss(
    net: PixelNet, loss_of: Loss, pictures: Tensor, scenes: list[PaintedScene]
) -> tuple[Tensor, tuple[float]]:
    with torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False):
        answer = net(pictures)
    loss = loss_of(answer, scenes)
    return loss, (loss.item(),)


@torch.no_grad()
def roughened(
    scenes: list[PaintedScene],
    rng: np.random.Generator,
    autoencoder: AutoencoderTiny,
    settings: PerceptionSettings,
) -> Tensor:
    """Degrade painted pictures to resemble generated ones.

    Some are decoded from noisy latents; all get a blur, a tint, another contrast and grain.

    Returns:
        (batch, 3, H, W), about [-1, 1].
    """
    pictures = to_tensor(np.stack([scene.pixels for scene in scenes]))
    decoded = round(len(scenes) * settings.decoded_share)
    if decoded > 0:
        latents = encode(autoencoder, pictures[:decoded])
        strength = torch.rand(decoded, 1, 1, 1) * settings.most_latent_noise
        noisy = latents + strength * torch.randn_like(latents)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            pictures[:decoded] = decode(autoencoder, noisy).float()
    blurred = functional.avg_pool2d(functional.pad(pictures, (1, 1, 1, 1), mode="reflect"), 3, 1)
    pictures = torch.lerp(pictures, blurred, torch.rand(len(scenes), 1, 1, 1))
    contrast = torch.from_numpy(rng.uniform(0.8, 1.15, (len(scenes), 1, 1, 1))).float()
    tint = torch.from_numpy(rng.normal(0, 0.08, (len(scenes), 3, 1, 1))).float()
    grain = torch.rand(len(scenes), 1, 1, 1) * 0.12 * torch.randn_like(pictures)
    return pictures * contrast + tint + grain


def _to_answer_size(maps: NDArray[np.generic], answer: Tensor) -> NDArray[np.generic]:
    """Subsample (batch, H, W) maps to the size of the output."""
    stride = maps.shape[-1] // answer.shape[-1]
    return np.ascontiguousarray(maps[:, ::stride, ::stride])
