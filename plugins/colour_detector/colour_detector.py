"""Finds things by the colour that the prompt gives them: "a red square", "a blue circle".

For drawn figures and test pictures, where no detector of photographs knows the shapes: the pixels
whose hue is near the colour's, if they are saturated, are the thing. The score falls with the share
of its box that has another colour, so that scattered pixels score little.
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
    """Finds at most one instance of each mention; says which have no colour that it knows."""

    id = ID
    signature = f"{ID} 0.1.0"

    def detect(self, image: RgbImage, mentions: Sequence[ObjectMention]) -> Seen:
        """Find the coloured mentions in a picture, (H, W, 3) uint8."""
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
    """Make the detector."""
    return ColourDetector()


def _hues(image: RgbImage) -> tuple[np.ndarray, BoolMask]:
    """Return (H, W) hues in degrees, and which pixels are vivid enough to have one."""
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
    """Return the box of the middle 96 % of the pixels, and the share of pixels in it."""
    rows, columns = np.nonzero(pixels)
    percents = (MARGIN_PERCENT, 100 - MARGIN_PERCENT)
    (top, bottom), (left, right) = np.percentile(rows, percents), np.percentile(columns, percents)
    inside = pixels[int(top) : int(bottom) + 1, int(left) : int(right) + 1]
    box = Box(left=float(left), top=float(top), right=float(right) + 1, bottom=float(bottom) + 1)
    return box, float(inside.mean()) ** 0.5 * float(inside.sum() / pixels.sum())
