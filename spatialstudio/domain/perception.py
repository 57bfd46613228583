"""What detectors, segmenter and depth model saw in a picture."""

from enum import Enum

import numpy as np

from spatialstudio.domain.arrays import (
    BoolMask,
    FloatMap,
    freeze,
)
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.prompt import MentionId


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
        """The middle, x before y, in pixels."""
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2


@frozen
class Detection:
    """One instance that a detector found.

    Attributes:
        mention_id: The mention it was asked for.
        label: What the detector called it.
        score: [0, 1].
        box: Where.
        detector_id: Who found it.
    """

    mention_id: MentionId
    label: str
    score: float
    box: Box
    detector_id: str


@frozen(eq=False)
class Mask:
    """The pixels of one instance.

    Attributes:
        mention_id: The mention it was asked for.
        pixels: (H, W) bool.
        score: [0, 1].
        source_id: Who drew it.
    """

    mention_id: MentionId
    pixels: BoolMask
    score: float
    source_id: str

    def __post_init__(self) -> None:
        freeze(self.pixels)


@frozen(eq=False)
class DepthMap:
    """How far away each pixel is.

    Attributes:
        values: (H, W) float32, relative; larger is farther.
        estimator_id: Who estimated it.
    """

    values: FloatMap
    estimator_id: str

    def __post_init__(self) -> None:
        freeze(self.values)

    @property
    def nearness(self) -> FloatMap:
        """How near each pixel is: (H, W) float32, [0, 1], 1 is nearest; 0 where all is level."""
        farthest, nearest = self.values.max(), self.values.min()
        depth = max(farthest - nearest, np.finfo(np.float32).tiny)
        nearness: FloatMap = (farthest - self.values) / depth
        return nearness


@frozen(eq=False)
class Perception:
    """All that was seen in one picture, candidates that do not count included.

    Attributes:
        image_sha256: Hash of the (H, W, 3) bytes.
        height: Of the picture, pixels.
        width: Likewise.
        detections: Best first for each mention.
        masks: One for each instance that was segmented; where all were, in the detections' order.
        depth: None when no estimator ran.
        missing_classes: Heads that the detector does not know; it cannot say that they are absent.
        cut: Score from which detections and masks count, [0, 1]; it can be moved, as those below
            are kept.
        detector_id: Of the detector that looked; empty in records that do not say.
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
        """Return the masks of one mention that count, best first."""
        own = [m for m in self.masks if m.mention_id == mention_id and m.score >= self.cut]
        return tuple(sorted(own, key=lambda mask: -mask.score))

    def detections_of(self, mention_id: MentionId) -> tuple[Detection, ...]:
        """Return the detections of one mention that count, best first."""
        own = [d for d in self.detections if d.mention_id == mention_id and d.score >= self.cut]
        return tuple(sorted(own, key=lambda found: -found.score))

    def detections_above(self, mention_id: MentionId, score: float) -> tuple[Detection, ...]:
        """Return the detections of one mention above a score, best first, whatever the cut."""
        own = [d for d in self.detections if d.mention_id == mention_id and d.score > score]
        return tuple(sorted(own, key=lambda found: -found.score))

    def boxes_above(self, mention_id: MentionId, score: float) -> tuple[Box, ...]:
        """Return the boxes of these detections."""
        return tuple(found.box for found in self.detections_above(mention_id, score))


class PerturbationKind(Enum):
    """How a picture is changed a little."""

    BRIGHTNESS = "brightness"
    """Amount: factor of all colours."""
    GAUSSIAN_BLUR = "gaussian_blur"
    """Amount: radius in pixels."""
    RESIZE = "resize"
    """Amount: scale; shrunk, then brought back to its size."""


@frozen
class Perturbation:
    """A small change of a picture that should change no answer.

    Attributes:
        kind: What is changed.
        amount: By how much; the unit is that of the kind.
    """

    kind: PerturbationKind
    amount: float


@frozen(eq=False)
class Looks:
    """What was seen of a picture beyond the first look.

    Attributes:
        perturbed: What the same detector saw after each of the checker's perturbations, in order;
            None where it failed. Empty when stability was not tested.
        second: What a second detector saw; None when there is none.
        stability: Recorded by an earlier run, [0, 1]; stands in for ``perturbed``.
    """

    perturbed: tuple[Perception | None, ...] = ()
    second: Perception | None = None
    stability: float | None = None
