"""Instances of an object: double detections merged, touching duplicates separated, colours.

Double detections are merged by non-maximum suppression over masks. A detection that only encloses
several others, as of a flock, is dropped.

A region of touching or overlapping duplicates is separated by self-similarity (``duplicates.py``),
which needs neither classes nor sizes. Where sizes and shapes leave it open whether a region is one
object, several or a part of one, the count is unsure. The rules are ours.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from spatialstudio.domain.arrays import BoolMask, RgbImage, mask_bounds
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.requirements import Requirements, requirements_of
from spatialstudio.domain.scene import MentionId, SceneGraph
from spatialstudio.domain.verdict import Box, ColourShare, Instance, Perception
from spatialstudio.science.checker.duplicates import (
    DEFAULT,
    MOST_PARTS,
    InstanceSettings,
    SelfSimilarity,
    duplicates_in,
    edges_of,
    shifted,
)
from spatialstudio.science.colours import colour_shares, lab_of

SAME_PLACE = 0.3
"""Share of the smaller region from which two regions are at the same place."""
MOST_COLOURS = 3


@frozen(eq=False)
class Region:
    """The mask of a detection.

    Attributes:
        pixels: (H, W) bool, not empty.
        score: [0, 1].
        has_mask: Whether it is a mask, not only a box.
        most: Most objects that it may be.
    """

    pixels: BoolMask
    score: float
    has_mask: bool
    most: int = 1

    @property
    def size(self) -> int:
        """Number of its pixels."""
        return int(self.pixels.sum())


def measure_instances(
    scene: SceneGraph,
    perception: Perception,
    image: RgbImage | None = None,
    settings: InstanceSettings = DEFAULT,
) -> tuple[Instance, ...]:
    """Return the instances of every mention with a required count or colour.

    Args:
        scene: The scene graph.
        perception: The perception of the image.
        image: (H, W, 3) uint8; without it nothing is separated and no colour is measured.
        settings: Thresholds.
    """
    required = {each.id: requirements_of(scene, each.id) for each in scene.mentions}
    counted = {
        mention.head for mention in scene.mentions if required[mention.id].quantity is not None
    }
    found: list[Instance] = []
    for mention in scene.mentions:
        if _is_checked(required[mention.id]):
            regions = merged_regions(regions_of(mention.id, perception, settings), settings)
            if image is not None and mention.head in counted:
                regions = separated_regions(regions, image, settings)
            found += [_instance(mention.id, region, image) for region in regions]
    return tuple(found)


def _is_checked(required: Requirements) -> bool:
    return bool(required.quantity or required.colours)


def regions_of(
    mention_id: MentionId, perception: Perception, settings: InstanceSettings = DEFAULT
) -> list[Region]:
    """Return the regions of a mention's detections, best first; their boxes without masks."""
    masks = perception.masks_of(mention_id)
    found = perception.detections_of(mention_id)
    if masks:
        regions = [Region(pixels=m.pixels, score=m.score, has_mask=True) for m in masks]
    else:
        shape = perception.height, perception.width
        regions = [
            Region(pixels=box_pixels(each.box, shape), score=each.score, has_mask=False)
            for each in found
        ]
    return [each for each in regions if each.pixels.any()][: settings.most_detections]


def merged_regions(regions: Sequence[Region], settings: InstanceSettings = DEFAULT) -> list[Region]:
    """Merge double detections, and drop those that only enclose several others."""
    single = [each for each in regions if not _is_group(each, regions, settings)]
    kept: list[Region] = []
    for region in single:
        if not any(_is_same(region, other, settings) for other in kept):
            kept.append(region)
    return kept


def _is_same(region: Region, other: Region, settings: InstanceSettings) -> bool:
    shared = int((region.pixels & other.pixels).sum())
    own, others = int(region.pixels.sum()), int(other.pixels.sum())
    is_inside = shared > settings.least_containment * min(own, others)
    return is_inside or shared > settings.least_iou * (own + others - shared)


def _is_group(region: Region, regions: Sequence[Region], settings: InstanceSettings) -> bool:
    """Return True if a region mainly consists of two or more others that lie apart."""
    area = int(region.pixels.sum())
    inside: list[Region] = []
    for other in regions:
        own = int(other.pixels.sum())
        shared = int((region.pixels & other.pixels).sum())
        is_part = shared > settings.least_containment * own and own < settings.group_cover * area
        if is_part and not any(_is_same(other, each, settings) for each in inside):
            inside.append(other)
    cover = sum(int((region.pixels & each.pixels).sum()) for each in inside)
    return len(inside) > 1 and cover > settings.group_cover * area


def box_pixels(box: Box, shape: tuple[int, int]) -> BoolMask:
    """Return the pixels of a box, (H, W) bool."""
    pixels = np.zeros(shape, np.bool_)
    rows = slice(max(round(box.top), 0), round(box.bottom))
    columns = slice(max(round(box.left), 0), round(box.right))
    pixels[rows, columns] = True
    return pixels


def _instance(mention_id: MentionId, region: Region, image: RgbImage | None) -> Instance:
    top, left, bottom, right = mask_bounds(region.pixels)
    colours: tuple[ColourShare, ...] = ()
    rgb = None
    if image is not None and region.has_mask:
        core = _core(region.pixels)
        shares = sorted(colour_shares(image, core).items(), key=lambda item: -item[1])
        colours = tuple(
            ColourShare(term=term, share=round(share, 4)) for term, share in shares[:MOST_COLOURS]
        )
        red, green, blue = np.median(image[core], axis=0).round().astype(int).tolist()
        rgb = red, green, blue
    return Instance(
        mention_id=mention_id,
        box=Box(left=float(left), top=float(top), right=float(right), bottom=float(bottom)),
        score=region.score,
        area=(bottom - top) * (right - left) / region.pixels.size,
        most=region.most,
        colours=colours,
        rgb=rgb,
    )


def _core(pixels: BoolMask) -> BoolMask:
    """Return a mask without its outline, where the background shines through."""
    from scipy import ndimage  # type: ignore[import-untyped]

    core: BoolMask = ndimage.binary_erosion(pixels)
    return core if core.any() else pixels


def separated_regions(
    regions: Sequence[Region], image: RgbImage, settings: InstanceSettings = DEFAULT
) -> list[Region]:
    """Separate touching duplicates, best score first; see ``separated``.

    Instances of one kind are about as large as each other: parts much smaller than the other
    instances are parts of one object.
    """
    kept: dict[int, list[Region]] = {place: [each] for place, each in enumerate(regions)}
    for place in sorted(kept, key=lambda place: -int(regions[place].pixels.sum())):
        area = int(regions[place].pixels.sum())
        others = [each for other, own in kept.items() if other != place for each in own]
        least = min((int(other.pixels.sum()) for other in others), default=0)
        is_large = bool(least) and area >= settings.double_size * least
        parts = separated(regions[place], image, settings, is_large=is_large)
        count = max(len(parts), parts[0].most)
        if count > 1 and area >= settings.least_part * least * count:
            kept[place] = parts
    found = [part for parts in kept.values() for part in parts]
    return with_unsure_sizes(with_duplicates(found, image, settings), image, settings)


def with_unsure_sizes(
    regions: Sequence[Region], image: RgbImage, settings: InstanceSettings = DEFAULT
) -> list[Region]:
    """Mark regions of possibly several objects, and join possible parts of one object.

    Nearer objects are larger, but of the same shape. A region of another shape that is much larger
    than an instance may be several. Two that are close to each other and of different shapes may be
    parts of one object if one is much smaller or their colours differ, as of a lamp's shade and
    foot.

    Args:
        regions: The instances that were found.
        image: (H, W, 3) uint8.
        settings: Thresholds.
    """
    whole = [each for each in regions if not each.has_mask]
    for region in sorted((each for each in regions if each.has_mask), key=lambda each: -each.size):
        for place, owner in enumerate(whole):
            if owner.has_mask and _may_be_parts(region, owner, image, settings):
                joined, most = owner.pixels | region.pixels, owner.most + region.most
                whole[place] = replace(owner, pixels=joined, most=most)
                break
        else:
            whole.append(region)
    least = min(whole, key=lambda each: each.size, default=None)
    return [each if least is None else _with_most(each, least, settings) for each in whole]


def _may_be_parts(
    region: Region, other: Region, image: RgbImage, settings: InstanceSettings
) -> bool:
    """Return True for two regions that are close to each other and do not look alike."""
    from scipy import ndimage

    if _is_alike(region, other, settings):
        return False
    top, left, bottom, right = mask_bounds(other.pixels)
    reach = settings.near * max(bottom - top, right - left)
    distances = ndimage.distance_transform_edt(~other.pixels)
    if (distances[region.pixels] > reach).all():
        return False
    if region.size * settings.merged_size <= other.size:
        return True
    one, two = (colour_shares(image, each.pixels) for each in (region, other))
    return sum(min(one[term], two[term]) for term in one) < settings.least_common


def _with_most(region: Region, least: Region, settings: InstanceSettings) -> Region:
    is_single = region.size < settings.merged_size * least.size or _is_alike(
        region, least, settings
    )
    count = 1 if is_single else round(region.size / least.size)
    return replace(region, most=max(region.most, min(count, MOST_PARTS)))


def _is_alike(region: Region, other: Region, settings: InstanceSettings) -> bool:
    """Return True if two regions have the same proportions and fill their boxes equally."""
    shapes = []
    for each in (region, other):
        top, left, bottom, right = mask_bounds(each.pixels)
        height, width = bottom - top, right - left
        shapes.append((height / width, each.size / (height * width)))
    ratios = [max(one, two) / min(one, two) for one, two in zip(*shapes, strict=True)]
    return max(ratios) <= settings.same_shape


def with_duplicates(
    regions: Sequence[Region], image: RgbImage, settings: InstanceSettings = DEFAULT
) -> list[Region]:
    """Add the duplicates of an instance that a detector has missed or merged with each other.

    Args:
        regions: The instances that were found.
        image: (H, W, 3) uint8.
        settings: Thresholds.
    """
    single = [each for each in regions if each.has_mask and each.most == 1]
    if not single:
        return list(regions)
    model = max(single, key=lambda region: region.score)
    copies = _copies(model, image, settings)
    on: dict[int, list[Region]] = {
        place: [copy for copy in copies if _share_pixels(copy, region)]
        for place, region in enumerate(regions)
        if region is not model
    }
    merged = {place for place, own in on.items() if len(own) > 1}
    known = {id(copy) for place, own in on.items() if place not in merged for copy in own}
    new = [copy for copy in copies if id(copy) not in known]
    return [*(each for place, each in enumerate(regions) if place not in merged), *new]


def _share_pixels(one: Region, other: Region) -> bool:
    shared = int((one.pixels & other.pixels).sum())
    return shared > SAME_PLACE * min(int(one.pixels.sum()), int(other.pixels.sum()))


def _copies(model: Region, image: RgbImage, settings: InstanceSettings) -> list[Region]:
    """Return the places elsewhere in the picture that look like an instance."""
    from scipy import ndimage

    step = -(-max(image.shape[:2]) // settings.picture_side)
    lab, pixels = lab_of(image[::step, ::step] / 255), model.pixels[::step, ::step]
    if not pixels.any():
        return []
    smooth = ndimage.gaussian_filter(lab, (settings.blur, settings.blur, 0))
    edges = edges_of(lab, settings)
    copies = []
    for row, column in SelfSimilarity(smooth, pixels, settings).copies():
        copy = shifted(pixels, row, column)
        outline = copy & ~ndimage.binary_erosion(copy)
        is_whole = copy.sum() == pixels.sum()
        if is_whole and (outline & edges).sum() >= settings.least_outline * outline.sum():
            (whole,) = _enlarged([copy], np.ones_like(model.pixels), (0, 0), step)
            copies.append(Region(pixels=whole, score=model.score, has_mask=True))
    return copies


def separated(
    region: Region,
    image: RgbImage,
    settings: InstanceSettings = DEFAULT,
    *,
    is_large: bool = False,
) -> list[Region]:
    """Separate the touching duplicates of a region; the region itself if there are none.

    Args:
        region: The mask of a detection.
        image: (H, W, 3) uint8.
        settings: Thresholds.
        is_large: Whether it is so much larger than another instance that it is probably several.

    Returns:
        Regions of (H, W); a region that may be several objects has ``most`` above 1.
    """
    if not region.has_mask:
        return [region]
    top, left, bottom, right = mask_bounds(region.pixels)
    step = -(-max(bottom - top, right - left) // settings.side)
    border = round(settings.border * max(bottom - top, right - left))
    top, left = max(top - border, 0), max(left - border, 0)
    window = slice(top, bottom + border, step), slice(left, right + border, step)
    pixels = region.pixels[window]
    parts, certainty = duplicates_in(lab_of(image[window] / 255), pixels, settings)
    certainty += settings.size_bonus * is_large
    if len(parts) < 2 or certainty < settings.unsure:  # noqa: PLR2004 - one part is the region
        return [region]
    is_small = min(int(part.sum()) for part in parts) < settings.least_pixels
    if is_small or certainty < settings.separated:
        return [Region(pixels=region.pixels, score=region.score, has_mask=True, most=len(parts))]
    return [
        Region(pixels=part, score=region.score, has_mask=True)
        for part in _enlarged(parts, region.pixels, (top, left), step)
    ]


def _enlarged(
    parts: Sequence[BoolMask], pixels: BoolMask, corner: tuple[int, int], step: int
) -> Iterator[BoolMask]:
    """Yield parts of a reduced window as (H, W) masks, subsets of the region."""
    top, left = corner
    for part in parts:
        large = part.repeat(step, 0).repeat(step, 1)
        whole = np.zeros_like(pixels)
        rows, columns = whole[top : top + len(large), left : left + large.shape[1]].shape
        whole[top : top + rows, left : left + columns] = large[:rows, :columns]
        if (whole & pixels).any():
            yield whole & pixels
