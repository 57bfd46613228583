"""Output of the detectors, segmenter and depth model for an image."""

from enum import Enum

import numpy as np

from spatialstudio.domain.arrays import (
    BoolMask,
    FloatMap,
    freeze,
)
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import MentionId


@frozen
class Box:
    """A rectangle in pixels, half-open, origin top left."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """Pixels along x, never negative."""
        return max(self.right - self.left, 0.0)

    @property
    def height(self) -> float:
        """Pixels along y, never negative."""
        return max(self.bottom - self.top, 0.0)

    @property
    def area(self) -> float:
        """Square pixels."""
        return self.width * self.height

    @property
    def center_xy(self) -> tuple[float, float]:
        """The center (x, y) in pixels."""
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2


@frozen
class Detection:
    """One instance found by a detector.

    Attributes:
        mention_id: The mention that was searched for.
        label: Class name or phrase reported by the detector.
        score: Detection score, [0, 1].
        box: Bounding box.
        detector_id: The detector that found it.
    """

    mention_id: MentionId
    label: str
    score: float
    box: Box
    detector_id: str


@frozen(eq=False)
class Mask:
    """The segmentation mask of one instance.

    Attributes:
        mention_id: The mention that was searched for.
        pixels: (H, W) bool.
        score: [0, 1].
        source_id: The model that produced it.
    """

    mention_id: MentionId
    pixels: BoolMask
    score: float
    source_id: str

    def __post_init__(self) -> None:
        freeze(self.pixels)


@frozen(eq=False)
class DepthMap:
    """Relative depth of each pixel.

    Attributes:
        values: (H, W) float32, relative; larger is farther.
        estimator_id: The depth model.
    """

    values: FloatMap
    estimator_id: str

    def __post_init__(self) -> None:
        freeze(self.values)

    @property
    def nearness(self) -> FloatMap:
        """Inverted depth, (H, W) float32, [0, 1]; 1 is nearest, all 0 if depth is constant."""
        farthest, nearest = self.values.max(), self.values.min()
        depth = max(farthest - nearest, np.finfo(np.float32).tiny)
        nearness: FloatMap = (farthest - self.values) / depth
        return nearness


@frozen(eq=False)
class Perception:
    """Detections, masks and depth of one image, candidates below the cut included.

    Attributes:
        image_sha256: Hash of the (H, W, 3) bytes.
        height: Image height in pixels.
        width: Image width in pixels.
        detections: Best first for each mention.
        masks: One per segmented instance; in the order of the detections if all were segmented.
        depth: None when no depth model ran.
        missing_classes: Heads outside the detector's classes; their absence cannot be concluded.
        cut: Score threshold for detections and masks, [0, 1]; candidates below it are stored, so
            it can be changed later.
        detector_id: The detector; empty in records without it.
    """

    image_sha256: str
    height: int
    width: int
    detections: tuple[Detection, ...]
    masks: tuple[Mask, ...]
    depth: DepthMap | None = None
    missing_classes: tuple[str, ...] = ()
    cut: float = 0.0
    detector_id: str = ""

    def masks_of(self, mention_id: MentionId) -> tuple[Mask, ...]:
        """Return the masks of one mention with a score of at least the cut, best first."""
        own = [m for m in self.masks if m.mention_id == mention_id and m.score >= self.cut]
        return tuple(sorted(own, key=lambda mask: -mask.score))

    def detections_of(self, mention_id: MentionId) -> tuple[Detection, ...]:
        """Return the detections of one mention with a score of at least the cut, best first."""
        own = [d for d in self.detections if d.mention_id == mention_id and d.score >= self.cut]
        return tuple(sorted(own, key=lambda found: -found.score))

    def detections_above(self, mention_id: MentionId, score: float) -> tuple[Detection, ...]:
        """Return the detections of one mention above a score, best first, ignoring the cut."""
        own = [d for d in self.detections if d.mention_id == mention_id and d.score > score]
        return tuple(sorted(own, key=lambda found: -found.score))

    def boxes_above(self, mention_id: MentionId, score: float) -> tuple[Box, ...]:
        """Return the boxes of ``detections_above``."""
        return tuple(found.box for found in self.detections_above(mention_id, score))


class PerturbationKind(Enum):
    """Kinds of small image changes."""

    BRIGHTNESS = "brightness"
    """Amount: factor applied to all channels."""
    GAUSSIAN_BLUR = "gaussian_blur"
    """Amount: radius in pixels."""
    RESIZE = "resize"
    """Amount: scale factor; the image is downsampled and resized back."""


@frozen
class Perturbation:
    """A small image change that should not change any verdict.

    Attributes:
        kind: The kind of change.
        amount: Its size, in the unit of the kind.
    """

    kind: PerturbationKind
    amount: float


@frozen(eq=False)
class Looks:
    """Perceptions of an image beyond the first one.

    Attributes:
        perturbed: Perceptions by the same detector after each of the checker's perturbations, in
            order; None where it failed. Empty when stability was not tested.
        second: Perception by a second detector; None when there is none.
        stability: Recorded by an earlier run, [0, 1]; used instead of ``perturbed``.
    """

    perturbed: tuple[Perception | None, ...] = ()
    second: Perception | None = None
    stability: float | None = None
