"""Instances of an object: double detections merged, touching duplicates separated, colours.

Double detections are merged by non-maximum suppression over masks. A detection that only encloses
several others, as of a flock, is dropped.

A region of touching or overlapping duplicates is separated by self-similarity, which needs neither
classes nor sizes: shifted by the offset of two duplicates, the region's pixels fall on equal ones.
These pixels are a template, whose occurrences in the region are the instances, if they cover it,
and if their outlines lie on the region's outline or on edges of the picture. The method is ours.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.arrays import BoolMask, RgbImage
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.requirements import Requirements, requirements_of
from spatialstudio.domain.scene import MentionId, SceneGraph
from spatialstudio.domain.verdict import Box, ColourShare, Instance, Perception
from spatialstudio.science.arrays import FloatArray
from spatialstudio.science.colours import colour_shares, lab_of

ComplexArray: TypeAlias = npt.NDArray[np.complex128]
Transforms: TypeAlias = tuple[ComplexArray, ...]
T = TypeVar("T", bound=np.generic)


@frozen
class InstanceSettings:
    """Thresholds for instances.

    Attributes:
        most_detections: Detections per mention that are considered, best first.
        least_iou: IoU of masks above which two detections show the same instance, [0, 1].
        least_containment: Share of the smaller mask inside the other, likewise, [0, 1].
        group_cover: Share of a detection covered by separate others above which it is a group.
        border: Border of the picture around a region that is compared too, as a share of its
            longer side; masks of touching objects are often incomplete.
        side: Longer side to which a region is reduced before it is separated, pixels.
        blur: Standard deviation of the smoothing before pixels are compared, pixels.
        difference: Largest difference of equal pixels in CIELAB.
        least_template: Smallest template, as a share of the region.
        offsets: Offsets that are tried, the most similar first.
        least_inside: Share of a template's occurrence that must lie in the region.
        most_overlap: Share of a template that earlier occurrences may cover.
        edge: Gradient of CIELAB per pixel at an edge of the picture.
        double_size: Area over that of the smallest other instance from which a region is probably
            several objects.
        size_bonus: Certainty that this adds.
        least_part: Smallest part, as a share of the smallest other instance.
        picture_side: Longer side to which the picture is reduced to search for duplicates, pixels.
        least_outline: Share of the outline of a duplicate that must lie on edges of the picture.
        separated: Cover less the share of outlines without an edge, above which instances are
            separate.
        unsure: The same, above which the number of instances is unsure.
    """

    most_detections: int = 16
    least_iou: float = 0.5
    least_containment: float = 0.8
    group_cover: float = 0.6
    border: float = 0.15
    side: int = 128
    blur: float = 1.0
    difference: float = 14.0
    least_template: float = 0.15
    offsets: int = 8
    least_inside: float = 0.6
    most_overlap: float = 0.25
    edge: float = 8.0
    double_size: float = 1.5
    size_bonus: float = 0.15
    least_part: float = 0.7
    picture_side: int = 192
    least_outline: float = 0.7
    separated: float = 0.85
    unsure: float = 0.77


MOST_PARTS, MOST_PLACES = 8, 24
OUTLINE = 2.5
"""Distance from a region's outline, pixels, within which a part's outline lies on it."""
SAME_PLACE = 0.3
"""Share of the smaller region from which two regions are at the same place."""
MOST_COLOURS = 3
DEFAULT = InstanceSettings()


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
            Region(pixels=_filled(each.box, shape), score=each.score, has_mask=False)
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


def _filled(box: Box, shape: tuple[int, int]) -> BoolMask:
    pixels = np.zeros(shape, np.bool_)
    rows = slice(max(round(box.top), 0), round(box.bottom))
    columns = slice(max(round(box.left), 0), round(box.right))
    pixels[rows, columns] = True
    return pixels


def _instance(mention_id: MentionId, region: Region, image: RgbImage | None) -> Instance:
    top, left, bottom, right = _bounds(region.pixels)
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


def _bounds(pixels: BoolMask) -> tuple[int, int, int, int]:
    """Return the bounding box of a mask: top, left, bottom, right."""
    rows, columns = np.flatnonzero(pixels.any(1)), np.flatnonzero(pixels.any(0))
    return int(rows[0]), int(columns[0]), int(rows[-1]) + 1, int(columns[-1]) + 1


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
    return with_duplicates(found, image, settings)


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
    edges = _edges(lab, settings)
    copies = []
    for row, column in _SelfSimilarity(smooth, pixels, settings).copies():
        copy = _shifted(pixels, row, column)
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
    top, left, bottom, right = _bounds(region.pixels)
    step = -(-max(bottom - top, right - left) // settings.side)
    border = round(settings.border * max(bottom - top, right - left))
    top, left = max(top - border, 0), max(left - border, 0)
    window = slice(top, bottom + border, step), slice(left, right + border, step)
    pixels = region.pixels[window]
    parts, certainty = duplicates_in(lab_of(image[window] / 255), pixels, settings)
    certainty += settings.size_bonus * is_large
    if len(parts) < 2 or certainty < settings.unsure:  # noqa: PLR2004 - one part is the region
        return [region]
    if certainty < settings.separated:
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


def duplicates_in(
    lab: FloatArray, pixels: BoolMask, settings: InstanceSettings = DEFAULT
) -> tuple[list[BoolMask], float]:
    """Find the duplicates that a region consists of.

    Args:
        lab: (H, W, 3) CIELAB of the region and its surroundings.
        pixels: (H, W) bool, the region.
        settings: Thresholds.

    Returns:
        The (H, W) parts, and the certainty that they are separate instances, [0, 1].
    """
    from scipy import ndimage

    smooth = ndimage.gaussian_filter(lab, (settings.blur, settings.blur, 0))
    similarity = _SelfSimilarity(smooth, pixels, settings)
    edges = _edges(lab, settings)
    best: tuple[list[BoolMask], float] = [], 0.0
    for template in similarity.templates():
        parts = similarity.occurrences(template)
        if len(parts) > 1:
            certainty = _certainty(parts, pixels, edges)
            if certainty > best[1]:
                best = parts, certainty
    return best


def _edges(lab: FloatArray, settings: InstanceSettings) -> BoolMask:
    """Return the (H, W) pixels within one pixel of an edge of the picture."""
    from scipy import ndimage

    gradients = [ndimage.gaussian_gradient_magnitude(lab[..., n], 0.7) for n in range(3)]
    edges: BoolMask = ndimage.maximum_filter(np.linalg.norm(gradients, axis=0), 3) > settings.edge
    return edges


def _certainty(parts: Sequence[BoolMask], pixels: BoolMask, edges: BoolMask) -> float:
    """Return the share of a region that its parts cover, less that of outlines without an edge.

    Where two parts overlap, only the outline of the nearer one is visible: of the two outlines
    inside each other, the one with more edges counts.
    """
    from scipy import ndimage

    depth = ndimage.distance_transform_edt(np.pad(pixels, 1))[1:-1, 1:-1]
    outlines = [part & ~ndimage.binary_erosion(part) for part in parts]
    blank = [outline & (depth > OUTLINE) & ~edges for outline in outlines]
    near = [ndimage.binary_dilation(part, iterations=2) for part in parts]
    missing = 0
    for one, part in enumerate(blank):
        alone = part.copy()
        for other, reach in enumerate(near):
            if other != one:
                missing += min(int((part & reach).sum()), int((blank[other] & near[one]).sum()))
                alone &= ~reach
        missing += int(alone.sum())
    covered = np.logical_or.reduce(parts)
    length = sum(int(outline.sum()) for outline in outlines)
    return float((covered & pixels).sum() / pixels.sum()) - missing / length


class _SelfSimilarity:
    """Compares a region with itself at all offsets, by Fourier transform.

    Args:
        lab: (H, W, 3) CIELAB.
        pixels: (H, W) bool, the region.
        settings: Thresholds.
    """

    def __init__(self, lab: FloatArray, pixels: BoolMask, settings: InstanceSettings) -> None:
        from scipy.fft import next_fast_len  # type: ignore[import-untyped]

        self._lab = lab
        self._pixels = pixels
        self._settings = settings
        height, width = (next_fast_len(2 * length) for length in pixels.shape)
        self._size = height, width
        rows = np.fft.fftfreq(height, 1 / height).round().astype(np.int64)
        columns = np.fft.fftfreq(width, 1 / width).round().astype(np.int64)
        self._rows, self._columns = np.meshgrid(rows, columns, indexing="ij")
        self._own = self._transforms(pixels)
        self._picture = self._transforms(np.ones_like(pixels))

    def templates(self) -> Iterator[BoolMask]:
        """Yield the largest connected part that repeats at each of the most similar offsets."""
        from scipy import ndimage

        area = self._pixels.sum()
        shared, differences = self._compared(self._own, self._own)
        is_later = (self._rows > 0) | ((self._rows == 0) & (self._columns > 0))
        is_far = np.hypot(self._rows, self._columns) >= np.sqrt(area) / 4
        is_open = (shared >= self._settings.least_template * area) & is_later & is_far
        is_lowest = differences == ndimage.minimum_filter(differences, 5, mode="wrap")
        ranked = np.where(is_open & is_lowest, differences, np.inf)
        for place in np.argsort(ranked, axis=None)[: self._settings.offsets]:
            if not np.isfinite(ranked.flat[place]):
                return
            repeated = ndimage.binary_opening(self._repeated(int(place)))
            labels, count = ndimage.label(repeated)
            if count:
                template = labels == 1 + np.bincount(labels[labels > 0] - 1).argmax()
                if template.sum() >= self._settings.least_template * area:
                    yield template

    def occurrences(self, template: BoolMask) -> list[BoolMask]:
        """Return the places of the region that look like a template, with what they occlude.

        An object is in the region at every occurrence, visible or behind another one: it is the
        intersection of the region at all offsets.
        """
        from scipy import ndimage

        offsets = self._offsets(template)
        whole = np.logical_and.reduce(
            [_shifted(self._pixels, -row, -column) for row, column in offsets] or [template]
        )
        labels, _ = ndimage.label(ndimage.binary_opening(whole) | template)
        numbers = np.bincount(labels[template])
        thing = labels == numbers.argmax()
        parts = [_shifted(thing, row, column) for row, column in offsets]
        most_shared = self._settings.most_overlap * thing.sum()
        is_apart = all((one & two).sum() <= most_shared for one, two in combinations(parts, 2))
        return parts if is_apart else []

    def copies(self) -> list[tuple[int, int]]:
        """Return the offsets, other than 0, at which the picture looks like the region."""
        shared, differences = self._compared(self._own, self._picture)
        inside = shared / self._pixels.sum()
        offsets = self._best(self._pixels, inside, differences, self._settings.difference)
        return [offset for offset in offsets if offset != (0, 0)]

    def _offsets(self, template: BoolMask) -> list[tuple[int, int]]:
        """Return where a template occurs in the region, the best occurrence first."""
        own = self._transforms(template)
        inside = self._inverse(np.conj(own[0]) * self._own[0]) / template.sum()
        _, differences = self._compared(own, self._picture)
        return self._best(template, inside, differences, 1.3 * self._settings.difference)

    def _best(
        self, template: BoolMask, inside: FloatArray, differences: FloatArray, most: float
    ) -> list[tuple[int, int]]:
        """Return the best offsets at which a template nearly covers nothing twice."""
        from scipy import ndimage

        is_like = (inside >= self._settings.least_inside) & (np.sqrt(differences) < most)
        ranked = np.where(is_like, 100 * inside - np.sqrt(differences), -np.inf)
        is_best = is_like & (ranked == ndimage.maximum_filter(ranked, 5, mode="wrap"))
        places = np.flatnonzero(is_best)
        covered, offsets = np.zeros_like(template), list[tuple[int, int]]()
        for place in places[np.argsort(-ranked.flat[places])][:MOST_PLACES].tolist():
            row, column = int(self._rows.flat[place]), int(self._columns.flat[place])
            part = _shifted(template, row, column)
            if (part & covered).sum() <= self._settings.most_overlap * template.sum():
                offsets.append((row, column))
                covered |= part
        return offsets[:MOST_PARTS]

    def _repeated(self, place: int) -> BoolMask:
        """Return the pixels that are equal to those at an offset."""
        row, column = int(self._rows.flat[place]), int(self._columns.flat[place])
        later = _shifted(self._lab, -row, -column)
        is_equal = np.linalg.norm(self._lab - later, axis=-1) < self._settings.difference
        return self._pixels & _shifted(self._pixels, -row, -column) & is_equal

    def _transforms(self, pixels: BoolMask) -> Transforms:
        """Return the transforms of a mask, of its colours squared, and of its colours."""
        masked = self._lab * pixels[..., None]
        planes = (pixels.astype(np.float64), (masked**2).sum(-1), *np.moveaxis(masked, -1, 0))
        return tuple(np.fft.rfft2(plane, self._size) for plane in planes)

    def _compared(self, first: Transforms, second: Transforms) -> tuple[FloatArray, FloatArray]:
        """Return the shared pixels and the mean squared difference at every offset."""
        mask, squares, *colours = first
        other_mask, other_squares, *other_colours = second
        product = np.conj(squares) * other_mask + np.conj(mask) * other_squares
        for one, other in zip(colours, other_colours, strict=True):
            product -= 2 * np.conj(one) * other
        difference = self._inverse(product)
        shared = self._inverse(np.conj(mask) * other_mask)
        return shared, np.maximum(difference, 0) / np.maximum(shared, 1)

    def _inverse(self, product: ComplexArray) -> FloatArray:
        result: FloatArray = np.fft.irfft2(product, self._size)
        return result


def _shifted(values: npt.NDArray[T], row: int, column: int) -> npt.NDArray[T]:
    """Return an array moved by rows and columns, zero where nothing moves in."""
    moved = np.zeros_like(values)
    height, width = values.shape[:2]
    to_rows = slice(max(row, 0), height + min(row, 0))
    to_columns = slice(max(column, 0), width + min(column, 0))
    from_rows = slice(max(-row, 0), height + min(-row, 0))
    from_columns = slice(max(-column, 0), width + min(-column, 0))
    moved[to_rows, to_columns] = values[from_rows, from_columns]
    return moved
