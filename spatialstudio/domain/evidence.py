"""The evidence for a verdict, independent of any user interface. Created by ``evidence_of``."""

from enum import Enum

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.arrays import freeze
from spatialstudio.domain.assertion import AssertionScore
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.requirements import RequirementKind
from spatialstudio.domain.scene import Axis, MentionId, RelationId
from spatialstudio.domain.verdict import (
    Box,
    Mask,
    Outcome,
    Perturbation,
)

SURE_POS, DOUBTFUL_POS = 0.75, 0.25
"""PoS from which attention maps show a relation, and up to which they contradict it."""


class Role(Enum):
    """The role of a box in a verdict."""

    CHOSEN = "chosen"
    """Used for the verdict."""
    RIVAL = "rival"
    """Score close to that of the chosen box."""
    PASSED_OVER = "not selected"
    """Above the thresholds, but far below the best score, or a duplicate."""
    TOO_UNSURE = "below threshold"
    """Below the thresholds."""
    SECOND_OPINION = "second detector"
    """Chosen from the second detector."""


@frozen
class Unchecked:
    """A requirement of the prompt that no verdict tests.

    Attributes:
        mention_id: The mention it applies to.
        kind: Kind of requirement.
        words: The words in the prompt: "three", "blue".
    """

    mention_id: MentionId
    kind: RequirementKind
    words: str


@frozen
class EvidenceBox:
    """A detection and its role in the verdict.

    Attributes:
        mention_id: The mention that was searched for.
        box: Pixels.
        score: [0, 1].
        role: Its role.
        label: Class name or phrase reported by the detector.
    """

    mention_id: MentionId
    box: Box
    score: float
    role: Role
    label: str


@frozen
class MarginBand:
    """The interval of the subject's centre along an axis in which the relation is undecidable.

    Attributes:
        axis: X or Y.
        start: Pixels.
        stop: Pixels.
        wanted_before: Whether the relation requires a centre before the band, else after it.
    """

    axis: Axis
    start: float
    stop: float
    wanted_before: bool


@frozen
class GapLine:
    """The shortest line between two boxes, whose length decides near and far.

    Attributes:
        start_xy: On the edge of the subject's box, pixels.
        stop_xy: On the edge of the object's box, pixels.
        near: Maximum length for near, pixels.
        far: Minimum length for far, pixels.
    """

    start_xy: tuple[float, float]
    stop_xy: tuple[float, float]
    near: float
    far: float


@frozen(eq=False)
class Profile:
    """The marginal distribution of a mask on one axis, the input of PoS.

    Attributes:
        mention_id: The mention of the mask.
        axis: X, Y, or DEPTH.
        weights: (bins,) float64, sums to 1; a bin is a pixel along the axis, or a depth slice.
    """

    mention_id: MentionId
    axis: Axis
    weights: npt.NDArray[np.float64]

    def __post_init__(self) -> None:
        freeze(self.weights)


@frozen
class PerturbedAnswer:
    """The outcome on a perturbed image.

    Attributes:
        perturbation: The perturbation.
        outcome: Outcome from the boxes alone; None where an object was not detected.
        boxes: Boxes of the relation's ends; empty where an object was not detected.
        crop: Region of the perturbed image to show.
    """

    perturbation: Perturbation
    outcome: Outcome | None
    boxes: tuple[Box, ...]
    crop: Box


@frozen(eq=False)
class Evidence:
    """The evidence for one verdict.

    Attributes:
        relation_id: The checked relation.
        sentence: The reason for the verdict, with its numbers.
        boxes: Every detection of the ends; detections chosen from the second detector come last.
        masks: Masks of the ends with a score of at least the cut.
        bands: One per compared axis of the image plane; two for "between", one around each flank.
        gap: Near and far only; None when a box is missing.
        pos_band: Undecidable interval of PoS along depth, [0, 1]; None for relations in the image
            plane.
        intersection: Intersection of the chosen boxes; None when it is empty or a box is missing.
        profiles: Marginals of the ends' masks along the compared axes.
        depth_edges: Edges of the depth slices, nearest first; empty without depth.
        perturbed: Outcomes on the perturbed images.
        crop: Region of the image around the chosen boxes; None when no box was chosen.
        assertions: Scores of the assertions about the relation and its ends.
        not_checked: Requirements on the ends that the verdict does not test.
    """

    relation_id: RelationId
    sentence: str
    boxes: tuple[EvidenceBox, ...]
    masks: tuple[Mask, ...]
    bands: tuple[MarginBand, ...]
    gap: GapLine | None
    pos_band: tuple[float, float] | None
    intersection: Box | None
    profiles: tuple[Profile, ...]
    depth_edges: tuple[float, ...]
    perturbed: tuple[PerturbedAnswer, ...]
    crop: Box | None
    assertions: tuple[AssertionScore, ...]
    not_checked: tuple[Unchecked, ...] = ()
