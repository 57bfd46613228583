"""Segmenter for objects of the sticker world: instances with score, box and mask.

The net knows objects at their size in pictures of 128 pixels. Sticker models draw them in that
pixel size at any resolution, so larger pictures contain relatively smaller objects, while upscaled
pictures contain larger ones. The net therefore runs on every picture at its training size, and on
larger pictures also at two and four times that size; each resolution contributes objects of about
the training size (Singh and Davis 2018, arXiv:1711.08189).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from spatialstudio.adapters.mask_regions import connected_regions, resized
from spatialstudio.adapters.stickers.pixel_net import (
    GRID,
    PixelNet,
    read_pixel_net,
    signature_of,
)
from spatialstudio.adapters.stickers.vocabulary import object_number, sticker_objects
from spatialstudio.domain.arrays import BoolMask, RgbImage
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import Seen, Surroundings
from spatialstudio.domain.scene import ObjectMention
from spatialstudio.domain.verdict import (
    Detection,
    Mask,
    box_around,
)

FINEST = 4
"""The finest resolution, in multiples of the training size."""

CLEARLY_FINER = 1.15
LONGEST = 1024
"""Maximum side of the net's input, pixels; extreme aspect ratios are squeezed."""


@frozen
class SegmenterSettings:
    """Thresholds for instances.

    Attributes:
        least_area: Smallest instance, as a share of the picture; no painted scene shows less of an
            object than 0.015. In finer resolutions, as a share of the training size.
        bridge: Half of the gap, in pixels of the net's input, that an instance may have.
        least_side: Minimum longer side of an instance, pixels of the net's input; smaller ones
            count only in finer resolutions.
        least_fine_side: The same in all resolutions but the coarsest. Painted objects have at least
            32; smaller ones are details of an upscaled background, such as snow.
        most_side: Maximum longer side; larger instances count only in coarser resolutions.
        least_fine_score: Minimum score of instances in all resolutions but the coarsest, [0, 1].
            Parts of large objects seen alone resemble other objects.
        coarse_lead: Score bonus of the coarsest resolution among competing instances.
        most_overlap: Share of the smaller of two instances above which they compete. An instance
            that a finer resolution finds at the edge of a large object often lies half outside it.
    """

    least_area: float = 0.012
    bridge: int = 2
    least_side: int = 24
    least_fine_side: int = 30
    most_side: int = 100
    least_fine_score: float = 0.75
    coarse_lead: float = 0.05
    most_overlap: float = 0.3


@frozen(eq=False)
class Instance:
    """One detected object.

    Attributes:
        number: Class index of the object.
        pixels: (H, W) of the picture.
        score: Mean probability of its class over its pixels, [0, 1].
        is_fine: Whether it was found at a finer resolution than the coarsest.
    """

    number: int
    pixels: BoolMask
    score: float
    is_fine: bool


def build(surroundings: Surroundings) -> "StickerSegmenter":
    """Create the segmenter with the bundled net."""
    return StickerSegmenter(surroundings.resources / "models" / StickerSegmenter.id)


class StickerSegmenter:
    """A detector for the objects of the sticker world, loaded on first use."""

    id = "sticker-segmenter"

    def __init__(self, folder: Path, settings: SegmenterSettings | None = None) -> None:
        self._folder = folder
        self._settings = settings or SegmenterSettings()
        self._net: PixelNet | None = None

    @property
    def signature(self) -> str:
        """Model, weights and settings, which determine the output for a picture."""
        return f"{signature_of(self._folder)} {self._settings}"

    def detect(self, image: RgbImage, mentions: Sequence[ObjectMention]) -> Seen:
        """Detect every mention's head.

        Args:
            image: (H, W, 3) uint8.
            mentions: The mentions to detect; only their heads are used.

        Raises:
            DetectorError: The model is damaged or missing.
        """
        instances = self._instances(image)
        detections: list[Detection] = []
        masks: list[Mask] = []
        unknown = []
        for mention in mentions:
            number = object_number(mention.head)
            if number is None or number + 1 >= self._ready().config.outputs:
                unknown.append(mention.head)
                continue
            for instance in (each for each in instances if each.number == number):
                detections.append(self._detection(mention, instance))
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

    def _ready(self) -> PixelNet:
        if self._net is None:
            self._net = read_pixel_net(self._folder)
        return self._net

    def _instances(self, image: RgbImage) -> list[Instance]:
        """Return the instances of all classes, best first, without the losers of competing ones."""
        settings, kept = self._settings, list[Instance]()
        sizes = resolutions(image.shape[:2], self._ready().config.side)
        found = [
            instance
            for index, size in enumerate(sizes)
            for instance in self._seen_at(image, size, (index == 0, index == len(sizes) - 1))
        ]
        if len(sizes) == 1:
            return sorted(found, key=lambda each: -each.score)
        order = sorted(found, key=lambda each: settings.coarse_lead * each.is_fine - each.score)
        for instance in order:
            if not any(_compete(instance, other, settings.most_overlap) for other in kept):
                kept.append(instance)
        return sorted(kept, key=lambda each: -each.score)

    def _seen_at(
        self, image: RgbImage, size: tuple[int, int], ends: tuple[bool, bool]
    ) -> Iterator[Instance]:
        """Yield the instances that count at one resolution.

        Args:
            image: (H, W, 3) uint8.
            size: Size of the net's input.
            ends: Whether it is the coarsest resolution, and whether it is the finest.
        """
        settings, (is_coarsest, is_finest) = self._settings, ends
        probabilities = self._ready().answer_at(image, size).softmax(0).numpy()
        classes = probabilities.argmax(0)
        area = classes.size if is_coarsest else self._ready().config.side ** 2
        least_side = settings.least_side if is_coarsest else settings.least_fine_side
        is_only = is_coarsest and is_finest
        for number in np.unique(classes[classes > 0]):
            regions = connected_regions(
                classes == number, settings.least_area * area, settings.bridge
            )
            for region in sorted(regions, key=lambda each: -int(each.sum())):
                side = _longer_side(region)
                score = float(probabilities[number][region].mean())
                too_large = not is_coarsest and side > settings.most_side
                too_small = not is_only and side < least_side
                if (
                    too_large
                    or too_small
                    or (not is_coarsest and score < settings.least_fine_score)
                ):
                    continue
                yield Instance(
                    number=int(number) - 1,
                    pixels=resized(region, image.shape[:2]),
                    score=score,
                    is_fine=not is_coarsest,
                )

    def _detection(self, mention: ObjectMention, instance: Instance) -> Detection:
        return Detection(
            mention_id=mention.id,
            label=sticker_objects()[instance.number].name,
            score=instance.score,
            box=box_around(instance.pixels),
            detector_id=self.id,
        )


def resolutions(size: tuple[int, int], side: int) -> list[tuple[int, int]]:
    """List the sizes at which the net runs on a picture, coarsest first.

    Args:
        size: Height and width of the picture, pixels.
        side: Side of the training pictures, pixels.

    Returns:
        Heights and widths in the picture's aspect ratio: the shorter side is the training side,
        then twice that and so on; the finest is the picture's own, at most ``FINEST`` training
        sides.
    """
    finest = max(min(min(size), FINEST * side), side)
    sides = [side]
    while sides[-1] * 2 <= finest:
        sides.append(sides[-1] * 2)
    if finest > sides[-1] * CLEARLY_FINER:
        sides.append(finest)
    return [_in_form(size, each) for each in sides]


def _in_form(size: tuple[int, int], shorter: int) -> tuple[int, int]:
    height, width = (
        min(max(round(length * shorter / min(size) / GRID), 1) * GRID, LONGEST) for length in size
    )
    return height, width


def _compete(instance: Instance, other: Instance, most_overlap: float) -> bool:
    shared = (instance.pixels & other.pixels).sum()
    return bool(shared > most_overlap * min(instance.pixels.sum(), other.pixels.sum()))


def _longer_side(region: BoolMask) -> int:
    box = box_around(region)
    return int(max(box.right - box.left, box.bottom - box.top))
