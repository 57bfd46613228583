"""Mask corruptions for measuring the robustness of PSE.

Source: Rezaei et al. 2025, arXiv:2506.23418, table 10: dropout of pixels, jitter of position,
morphological opening. The published distances are in pixels of 1024 x 1024 images, the size of
SDXL; for masks of other sizes they are scaled and rounded to pixels. Ours, where the paper does
not specify it: pixels drop independently, each mask jitters in a separate direction, and pixels
shifted out of the image are lost.
"""

from collections.abc import Callable, Sequence
from math import cos, pi, sin, sqrt

import numpy as np

from spatialstudio.domain.arrays import BoolMask
from spatialstudio.domain.frozen import frozen

FULL_TURN = 2 * pi
PUBLISHED_SIDE = 1024
"""Image side in the published study, pixels."""


@frozen
class Corruption:
    """A mask corruption at one level.

    Attributes:
        name: Name in the table.
        level: Level as published: fraction of pixels, distance in pixels at 1024 x 1024, or
            iterations at 1024 x 1024.
        spoil: Takes a mask and a random generator, returns a corrupted copy.
    """

    name: str
    level: float
    spoil: Callable[[BoolMask, np.random.Generator], BoolMask]


def dropout(mask: BoolMask, share: float, chance: np.random.Generator) -> BoolMask:
    """Delete a random fraction of a mask's pixels.

    Args:
        mask: (H, W) bool.
        share: Fraction of the mask's pixels, [0, 1].
        chance: Random generator.
    """
    return mask & (chance.random(mask.shape) >= share)


def jitter(mask: BoolMask, distance: float, chance: np.random.Generator) -> BoolMask:
    """Shift a mask in a random direction; pixels outside the image are lost.

    Args:
        mask: (H, W) bool.
        distance: Pixels.
        chance: Random generator.
    """
    angle = chance.uniform(0, FULL_TURN)
    return shifted(mask, round(distance * cos(angle)), round(distance * sin(angle)))


def shifted(mask: BoolMask, right: int, down: int) -> BoolMask:
    """Shift a mask, (H, W) bool, by whole pixels; pixels outside the image are lost."""
    height, width = mask.shape
    moved = np.zeros_like(mask)
    if abs(down) < height and abs(right) < width:
        moved[max(down, 0) : height + min(down, 0), max(right, 0) : width + min(right, 0)] = mask[
            max(-down, 0) : height - max(down, 0), max(-right, 0) : width - max(right, 0)
        ]
    return moved


def opening(mask: BoolMask, iterations: int) -> BoolMask:
    """Erode a mask, then dilate it, with a 3 x 3 square.

    Args:
        mask: (H, W) bool; padded with False.
        iterations: Number of erosions, and of dilations.
    """
    for _ in range(iterations):
        mask = _over_neighbours(mask, np.logical_and)
    for _ in range(iterations):
        mask = _over_neighbours(mask, np.logical_or)
    return mask


def published_corruptions() -> Sequence[Corruption]:
    """Return the twelve corruptions of the published table."""
    return (
        *(
            Corruption(name="dropout", level=share, spoil=_dropout(share))
            for share in (0.1, 0.3, 0.5, 0.8)
        ),
        *(
            Corruption(name="jitter", level=pixels, spoil=_jitter(pixels))
            for pixels in (5, 20, 50, 100)
        ),
        *(
            Corruption(name="opening", level=count, spoil=_opening(count))
            for count in (1, 2, 5, 10)
        ),
    )


def scale_of(mask: BoolMask) -> float:
    """Return the side of a mask, (H, W), relative to the published study; 1 at 1024 x 1024."""
    height, width = mask.shape
    return sqrt(height * width) / PUBLISHED_SIDE


def _dropout(share: float) -> Callable[[BoolMask, np.random.Generator], BoolMask]:
    return lambda mask, chance: dropout(mask, share, chance)


def _jitter(pixels: float) -> Callable[[BoolMask, np.random.Generator], BoolMask]:
    return lambda mask, chance: jitter(mask, pixels * scale_of(mask), chance)


def _opening(count: int) -> Callable[[BoolMask, np.random.Generator], BoolMask]:
    return lambda mask, _: opening(mask, round(count * scale_of(mask)))


def _over_neighbours(mask: BoolMask, combine: np.ufunc) -> BoolMask:
    for axis in (0, 1):
        pads = [(1, 1) if axis == own else (0, 0) for own in (0, 1)]
        padded = np.pad(mask, pads)
        size = mask.shape[axis]
        parts = [padded.take(range(start, start + size), axis) for start in range(3)]
        mask = combine.reduce(parts)
    return mask
