"""Painting of scenes with ground truth: masks, boxes and depth of every object."""

import numpy as np
from numpy.typing import NDArray

from spatialstudio.adapters.stickers.training.backgrounds import Painter, draw_background
from spatialstudio.adapters.stickers.training.scene_layout import (
    BACKGROUND_DEPTH,
    Placement,
    Scene,
)
from spatialstudio.adapters.stickers.training.sprites import sticker
from spatialstudio.domain.frozen import frozen

SOLID_ALPHA = 0.5


@frozen(eq=False)
class PaintedScene:
    """A picture with its ground truth.

    Attributes:
        pixels: (H, W, 3) uint8.
        masks: (objects, H, W) bool, the visible part of each placement.
        depth: (H, W) float32 in [0, 1]; larger is farther.
        scene: The painted scene; masks are in the order of its placements.
    """

    pixels: NDArray[np.uint8]
    masks: NDArray[np.bool_]
    depth: NDArray[np.float32]
    scene: Scene


def paint(scene: Scene, side: int, behind: Painter = draw_background) -> PaintedScene:
    """Paint a scene as a square picture of ``side`` pixels.

    Args:
        scene: The scene.
        side: Pixels of the picture's side.
        behind: Draws the background.
    """
    canvas = behind(scene.backdrop, side)
    depth = _background_depth(scene.backdrop.horizon, side)
    masks = np.zeros((len(scene.placements), side, side), dtype=np.bool_)
    for index, placement in enumerate(scene.placements):
        pixels = sticker(placement.number, round(placement.size * side))
        rows, columns = _window(placement, pixels.shape[0], pixels.shape[1], side)
        alpha = pixels[..., 3:]
        canvas[rows, columns] += (pixels[..., :3] - canvas[rows, columns]) * alpha
        solid = alpha[..., 0] > SOLID_ALPHA
        masks[:index, rows, columns] &= ~solid
        masks[index, rows, columns] = solid
        depth[rows, columns][solid] = placement.depth
    return PaintedScene(
        pixels=(canvas + 0.5).astype(np.uint8), masks=masks, depth=depth, scene=scene
    )


def _window(placement: Placement, height: int, width: int, side: int) -> tuple[slice, slice]:
    top = min(max(round(placement.y * side - height / 2), 0), side - height)
    left = min(max(round(placement.x * side - width / 2), 0), side - width)
    return slice(top, top + height), slice(left, left + width)


def _background_depth(horizon: float | None, side: int) -> NDArray[np.float32]:
    depth = np.full((side, side), BACKGROUND_DEPTH, dtype=np.float32)
    if horizon is not None:
        rows = np.linspace(0, 1, side, dtype=np.float32)[:, None]
        nearness = np.clip((rows - horizon) / (1 - horizon), 0, 1)
        depth -= 0.1 + 0.85 * nearness * (rows >= horizon)
        depth += 0.1 * (rows < horizon)
    return depth
