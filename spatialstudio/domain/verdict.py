"""The checker's answers, the numbers behind them, and its settings."""

from collections.abc import Iterable
from dataclasses import field
from enum import Enum

from spatialstudio.domain.assertion import DaScore
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.perception import (
    Detection,
    Looks,
    Perception,
    Perturbation,
    PerturbationKind,
)
from spatialstudio.domain.prompt import MentionId
from spatialstudio.domain.relation import RelationId


class Outcome(Enum):
    """The checker's answer on one relation."""

    PASS = "PASS"
    FAIL = "FAIL"
    UNDECIDABLE = "UNDECIDABLE"


def joint_outcome(outcomes: Iterable[Outcome]) -> Outcome | None:
    """Return what came of all together: FAIL when one failed, else UNDECIDABLE; None for none."""
    found = set(outcomes)
    order = (Outcome.FAIL, Outcome.UNDECIDABLE, Outcome.PASS)
    return next((outcome for outcome in order if outcome in found), None)


class AbstentionReason(Enum):
    """Why the checker declines to decide."""

    MISSING_OBJECT = "missing"
    AMBIGUOUS_OBJECT = "ambiguous"
    NEAR_BOUNDARY = "near_boundary"
    HIGH_OVERLAP = "high_overlap"
    UNSTABLE = "unstable"
    DETECTORS_DISAGREE = "detectors_disagree"
    NO_DEPTH = "no_depth"


@frozen
class Measurement:
    """The numbers behind a verdict.

    Attributes:
        delta: Signed offset of subject from object along the axis, share of the image side,
            [-1, 1]; negative is left, above or in front. Depth: of the depth range. None where the
            relation has no single axis.
        margin: Half width of the undecidable band, [0, 1].
        overlap: IoU of the two boxes, [0, 1].
        pos: Projected PoS of the claim on the masks, [0, 1], ties half; None without both masks.
        pse: max(0, 2 PoS - 1), [0, 1]; 0 without both masks.
        gap: Between the nearest edges of the boxes, share of the picture's diagonal; near and far
            only.
    """

    delta: float | None
    margin: float
    overlap: float
    pos: float | None
    pse: float
    gap: float | None = None


@frozen
class ConfidenceComponents:
    """What confidence is made of, each in [0, 1]."""

    detection: float
    geometry: float
    stability: float
    agreement: float


@frozen
class Verdict:
    """The checker's answer on one relation. Made by ``science.checker.decide`` only.

    Attributes:
        relation_id: The relation judged.
        outcome: PASS, FAIL or UNDECIDABLE.
        confidence: In the answer given, [0, 1].
        components: What the confidence is made of.
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


class StabilityMeasure(Enum):
    """What counts as surviving a small change of the picture."""

    MIXED = "mixed"
    """Half the share of equal answers, half the IoU of the boxes: as published."""
    ANSWERS = "answers"
    """The share of equal answers alone."""


PUBLISHED_PERTURBATIONS = (
    Perturbation(kind=PerturbationKind.BRIGHTNESS, amount=1.1),
    Perturbation(kind=PerturbationKind.BRIGHTNESS, amount=0.9),
    Perturbation(kind=PerturbationKind.GAUSSIAN_BLUR, amount=1.0),
    Perturbation(kind=PerturbationKind.RESIZE, amount=0.9),
)


@frozen
class CheckerSettings:
    """Every threshold, weight and choice of the checker (SpatialBench-UC, calibrated values).

    Attributes:
        preset: What the settings are called in results.
        margin: Half width of the undecidable band, share of the image side, [0, 1].
        detection_score: Least score of a detection, [0, 1].
        min_area_fraction: Least area of a detection, share of the picture, [0, 1].
        ambiguity_delta: Two instances nearer in score than this are ambiguous, [0, 1].
        max_overlap_iou: Largest IoU of left and right boxes, [0, 1].
        min_stability: Least stability of a decision, [0, 1].
        min_agreement: Least agreement of a second detector, [0, 1].
        geometry_slope: |delta| beyond the margin at which geometry is sure, (0, 1].
        weights: Exponents of detection, geometry, stability, agreement.
        near_distance: Gap of the boxes, share of the diagonal, up to which they are near.
        far_distance: Gap from which they are far.
        between_margin: Half width of the undecidable band of "between", share of the side, [0, 1].
        depth_margin: Half width of the undecidable band of depth PoS around one half, [0, 0.5].
        merges_duplicates: Whether a box that lies in a surer one of the same mention is dropped,
            and small boxes too, before instances are counted.
        duplicate_containment: Share of the smaller box that must lie in the other, [0, 1].
        decides_agreeing_instances: Whether ambiguity is ignored where all instances agree.
        overlap_bars_vertical: Whether overlapping boxes are undecidable above and below too.
        stability_measure: What survives a small change.
        perturbations: The small changes; empty when stability is not tested.
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
"""The same, its known faults mended."""

CHECKER_PRESETS = {settings.preset: settings for settings in (REPRODUCE, RECOMMENDED)}


@frozen
class Adjustment:
    """What a person would have the checker do otherwise.

    Attributes:
        checker: The settings to judge by.
        choices: Detections to judge by instead of the surest, at most one a mention.
    """

    checker: CheckerSettings
    choices: tuple[Detection, ...] = ()


@frozen
class AdjustedVerdict:
    """What came of an adjustment; kept beside the checker's own verdict, never in its place.

    Attributes:
        verdict: On the adjusted relation.
        adjustment: What was done otherwise.
    """

    verdict: Verdict
    adjustment: Adjustment


@frozen(eq=False)
class Evaluation:
    """A judged picture.

    Attributes:
        perception: What was seen; its ``image_sha256`` names the picture.
        verdicts: One for each relation, in the scene's order.
        checker: The settings used.
        seconds: Time taken.
        looks: What other looks at the picture saw; with them it can be judged again.
        da_score: How far the picture shows what the prompt asserts; None when not asked.
        adjusted: Verdicts that a person has adjusted, at most one a relation.
    """

    perception: Perception
    verdicts: tuple[Verdict, ...]
    checker: CheckerSettings = field(default_factory=CheckerSettings)
    seconds: float = 0.0
    looks: Looks = field(default_factory=Looks)
    da_score: DaScore | None = None
    adjusted: tuple[AdjustedVerdict, ...] = ()
