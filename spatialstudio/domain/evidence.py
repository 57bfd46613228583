"""What lies behind a verdict, as values that any face can draw. Made by ``evidence_of``."""

from enum import Enum

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.arrays import freeze
from spatialstudio.domain.assertion import AssertionScore
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.perception import (
    Box,
    Mask,
    Perturbation,
)
from spatialstudio.domain.prompt import MentionId
from spatialstudio.domain.relation import Axis, RelationId
from spatialstudio.domain.verdict import Outcome


class Role(Enum):
    """What part a box played."""

    CHOSEN = "chosen"
    """Judged by."""
    RIVAL = "rival"
    """Nearly as sure as the chosen."""
    PASSED_OVER = "passed over"
    """Sure enough, but far behind the surest, or a duplicate."""
    TOO_UNSURE = "too unsure"
    """Below the thresholds."""
    SECOND_OPINION = "second opinion"
    """Chosen from a second detector."""


class UncheckedKind(Enum):
    """What a prompt asks for beyond the relation."""

    COUNT = "count"
    COLOUR = "colour"
    ATTRIBUTE = "attribute"


@frozen
class Unchecked:
    """Something that the prompt asks for and no verdict tests.

    Attributes:
        mention_id: Of which thing.
        kind: What.
        words: As the prompt says it: "three", "blue".
    """

    mention_id: MentionId
    kind: UncheckedKind
    words: str


@frozen
class EvidenceBox:
    """A detection and its part in the verdict.

    Attributes:
        mention_id: The mention it was asked for.
        box: Pixels.
        score: [0, 1].
        role: Its part.
        label: What the detector calls it.
    """

    mention_id: MentionId
    box: Box
    score: float
    role: Role
    label: str


@frozen
class MarginBand:
    """Where along an axis the subject's centre decides nothing.

    Attributes:
        axis: X or Y.
        start: Pixels.
        stop: Pixels.
        wanted_before: Whether the centre was asked to lie before the band, else behind it.
    """

    axis: Axis
    start: float
    stop: float
    wanted_before: bool


@frozen
class GapLine:
    """The shortest way between two boxes, which near and far are told by.

    Attributes:
        start_xy: On the edge of the subject's box, pixels.
        stop_xy: On the edge of the object's box, pixels.
        near: Length up to which they are near, pixels.
        far: Length from which they are far, pixels.
    """

    start_xy: tuple[float, float]
    stop_xy: tuple[float, float]
    near: float
    far: float


@frozen(eq=False)
class Profile:
    """A mask projected on one axis, as PoS reads it.

    Attributes:
        mention_id: Whose mask.
        axis: X, Y, or DEPTH.
        weights: (bins,) float64, sums to 1; a bin is a pixel of the axis, or a slice of depth.
    """

    mention_id: MentionId
    axis: Axis
    weights: npt.NDArray[np.float64]

    def __post_init__(self) -> None:
        freeze(self.weights)


@frozen
class PerturbedAnswer:
    """What was said of the slightly changed picture.

    Attributes:
        perturbation: The change.
        outcome: What the boxes alone said; None where an object was not found.
        boxes: The ends' boxes; empty where an object was not found.
        crop: What to show of the changed picture.
    """

    perturbation: Perturbation
    outcome: Outcome | None
    boxes: tuple[Box, ...]
    crop: Box


@frozen(eq=False)
class Evidence:
    """All that lies behind one verdict.

    Attributes:
        relation_id: The relation judged.
        sentence: Why, with its numbers.
        boxes: Every detection of the ends, the second detector's chosen ones last.
        masks: The instances' masks that count.
        bands: One for each axis of the picture plane that is compared; two for "between", one
            around each flank.
        gap: Near and far only; None when a box is missing.
        pos_band: Where PoS along depth decides nothing, [0, 1]; None for relations of the plane.
        intersection: What the chosen boxes share; None when they are apart or one is missing.
        profiles: The ends' masks along the axes compared.
        depth_edges: Bounds of the slices of depth, nearest first; empty without depth.
        perturbed: The answers after small changes.
        crop: What to show of the picture: around the chosen boxes; None when nothing was chosen.
        assertions: The answers to what the prompt asserts of the relation and its ends.
        not_checked: What the prompt asks of the ends and the verdict leaves out.
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
