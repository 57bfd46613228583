"""The small convolutional net of segmenter and depth estimator: picture to map."""

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional

from spatialstudio.adapters.models.weight_hashes import hash_of_weights
from spatialstudio.domain.errors import DetectorError
from spatialstudio.domain.frozen import frozen

WEIGHTS_FILE = "model.safetensors"
CONFIG_FILE = "config.json"
GRID = 16
"""Downsampling factor of the net, four times two, pixels."""


@frozen
class PixelNetConfig:
    """Shape of a net.

    Attributes:
        outputs: Output channels.
        widths: Channels at 1/2, 1/4, 1/8 and 1/16 of the input's side.
        side: Side of the training pictures, pixels.
    """

    outputs: int
    widths: tuple[int, ...] = (24, 48, 96, 128)
    side: int = 128


class PixelNet(nn.Module):
    """An encoder with four downsampling levels and a decoder with skip connections."""

    def __init__(self, config: PixelNetConfig) -> None:
        super().__init__()
        self.config = config
        widths = config.widths
        self.down = nn.ModuleList(
            nn.Sequential(_convolution(before, after, stride=2), _convolution(after, after))
            for before, after in zip((3, *widths), widths, strict=False)
        )
        self.deepest = _convolution(widths[-1], widths[-1])
        self.lift = nn.ModuleList(
            nn.Conv2d(deep, fine, 1)
            for fine, deep in zip(widths[-2::-1], widths[:0:-1], strict=True)
        )
        self.up = nn.ModuleList(_convolution(width, width) for width in widths[-2::-1])
        self.answer = nn.Conv2d(widths[0], config.outputs, 1)

    def forward(self, pictures: Tensor) -> Tensor:
        """Predict a value for each pixel.

        Args:
            pictures: (batch, 3, H, W) in [-1, 1].

        Returns:
            (batch, outputs, H / 2, W / 2).
        """
        levels = []
        features = pictures
        for down in self.down:
            features = down(features)
            levels.append(features)
        features = self.deepest(features) + features
        for lift, up, level in zip(self.lift, self.up, levels[-2::-1], strict=True):
            raised = functional.interpolate(lift(features), scale_factor=2.0, mode="nearest")
            features = up(raised + level)
        answer: Tensor = self.answer(features)
        return answer

    def answer_for(self, image: NDArray[np.uint8]) -> Tensor:
        """Return the logits for one picture of any size: (outputs, side, side)."""
        return self.answer_at(image, (self.config.side, self.config.side))

    @torch.inference_mode()
    def answer_at(self, image: NDArray[np.uint8], size: tuple[int, int]) -> Tensor:
        """Return the logits for one picture at a size: (outputs, height, width).

        Args:
            image: (H, W, 3) uint8.
            size: Height and width to resize to, multiples of ``GRID`` pixels.
        """
        height, width = size
        resized = Image.fromarray(image).resize((width, height), Image.Resampling.BILINEAR)
        pixels = torch.from_numpy(np.array(resized)).permute(2, 0, 1)[None].contiguous()
        answer = self(pixels.float() / 127.5 - 1)
        return functional.interpolate(answer, size=size, mode="bilinear", align_corners=False)[0]

    def save(self, folder: Path) -> None:
        """Write weights as float16 and the configuration."""
        folder.mkdir(parents=True, exist_ok=True)
        weights = {
            name: weight.half().contiguous() if weight.is_floating_point() else weight
            for name, weight in self.state_dict().items()
        }
        save_file(weights, folder / WEIGHTS_FILE)
        config = json.dumps(asdict(self.config), indent=2) + "\n"
        (folder / CONFIG_FILE).write_text(config, encoding="utf-8")


def read_pixel_net(folder: Path) -> PixelNet:
    """Load a net from its folder, in evaluation mode.

    Raises:
        DetectorError: A file is missing or damaged.
    """
    try:
        config = json.loads((folder / CONFIG_FILE).read_text(encoding="utf-8"))
        net = PixelNet(PixelNetConfig(**{**config, "widths": tuple(config["widths"])}))
        net.load_state_dict(load_file(folder / WEIGHTS_FILE))
    except (OSError, KeyError, TypeError, ValueError, RuntimeError, SafetensorError) as error:
        raise DetectorError(
            f'The model in the folder "{folder.name}" is missing or damaged.',
            hint="Reinstall Spatial Studio, or train the sticker models again.",
        ) from error
    return net.eval()


def signature_of(folder: Path) -> str:
    """Return a net's name and weight hash; empty if the weights cannot be read."""
    try:
        return f"{folder.name} {hash_of_weights([folder / WEIGHTS_FILE])}"
    except OSError:
        return ""


def _convolution(before: int, after: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(before, after, 3, stride=stride, padding=1, bias=False),
        nn.BatchNorm2d(after),
        nn.ReLU(inplace=True),
    )
