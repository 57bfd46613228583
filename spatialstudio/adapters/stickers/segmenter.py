"""Finds the objects of the sticker world in a picture: instances with score, box and mask."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from spatialstudio.adapters.stickers.pixel_net import PixelNet, read_pixel_net, signature_of
from spatialstudio.adapters.stickers.regions import connected_regions
from spatialstudio.adapters.stickers.vocabulary import object_number, sticker_objects
from spatialstudio.domain.arrays import BoolMask, RgbImage
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.perceivers import Seen
from spatialstudio.domain.perception import Box, Detection, Mask
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.prompt import ObjectMention


@frozen
class SegmenterSettings:
    """What counts as an instance.

    Attributes:
        least_area: Smallest instance, as a share of the picture; no painted scene shows less of an
            object than 0.015.
        bridge: Half of the gap, in pixels of the net's input, that an instance may have.
    """

    least_area: float = 0.012
    bridge: int = 2


@frozen(eq=False)
class Instance:
    """One object found.

    Attributes:
        pixels: (H, W) of the picture.
        score: Mean probability of its class over its pixels, [0, 1].
    """

    pixels: BoolMask
    score: float


def build(surroundings: Surroundings) -> "StickerSegmenter":
    """Make the segmenter with the shipped net."""
    return StickerSegmenter(surroundings.resources / "models" / StickerSegmenter.id)


class StickerSegmenter:
    """A detector for the objects of the sticker world. Loads its net on first use."""

    id = "sticker-segmenter"

    def __init__(self, folder: Path, settings: SegmenterSettings | None = None) -> None:
        self._folder = folder
        self._settings = settings or SegmenterSettings()
        self._net: PixelNet | None = None

    @property
    def signature(self) -> str:
        """All that its answers depend on beside the picture."""
        return f"{signature_of(self._folder)} {self._settings}"

    def detect(self, image: RgbImage, mentions: Sequence[ObjectMention]) -> Seen:
        """Find every mention's head.

        Args:
            image: (H, W, 3) uint8.
            mentions: What to look for; only their heads are asked.

        Raises:
            DetectorError: The model is damaged or missing.
        """
        probabilities = self._probabilities(image)
        classes = probabilities.argmax(0)
        detections: list[Detection] = []
        masks: list[Mask] = []
        unknown = []
        for mention in mentions:
            number = object_number(mention.head)
            if number is None or number + 1 >= len(probabilities):
                unknown.append(mention.head)
                continue
            own, mask = probabilities[number + 1], classes == number + 1
            for instance in self._instances(own, mask, image.shape[:2]):
                detections.append(self._detection(mention, number, instance))
                masks.append(
                    Mask(
                        mention_id=mention.id,
                        pixels=instance.pixels,
                        score=instance.score,
                        source_id=self.id,
                    )
                )
        return Seen(
            detections=tuple(detections),
            masks=tuple(masks),
            unknown_heads=tuple(dict.fromkeys(unknown)),
        )

    def _probabilities(self, image: RgbImage) -> NDArray[np.float32]:
        if self._net is None:
            self._net = read_pixel_net(self._folder)
        probabilities: NDArray[np.float32] = self._net.answer_for(image).softmax(0).numpy()
        return probabilities

    def _instances(
        self, own: NDArray[np.float32], mask: BoolMask, size: tuple[int, int]
    ) -> list[Instance]:
        """Split the pixels of a class, whose chances are given, into instances, the best first."""
        instances = [
            Instance(pixels=_resized(region, size), score=float(own[region].mean()))
            for region in connected_regions(mask, self._settings.bridge)
            if region.mean() >= self._settings.least_area
        ]
        return sorted(instances, key=lambda instance: -instance.score)

    def _detection(self, mention: ObjectMention, number: int, instance: Instance) -> Detection:
        return Detection(
            mention_id=mention.id,
            label=sticker_objects()[number].name,
            score=instance.score,
            box=box_around(instance.pixels),
            detector_id=self.id,
        )


def box_around(pixels: BoolMask) -> Box:
    """Return the smallest box around a mask that is not empty."""
    rows, columns = np.flatnonzero(pixels.any(1)), np.flatnonzero(pixels.any(0))
    return Box(
        left=float(columns[0]),
        top=float(rows[0]),
        right=float(columns[-1] + 1),
        bottom=float(rows[-1] + 1),
    )


def _resized(mask: BoolMask, size: tuple[int, int]) -> BoolMask:
    height, width = size
    return np.array(Image.fromarray(mask).resize((width, height), Image.Resampling.NEAREST))
