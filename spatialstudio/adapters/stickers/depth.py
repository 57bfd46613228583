"""Depth estimator for pictures of the sticker world."""

from pathlib import Path

import numpy as np
from PIL import Image

from spatialstudio.adapters.stickers.pixel_net import (
    PixelNet,
    read_pixel_net,
    signature_of,
)
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.verdict import DepthMap


def build(surroundings: Surroundings) -> "StickerDepth":
    """Create the estimator with the bundled net."""
    return StickerDepth(surroundings.resources / "models" / StickerDepth.id)


class StickerDepth:
    """A depth estimator for the sticker world, loaded on first use."""

    id = "sticker-depth"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._net: PixelNet | None = None

    @property
    def signature(self) -> str:
        """Model, weights and settings, which determine the output for a picture."""
        return signature_of(self._folder)

    def estimate(self, image: RgbImage) -> DepthMap:
        """Estimate relative depth, larger is farther.

        Args:
            image: (H, W, 3) uint8.

        Raises:
            DetectorError: The model is damaged or missing.
        """
        if self._net is None:
            self._net = read_pixel_net(self._folder)
        depth = Image.fromarray(self._net.answer_for(image)[0].numpy())
        resized = depth.resize((image.shape[1], image.shape[0]), Image.Resampling.BILINEAR)
        return DepthMap(values=np.array(resized, dtype=np.float32), estimator_id=self.id)
