"""The encoder of the sticker world: principal components of 8x8 patches, as convolutions.

Stickers are aligned to the grid of these patches, so a linear encoder separates them without
training: three convolutions of stride 2 gather a patch, the last one projects it.
"""

from typing import Any, cast

import numpy as np
import torch
from diffusers.models.autoencoders.autoencoder_tiny import AutoencoderTiny
from numpy.typing import NDArray
from torch import Tensor, nn

SHRINKING = 8
"""Picture pixels per latent pixel and axis."""

COLOURS = 3
GATHERED = COLOURS * SHRINKING**2 // 4
"""Values that the second stride gathers from a quarter of a patch; the minimum encoder width."""

LEVELLING = 0.5
"""Whitening exponent of each component: 0 keeps its deviation, 1 makes all deviations 1."""


@torch.no_grad()
def fit_encoder(model: AutoencoderTiny, pictures: NDArray[np.uint8]) -> None:
    """Fit the encoder's weights to pictures of the sticker world.

    The latents, times the model's scaling factor, get mean 0 and a mean variance of 1.

    Args:
        model: Its encoder has no residual blocks and at least ``GATHERED`` channels.
        pictures: (count, H, W, 3).
    """
    channels = int(model.config["latent_channels"])
    mean, directions, deviations = principal_components(pictures, channels)
    scale = deviations**-LEVELLING
    scale /= np.sqrt(np.mean((deviations * scale) ** 2)) * model.config["scaling_factor"]
    convolutions: list[nn.Conv2d] = list(cast("Any", model.encoder).layers)
    first, *strided, last = convolutions
    for layer in convolutions:
        nn.init.zeros_(layer.weight)
        if layer.bias is not None:
            nn.init.zeros_(layer.bias)
    first.weight[range(COLOURS), range(COLOURS), 1, 1] = 1
    for layer, numbers in zip(strided, (COLOURS, 4 * COLOURS), strict=False):
        _gather(layer, numbers)
    projection = torch.from_numpy(directions.T * scale[:, None]).float()
    _project(strided[-1], projection)
    last.weight[range(channels), range(channels), 1, 1] = 1
    last.bias = nn.Parameter(-projection @ torch.from_numpy(mean).float())


def principal_components(
    pictures: NDArray[np.uint8], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the principal components of 8x8 patches.

    Returns:
        Mean patch (192,), directions (192, count) and deviations along them (count,), of colours
        in [0, 1]; values within a patch are in the encoder's order.
    """
    patches = gathered(pictures.astype(np.float64) / 255)
    covariance = np.cov(patches.T)
    variances, directions = np.linalg.eigh(covariance)
    strongest = np.argsort(variances)[::-1][:count]
    return patches.mean(0), directions[:, strongest], np.sqrt(variances[strongest])


def gathered(pictures: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fold (count, H, W, channels) into rows of patches, 2x2 three times, as the encoder does."""
    folded = pictures
    for _ in range(3):
        count, height, width, numbers = folded.shape
        blocks = folded.reshape(count, height // 2, 2, width // 2, 2, numbers)
        folded = blocks.transpose(0, 1, 3, 2, 4, 5).reshape(
            count, height // 2, width // 2, 4 * numbers
        )
    return folded.reshape(-1, folded.shape[-1])


def _gather(layer: nn.Conv2d, numbers: int) -> None:
    """Set a stride-2 convolution to concatenate the values of 2x2 pixels."""
    for place in range(4):
        row, column = divmod(place, 2)
        for number in range(numbers):
            layer.weight[place * numbers + number, number, 1 + row, 1 + column] = 1


def _project(layer: nn.Conv2d, projection: Tensor) -> None:
    """Set a stride-2 convolution to gather 2x2 pixels and project them."""
    outputs = len(projection)
    for place in range(4):
        row, column = divmod(place, 2)
        part = projection[:, place * GATHERED : (place + 1) * GATHERED]
        layer.weight[:outputs, :GATHERED, 1 + row, 1 + column] = part
