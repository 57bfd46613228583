"""Finds a sprite in a picture by its pixels alone: a judge that shares no net with any verifier.

The sprite is laid over the picture at every place and in many sizes. Each solid pixel speaks for a
place by how much closer its colour is than TOLERANCE, and against it by how much farther; the sum
is weighed by the correlation of the colours, because a plain ground may have a sprite's colour but
not its pattern. The place with most evidence wins. On a ground, what stands lower in the picture is
nearer: so the scenes are painted, and so the feet of two sprites tell which is in front.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from torch.nn import functional

from spatialstudio.adapters.stickers.training.sprites import sticker
from spatialstudio.domain.arrays import RgbImage

SIDE = 64  # pictures are halved first, for speed
SIZES = tuple(range(14, 44, 2))  # of one of two objects, with room for the model's freedom
SOLID_ALPHA = 0.5
TOLERANCE = 50.0  # root mean square difference of colours, of 255
LEAST_DEVIATION = 8.0  # of the picture's colours, so that plain areas correlate with nothing
LEAST_STEP = 1 / SIDE  # between two feet, as a share of the side


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Where a sprite agrees best with a picture.

    Attributes:
        evidence: How much speaks for it, as a share of the picture's pixels; below 0 for nothing.
        x: Centre as a share of the side; grows right.
        y: Centre; grows down.
        foot: Lower edge; grows down.
        size: Longer side as a share of the picture's side.
    """

    evidence: float
    x: float
    y: float
    foot: float
    size: float


def is_nearer(image: RgbImage, first: int, second: int) -> bool | None:
    """Say whether the first of two objects stands in front; None where one cannot tell.

    The surer of the two is found first, and the other one elsewhere: a bear is no teddy bear.
    """
    surer = max((first, second), key=lambda number: find_sprite(image, number).evidence)
    found = find_sprite(image, surer)
    other = find_sprite(image, second if surer == first else first, apart_from=found)
    if min(found.evidence, other.evidence) <= 0:
        return None
    step = found.foot - other.foot if surer == first else other.foot - found.foot
    return None if abs(step) < LEAST_STEP else step > 0


def find_sprite(image: RgbImage, number: int, apart_from: Match | None = None) -> Match:
    """Find an object's sprite in a square picture of (H, W, 3) uint8.

    Args:
        image: (H, W, 3) uint8, square.
        number: Class number of the object.
        apart_from: What stands elsewhere; no centre may lie within half its size.
    """
    halved = Image.fromarray(image).resize((SIDE, SIDE), Image.Resampling.BOX)
    picture = torch.from_numpy(np.array(halved)).permute(2, 0, 1)[None].float()
    return max(_best_places(picture, number, apart_from), key=lambda match: match.evidence)


def _best_places(picture: Tensor, number: int, apart_from: Match | None) -> Iterator[Match]:
    for size in SIZES:
        solid, colours = _template(number, size)
        height, width = solid.shape[-2:]
        evidence = _evidence(picture, solid, colours)
        if apart_from is not None:
            rows = torch.arange(evidence.shape[0])[:, None] + height / 2
            columns = torch.arange(evidence.shape[1]) + width / 2
            away = torch.hypot(rows / SIDE - apart_from.y, columns / SIDE - apart_from.x)
            evidence = evidence * (away > apart_from.size / 2)
        row, column = divmod(int(evidence.argmax()), evidence.shape[1])
        yield Match(
            evidence=float(evidence.max()),
            x=(column + width / 2) / SIDE,
            y=(row + height / 2) / SIDE,
            foot=(row + height) / SIDE,
            size=size / SIDE,
        )


def _evidence(picture: Tensor, solid: Tensor, colours: Tensor) -> Tensor:
    """Return the evidence for every place of a sprite's corner, (rows, columns)."""
    window = solid.expand(1, 3, -1, -1)
    count = window.sum()
    mean = functional.conv2d(picture, window) / count
    mean_square = functional.conv2d(picture.square(), window) / count
    product = functional.conv2d(picture, colours) / count
    own_mean, own_square = colours.sum() / count, colours.square().sum() / count
    closeness = TOLERANCE**2 - (mean_square + own_square - 2 * product)
    deviation = (mean_square - mean.square()).clamp(min=LEAST_DEVIATION**2).sqrt()
    own_deviation = (own_square - own_mean.square()).sqrt()
    correlation = (product - mean * own_mean) / (deviation * own_deviation)
    weighed = count * closeness * correlation.clamp(min=0)
    return weighed[0, 0] / (TOLERANCE**2 * picture.numel())


@cache
def _template(number: int, size: int) -> tuple[Tensor, Tensor]:
    """Return where the sprite is solid, (1, 1, h, w), and its colours there, (1, 3, h, w)."""
    pixels = torch.from_numpy(sticker(number, size).copy())
    solid = (pixels[..., 3] > SOLID_ALPHA).float()
    colours = pixels[..., :3].permute(2, 0, 1) * solid
    return solid[None, None], colours[None]
