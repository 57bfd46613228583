"""Finds the objects of the sticker world in a picture: instances with score, box and mask.

The net knows objects as large as they are in pictures of 128 pixels. Sticker models draw them in
that size whatever the picture's, so that larger pictures hold smaller objects, while a picture that
was enlarged holds larger ones. So the net looks at every picture at its own trained size, and at
larger pictures in two and four times that resolution as well; each resolution counts for objects of
about the size that it was trained on (Singh and Davis 2018, arXiv:1711.08189).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from spatialstudio.adapters.mask_regions import box_around, connected_regions, resized
from spatialstudio.adapters.stickers.pixel_net import (
    GRID,
    PixelNet,
    read_pixel_net,
    signature_of,
)
from spatialstudio.adapters.stickers.vocabulary import object_number, sticker_objects
from spatialstudio.domain.arrays import BoolMask, RgbImage
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.judge_ports import Seen
from spatialstudio.domain.perception import (
    Detection,
    Mask,
)
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.prompt import ObjectMention

FINEST = 4
"""The finest resolution, in trained sizes."""

CLEARLY_FINER = 1.15
LONGEST = 1024
"""Of the net's input, pixels; of a picture whose form is extreme, squeezed."""


@frozen
class SegmenterSettings:
    """What counts as an instance.

    Attributes:
        least_area: Smallest instance, as a share of the picture; no painted scene shows less of an
            object than 0.015. In finer resolutions, as a share of the trained size.
        bridge: Half of the gap, in pixels of the net's input, that an instance may have.
        least_side: Longer side of an instance, pixels of the net's input; smaller ones count in
            finer resolutions only.
        least_fine_side: The same in all resolutions but the coarsest. Painted objects have at least
            32; smaller finds are details of an enlarged background, such as snow.
        most_side: The same of the largest; larger ones count in coarser resolutions only.
        least_fine_score: Least score of instances in all resolutions but the coarsest, [0, 1].
            Parts of large objects seen alone resemble other objects.
        coarse_lead: By how much the coarsest resolution goes first where instances compete.
        most_overlap: Share of the smaller of two instances beyond which they compete. What a finer
            resolution finds at the edge of a large object often lies beyond it by half.
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
    """One object found.

    Attributes:
        number: Class number of the object.
        pixels: (H, W) of the picture.
        score: Mean probability of its class over its pixels, [0, 1].
        is_fine: Whether it was seen in a finer resolution than the coarsest.
    """

    number: int
    pixels: BoolMask
    score: float
    is_fine: bool


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
        """Find the instances of all classes, the best first; of those that compete, one."""
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
        """Find the instances that one resolution counts for.

        Args:
            image: (H, W, 3) uint8.
            size: Of the net's input.
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
    """List the sizes at which a picture is looked at, the coarsest first.

    Args:
        size: Height and width of the picture, pixels.
        side: Of the pictures that the net was trained on, pixels.

    Returns:
        Heights and widths in the picture's form: the shorter side is the trained one, then twice
        that and so on; the finest is the picture's own, at most ``FINEST`` trained sides.
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
