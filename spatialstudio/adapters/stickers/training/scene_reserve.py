"""A buffer of painted scenes, since painting one costs more than a training step on it."""

from collections import deque

import numpy as np

from spatialstudio.adapters.stickers.training.scene_layout import SceneSettings, draw_scene
from spatialstudio.adapters.stickers.training.scenes import PaintedScene, paint

FRESH_SHARE = 0.25


class SceneReserve:
    """The latest painted scenes, replaced quickly because a share of every draw is new."""

    def __init__(self, settings: SceneSettings, kept: int = 1500) -> None:
        self._settings = settings
        self._scenes: deque[PaintedScene] = deque(maxlen=kept)

    def draw(self, rng: np.random.Generator, count: int) -> list[PaintedScene]:
        """Draw painted scenes; while the buffer is empty, all are newly painted."""
        missing = count - len(self._scenes)
        for _ in range(max(missing, round(count * FRESH_SHARE))):
            self._scenes.append(paint(draw_scene(rng, self._settings), self._settings.side))
        chosen = rng.integers(len(self._scenes), size=count)
        return [self._scenes[index] for index in chosen]
