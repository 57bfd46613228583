"""Duplicates that touch or overlap in one region, found by self-similarity.

Shifted by the offset of two duplicates, the region's pixels fall on equal ones. These pixels are a
template, whose occurrences in the region are the duplicates, if they cover it, look alike, and if
their outlines lie on the region's outline or on edges of the picture. The method is ours.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.arrays import BoolMask, mask_bounds
from spatialstudio.domain.frozen import frozen
from spatialstudio.science.arrays import FloatArray

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
        most_unlike: Share of two occurrences that may differ, as where one hides the other.
        unlike_weight: Certainty that larger shares subtract, per share.
        edge: Gradient of CIELAB per pixel at an edge of the picture.
        double_size: Area over that of the smallest other instance from which a region is probably
            several objects.
        size_bonus: Certainty that this adds.
        merged_size: Size over that of another instance from which a region of another shape may be
            several objects, or the smaller one a part.
        same_shape: Largest ratio of the proportions of regions of the same shape, and of the shares
            of their boxes that they fill.
        near: Distance up to which two regions may be parts of one object, as a share of the longer
            side of the larger one.
        least_common: Share of their pixels of the same colour terms below which they may be.
        least_part: Smallest part, as a share of the smallest other instance.
        picture_side: Longer side to which the picture is reduced to search for duplicates, pixels.
        least_outline: Share of the outline of a duplicate that must lie on edges of the picture.
        least_pixels: Pixels of a duplicate below which too few are compared to be sure.
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
    most_unlike: float = 0.12
    unlike_weight: float = 0.7
    edge: float = 8.0
    double_size: float = 1.5
    size_bonus: float = 0.15
    merged_size: float = 1.5
    same_shape: float = 1.12
    near: float = 0.3
    least_common: float = 0.5
    least_part: float = 0.7
    picture_side: int = 192
    least_outline: float = 0.7
    least_pixels: int = 300
    separated: float = 0.84
    unsure: float = 0.72


MOST_PARTS, MOST_PLACES = 8, 24
LEVELS, LOBE_SIDE = 32, 128
"""Widths at which a neck is searched, and the longer side to which a region is reduced for it."""
OUTLINE = 2.5
"""Distance from a region's outline, pixels, within which a part's outline lies on it."""
DEFAULT = InstanceSettings()


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
    from scipy import ndimage  # type: ignore[import-untyped]

    smooth = ndimage.gaussian_filter(lab, (settings.blur, settings.blur, 0))
    similarity = SelfSimilarity(smooth, pixels, settings)
    edges = edges_of(lab, settings)
    best: tuple[list[BoolMask], float] = [], 0.0
    for template in similarity.templates():
        parts, unlike = similarity.occurrences(template)
        if len(parts) > 1:
            doubt = settings.unlike_weight * max(unlike - settings.most_unlike, 0)
            certainty = _certainty(parts, pixels, edges) - doubt
            if certainty > best[1]:
                best = parts, certainty
    return best


def second_lobe(pixels: BoolMask) -> float:
    """Return how plainly a region has a second lobe behind a neck, [0, 1].

    A lobe's width is its largest distance to the outline. The value is the width of the second lobe
    over that of the first, times the share by which the neck is narrower than the second lobe: 0
    for a disc, nearly 1 for two equal discs that touch. It needs no other instance, and no colour.

    Args:
        pixels: (H, W) bool, not empty.
    """
    from scipy import ndimage

    top, left, bottom, right = mask_bounds(pixels)
    step = -(-max(bottom - top, right - left) // LOBE_SIDE)
    reduced = np.pad(pixels[top:bottom:step, left:right:step], 1)
    distances = ndimage.distance_transform_edt(reduced)
    widest, found = float(distances.max()), 0.0
    for neck in np.linspace(0, widest, LEVELS, endpoint=False)[1:].tolist():
        labels, count = ndimage.label(distances > neck, np.ones((3, 3)))
        if count > 1:
            width = sorted(ndimage.maximum(distances, labels, range(1, count + 1)))[-2]
            found = max(found, (width - neck) / widest)
    return found


def edges_of(lab: FloatArray, settings: InstanceSettings) -> BoolMask:
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


class SelfSimilarity:
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

    def occurrences(self, template: BoolMask) -> tuple[list[BoolMask], float]:
        """Return the places of the region that look like a template, with what they occlude.

        An object is in the region at every occurrence, visible or behind another one: it is the
        intersection of the region at all offsets. Also returns the largest share of two of these
        places where their pixels differ: duplicates are alike, and halves of one object are not.
        """
        from scipy import ndimage

        offsets = self._offsets(template)
        whole = np.logical_and.reduce(
            [shifted(self._pixels, -row, -column) for row, column in offsets] or [template]
        )
        labels, _ = ndimage.label(ndimage.binary_opening(whole) | template)
        numbers = np.bincount(labels[template])
        thing = labels == numbers.argmax()
        parts = [shifted(thing, row, column) for row, column in offsets]
        most_shared = self._settings.most_overlap * thing.sum()
        is_apart = all((one & two).sum() <= most_shared for one, two in combinations(parts, 2))
        if not is_apart:
            return [], 1.0
        pairs = combinations(zip(parts, offsets, strict=True), 2)
        return parts, max((self._unlike(*one, *other) for one, other in pairs), default=1.0)

    def _unlike(
        self, part: BoolMask, place: tuple[int, int], other: BoolMask, there: tuple[int, int]
    ) -> float:
        """Return the share of two parts where their pixels differ."""
        row, column = there[0] - place[0], there[1] - place[1]
        shared = part & shifted(other, -row, -column)
        differences = np.linalg.norm(self._lab - shifted(self._lab, -row, -column), axis=-1)
        return float((differences[shared] >= self._settings.difference).mean())

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
            part = shifted(template, row, column)
            if (part & covered).sum() <= self._settings.most_overlap * template.sum():
                offsets.append((row, column))
                covered |= part
        return offsets[:MOST_PARTS]

    def _repeated(self, place: int) -> BoolMask:
        """Return the pixels that are equal to those at an offset."""
        row, column = int(self._rows.flat[place]), int(self._columns.flat[place])
        later = shifted(self._lab, -row, -column)
        is_equal = np.linalg.norm(self._lab - later, axis=-1) < self._settings.difference
        return self._pixels & shifted(self._pixels, -row, -column) & is_equal

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


def shifted(values: npt.NDArray[T], row: int, column: int) -> npt.NDArray[T]:
    """Return an array moved by rows and columns, zero where nothing moves in."""
    moved = np.zeros_like(values)
    height, width = values.shape[:2]
    to_rows = slice(max(row, 0), height + min(row, 0))
    to_columns = slice(max(column, 0), width + min(column, 0))
    from_rows = slice(max(-row, 0), height + min(-row, 0))
    from_columns = slice(max(-column, 0), width + min(-column, 0))
    moved[to_rows, to_columns] = values[from_rows, from_columns]
    return moved
