"""What the models perceive in an image, and the verdicts of the checker with its settings."""

from collections.abc import Iterable
from dataclasses import field
from enum import Enum

import numpy as np

from spatialstudio.domain.arrays import (
    BoolMask,
    FloatMap,
    freeze,
    mask_bounds,
)
from spatialstudio.domain.assertion import DaScore
from spatialstudio.domain.frozen import SPARSE, frozen
from spatialstudio.domain.judge_choice import UsedJudgeSet
from spatialstudio.domain.requirements import RequirementKind
from spatialstudio.domain.scene import MentionId, RelationId


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


def box_around(pixels: BoolMask) -> Box:
    """Return the bounding box of a mask that is not empty."""
    top, left, bottom, right = mask_bounds(pixels)
    return Box(left=float(left), top=float(top), right=float(right), bottom=float(bottom))


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


class Outcome(Enum):
    """The checker's answer on one relation."""

    PASS = "PASS"
    FAIL = "FAIL"
    UNDECIDABLE = "UNDECIDABLE"


def joint_outcome(outcomes: Iterable[Outcome]) -> Outcome | None:
    """Combine outcomes: FAIL if any fails, else UNDECIDABLE if any is; None for no outcomes."""
    found = set(outcomes)
    order = (Outcome.FAIL, Outcome.UNDECIDABLE, Outcome.PASS)
    return next((outcome for outcome in order if outcome in found), None)


class AbstentionReason(Enum):
    """Reasons for which the checker abstains."""

    MISSING_OBJECT = "missing"
    AMBIGUOUS_OBJECT = "ambiguous"
    NEAR_BOUNDARY = "near_boundary"
    HIGH_OVERLAP = "high_overlap"
    UNSTABLE = "unstable"
    DETECTORS_DISAGREE = "detectors_disagree"
    NO_DEPTH = "no_depth"
    LOW_CONFIDENCE = "low_confidence"


@frozen
class Measurement:
    """The numbers behind a verdict.

    Attributes:
        delta: Signed offset of subject from object along the axis, as a fraction of the image side
            or of the depth range, [-1, 1]; negative is left, above or in front. None where the
            relation has no single axis.
        margin: Half width of the undecidable band, [0, 1].
        overlap: IoU of the two boxes, [0, 1].
        pos: Projected PoS of the relation on the masks, [0, 1], ties half; None without both masks.
        pse: max(0, 2 PoS - 1), [0, 1]; 0 without both masks.
        gap: Distance between the nearest edges of the boxes, as a fraction of the image diagonal;
            near and far only.
    """

    delta: float | None
    margin: float
    overlap: float
    pos: float | None
    pse: float
    gap: float | None = None


@frozen
class ConfidenceComponents:
    """The components of the confidence, each in [0, 1]."""

    detection: float
    geometry: float
    stability: float
    agreement: float


@frozen
class Verdict:
    """The checker's answer on one relation. Created only by ``science.checker.decide``.

    Attributes:
        relation_id: The checked relation.
        outcome: PASS, FAIL or UNDECIDABLE.
        confidence: Confidence in the outcome, [0, 1].
        components: The components of the confidence.
        measurement: None when nothing could be measured.
        reason: Set exactly when undecidable.
        about: The mentions that the reason concerns.
    """

    relation_id: RelationId
    outcome: Outcome
    confidence: float
    components: ConfidenceComponents
    measurement: Measurement | None = None
    reason: AbstentionReason | None = None
    about: tuple[MentionId, ...] = ()

    def __post_init__(self) -> None:
        if (self.reason is not None) != (self.outcome is Outcome.UNDECIDABLE):
            raise ValueError("A verdict has a reason exactly when it is undecidable.")


@frozen
class ColourShare:
    """The share of an object's pixels, [0, 1], that have a basic colour term."""

    term: str
    share: float


@frozen
class Instance:
    """One instance of a mention, double detections merged and touching duplicates separated.

    Attributes:
        mention_id: The mention that was searched for.
        box: Bounding box, pixels.
        score: Score of its detection, [0, 1].
        area: Share of the picture that its box covers, [0, 1].
        most: Most objects that it may be; more than 1 where a separation is unsure.
        colours: Its basic colour terms, largest share first; empty without a mask.
        rgb: Its typical colour, sRGB in [0, 255]; None without a mask.
    """

    mention_id: MentionId
    box: Box
    score: float
    area: float
    most: int = field(default=1, metadata=SPARSE)
    colours: tuple[ColourShare, ...] = field(default=(), metadata=SPARSE)
    rgb: tuple[int, int, int] | None = None


class MentionDoubt(Enum):
    """Reasons for which the checker abstains on a count or a colour."""

    MISSING_OBJECT = "missing"
    UNSEPARATED = "unseparated"
    """Touching instances may be one object or several."""
    TOO_MANY = "too_many"
    """More instances are required than a detector tells apart."""
    INDISTINCT = "indistinct"
    """The prompt names the same kind of object several times without telling them apart."""
    NO_MASK = "no_mask"
    MULTICOLOURED = "multicoloured"
    CLOSE_COLOURS = "close_colours"


@frozen
class MentionVerdict:
    """The checker's answer on a count or a colour. Created by ``science.checker.decide_mentions``.

    Attributes:
        mention_id: The checked mention.
        kind: COUNT or COLOUR.
        words: The requirement as written: "three", "dark blue".
        outcome: PASS, FAIL or UNDECIDABLE.
        confidence: Confidence in the outcome, [0, 1].
        count: Number of instances found; of a colour that passes, of those that have it.
        instances: The same instances.
        doubt: Set exactly when undecidable.
    """

    mention_id: MentionId
    kind: RequirementKind
    words: str
    outcome: Outcome
    confidence: float
    count: int
    instances: tuple[Instance, ...] = ()
    doubt: MentionDoubt | None = None

    def __post_init__(self) -> None:
        if (self.doubt is not None) != (self.outcome is Outcome.UNDECIDABLE):
            raise ValueError("A verdict has a doubt exactly when it is undecidable.")

    @property
    def id(self) -> str:
        """Unique in its evaluation, as "m1.count" or "m1.colour.dark blue"."""
        is_count = self.kind is RequirementKind.COUNT
        return f"{self.mention_id}.{self.kind.value}{'' if is_count else f'.{self.words}'}"


class StabilityMeasure(Enum):
    """How stability under small image changes is measured."""

    MIXED = "mixed"
    """Half the fraction of equal answers, half the IoU of the boxes: as published."""
    ANSWERS = "answers"
    """The fraction of equal answers."""


PUBLISHED_PERTURBATIONS = (
    Perturbation(kind=PerturbationKind.BRIGHTNESS, amount=1.1),
    Perturbation(kind=PerturbationKind.BRIGHTNESS, amount=0.9),
    Perturbation(kind=PerturbationKind.GAUSSIAN_BLUR, amount=1.0),
    Perturbation(kind=PerturbationKind.RESIZE, amount=0.9),
)


@frozen
class CheckerSettings:
    """All thresholds, weights and options of the checker (SpatialBench-UC, calibrated values).

    Attributes:
        preset: Name of the settings in results.
        margin: Half width of the undecidable band, fraction of the image side, [0, 1].
        detection_score: Minimum score of a detection, [0, 1].
        min_area_fraction: Minimum area of a detection, fraction of the image, [0, 1].
        ambiguity_delta: Instances whose scores differ by less than this are ambiguous, [0, 1].
        max_overlap_iou: Maximum IoU of the boxes for left and right, [0, 1].
        min_stability: Minimum stability of a decision, [0, 1].
        min_agreement: Minimum agreement of a second detector, [0, 1].
        geometry_slope: |delta| beyond the margin at which the geometry component is 1, (0, 1].
        weights: Exponents of detection, geometry, stability, agreement.
        near_distance: Maximum gap between near boxes, fraction of the diagonal.
        far_distance: Minimum gap between far boxes, fraction of the diagonal.
        between_margin: Half width of the undecidable band of "between", fraction of the side,
            [0, 1].
        depth_margin: Half width of the undecidable band of depth PoS around one half, [0, 0.5].
        merges_duplicates: Whether boxes inside a higher-scoring box of the same mention, and small
            boxes, are dropped before instances are counted.
        duplicate_containment: Fraction of the smaller box that must lie in the other, [0, 1].
        decides_agreeing_instances: Whether ambiguity is ignored where all instances agree.
        overlap_bars_vertical: Whether overlapping boxes are undecidable for above and below too.
        stability_measure: How stability is measured.
        perturbations: The small image changes; empty when stability is not tested.
        min_confidence: Minimum confidence of a decision, [0, 1]; see ``audit calibrate``.
    """

    preset: str = "reproduce"
    margin: float = 0.10
    detection_score: float = 0.2
    min_area_fraction: float = 0.005
    ambiguity_delta: float = 0.1
    max_overlap_iou: float = 0.5
    min_stability: float = 0.5
    min_agreement: float = 0.0
    geometry_slope: float = 0.15
    weights: tuple[float, float, float, float] = (0.4, 0.3, 0.2, 0.1)
    near_distance: float = 0.10
    far_distance: float = 0.30
    between_margin: float = 0.10
    depth_margin: float = 0.10
    merges_duplicates: bool = False
    duplicate_containment: float = 0.8
    decides_agreeing_instances: bool = False
    overlap_bars_vertical: bool = False
    stability_measure: StabilityMeasure = StabilityMeasure.MIXED
    perturbations: tuple[Perturbation, ...] = PUBLISHED_PERTURBATIONS
    min_confidence: float = field(default=0.0, metadata=SPARSE)


REPRODUCE = CheckerSettings()
"""SpatialBench-UC as published, after its calibration."""

RECOMMENDED = CheckerSettings(
    preset="recommended",
    min_stability=0.75,
    min_agreement=0.25,
    depth_margin=0.25,
    merges_duplicates=True,
    decides_agreeing_instances=True,
    stability_measure=StabilityMeasure.ANSWERS,
)
"""SpatialBench-UC with its known faults corrected."""

CHECKER_PRESETS = {settings.preset: settings for settings in (REPRODUCE, RECOMMENDED)}


@frozen
class Adjustment:
    """Changes to the checker's settings and choices by the user.

    Attributes:
        checker: The checker settings.
        choices: Detections to use instead of those with the best score, at most one per mention.
    """

    checker: CheckerSettings
    choices: tuple[Detection, ...] = ()


@frozen
class AdjustedVerdict:
    """The verdict after an adjustment; stored in addition to the checker's original verdict.

    Attributes:
        verdict: Verdict on the adjusted relation.
        adjustment: The user's changes.
    """

    verdict: Verdict
    adjustment: Adjustment


@frozen(eq=False)
class Evaluation:
    """The evaluation of an image.

    Attributes:
        perception: The perception; its ``image_sha256`` identifies the image.
        verdicts: One per relation, in the scene's order.
        checker: The checker settings.
        seconds: Time taken.
        looks: Further perceptions of the image, required for re-evaluation.
        da_score: Decompositional alignment with the prompt; None when not computed.
        adjusted: Verdicts adjusted by the user, at most one per relation.
        judge_set: Models of the perception; None in records without it.
        instances: Of the mentions with a required count or colour.
        mention_verdicts: One per required count and colour, in the order of the mentions; empty in
            records of versions that did not judge them.
        quality: How surely a held-out classifier recognises the detected objects, [0, 1]; None
            without a score.
    """

    perception: Perception
    verdicts: tuple[Verdict, ...]
    checker: CheckerSettings = field(default_factory=CheckerSettings)
    seconds: float = 0.0
    looks: Looks = field(default_factory=Looks)
    da_score: DaScore | None = None
    adjusted: tuple[AdjustedVerdict, ...] = ()
    judge_set: UsedJudgeSet | None = None
    instances: tuple[Instance, ...] = field(default=(), metadata=SPARSE)
    mention_verdicts: tuple[MentionVerdict, ...] = field(default=(), metadata=SPARSE)
    quality: float | None = field(default=None, metadata=SPARSE)

    @property
    def outcome(self) -> Outcome | None:
        """FAIL if a relation, count or colour fails, else UNDECIDABLE if one is, else PASS."""
        return joint_outcome(self.outcomes)

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Outcomes of the relations, then of counts and colours."""
        relations = (verdict.outcome for verdict in self.verdicts)
        return (*relations, *(verdict.outcome for verdict in self.mention_verdicts))
