"""A detector of objects by the colour in the prompt: "a red square", "a blue circle".

For drawings and test images with shapes that photo-trained detectors do not know. An object is the
set of saturated pixels with a hue near that of its colour. The score decreases with the fraction of
its box in other colours, so that scattered pixels score low.
"""

from collections.abc import Sequence

import numpy as np

from spatialstudio.plugin_api import (
    BoolMask,
    Box,
    Detection,
    Mask,
    ObjectMention,
    RgbImage,
    Seen,
    Surroundings,
)

ID = "colour-areas"
HUES = {
    "red": 0,
    "orange": 30,
    "yellow": 60,
    "green": 120,
    "cyan": 180,
    "blue": 240,
    "purple": 280,
    "magenta": 300,
    "pink": 330,
}
"""Degrees on the colour wheel."""
HUE_RANGE = 18
LEAST_SATURATION, LEAST_BRIGHTNESS = 0.35, 0.2
LEAST_PIXELS = 25
MARGIN_PERCENT = 2


class ColourDetector:
    """Finds at most one instance per mention; mentions without a known colour are unknown."""

    id = ID
    signature = f"{ID} 0.1.0"

    def detect(self, image: RgbImage, mentions: Sequence[ObjectMention]) -> Seen:
        """Detect the coloured mentions in an image, (H, W, 3) uint8."""
        hue, is_vivid = _hues(image)
        detections, masks, unknown = list[Detection](), list[Mask](), list[str]()
        for mention in mentions:
            wanted = next((HUES[w] for w in map(str.lower, mention.attributes) if w in HUES), None)
            if wanted is None:
                unknown.append(mention.head)
                continue
            pixels = is_vivid & (np.abs((hue - wanted + 180) % 360 - 180) <= HUE_RANGE)
            if pixels.sum() >= LEAST_PIXELS:
                box, score = _extent(pixels)
                detections.append(
                    Detection(
                        mention_id=mention.id,
                        label=mention.phrase,
                        score=score,
                        box=box,
                        detector_id=ID,
                    )
                )
                masks.append(Mask(mention_id=mention.id, pixels=pixels, score=score, source_id=ID))
        return Seen(
            detections=tuple(detections), masks=tuple(masks), unknown_heads=tuple(unknown), cut=0.5
        )


def build(_: Surroundings) -> ColourDetector:
    """Return the detector."""
    return ColourDetector()


def _hues(image: RgbImage) -> tuple[np.ndarray, BoolMask]:
    """Return (H, W) hues in degrees, and a mask of the pixels vivid enough to have one."""
    colours = image.astype(np.float32) / 255
    red, green, blue = np.moveaxis(colours, -1, 0)
    high, low = colours.max(-1), colours.min(-1)
    spread = np.maximum(high - low, 1e-6)
    hue = np.where(
        high == red,
        (green - blue) / spread,
        np.where(high == green, 2 + (blue - red) / spread, 4 + (red - green) / spread),
    )
    is_vivid = (high - low >= LEAST_SATURATION * high) & (high >= LEAST_BRIGHTNESS)
    return hue * 60 % 360, is_vivid


def _extent(pixels: BoolMask) -> tuple[Box, float]:
    """Return the box of the middle 96 % of the pixels, and its score, [0, 1]."""
    rows, columns = np.nonzero(pixels)
    percents = (MARGIN_PERCENT, 100 - MARGIN_PERCENT)
    (top, bottom), (left, right) = np.percentile(rows, percents), np.percentile(columns, percents)
    inside = pixels[int(top) : int(bottom) + 1, int(left) : int(right) + 1]
    box = Box(left=float(left), top=float(top), right=float(right) + 1, bottom=float(bottom) + 1)
    return box, float(inside.mean()) ** 0.5 * float(inside.sum() / pixels.sum())
