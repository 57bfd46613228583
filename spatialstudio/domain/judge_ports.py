"""Models that look at pictures: where they are found, what they are asked, what is kept of it."""

from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Protocol, TypeAlias

from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.assertion import Assertions, QuestionAnswer
from spatialstudio.domain.errors import ModelNotFound
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import ModelRef
from spatialstudio.domain.perception import (
    DepthMap,
    Detection,
    Mask,
    Perception,
)
from spatialstudio.domain.ports import CancelToken
from spatialstudio.domain.prompt import ObjectMention
from spatialstudio.domain.relation import SceneGraph


class PerceptionRole(Enum):
    """What a model does for a perception; the values are kinds of adapters."""

    DETECTOR = "detector"
    SEGMENTER = "segmenter"
    DEPTH = "depth"


@frozen
class PerceptionCard:
    """What a model folder offers, read without loading weights.

    Attributes:
        ref: Its name, the hub's commit, and the hash of its weights where that costs nothing.
        role: What it does.
        architecture: Class name in its configuration.
        folder: Where its files are.
        size_bytes: Of the weights.
    """

    ref: ModelRef
    role: PerceptionRole
    architecture: str
    folder: Path
    size_bytes: int


@frozen(eq=False)
class Seen:
    """What a detector saw.

    Attributes:
        detections: Instances, candidates below the thresholds included.
        masks: Masks of the instances, in the same order; empty when it draws none.
        unknown_heads: Heads that it has no class for.
        cut: Score from which its makers count a detection, [0, 1].
    """

    detections: tuple[Detection, ...]
    masks: tuple[Mask, ...] = ()
    unknown_heads: tuple[str, ...] = ()
    cut: float = 0.0


class Detector(Protocol):
    """Finds named things in a picture."""

    id: str

    @property
    def signature(self) -> str:
        """All that its answers depend on beside the picture; empty when that is not known."""

    def detect(self, image: RgbImage, mentions: Sequence[ObjectMention]) -> Seen:
        """Find every mention's head.

        Args:
            image: (H, W, 3) uint8.
            mentions: What to look for; only their heads are asked.

        Raises:
            DetectorError: The model is damaged or missing.
        """


class DepthEstimator(Protocol):
    """Says how far away each pixel is."""

    id: str

    @property
    def signature(self) -> str:
        """All that its answers depend on beside the picture; empty when that is not known."""

    def estimate(self, image: RgbImage) -> DepthMap:
        """Estimate relative depth, larger is farther.

        Raises:
            DetectorError: The model is damaged or missing.
        """


class Segmenter(Protocol):
    """Draws the masks of what a detector found."""

    id: str

    @property
    def signature(self) -> str:
        """All that its answers depend on beside the picture; empty when that is not known."""

    def segment(self, image: RgbImage, detections: Sequence[Detection]) -> tuple[Mask, ...]:
        """Draw the mask of every detection that has one; the score is the detection's.

        Args:
            image: (H, W, 3) uint8; looked at once, however many detections there are.
            detections: Whose boxes are segmented.

        Raises:
            DetectorError: The model is damaged or missing.
        """


Perceiver: TypeAlias = Detector | Segmenter | DepthEstimator


class PerceptionCatalog(Protocol):
    """Finds models that look at pictures, and makes them."""

    def cards(self) -> tuple[PerceptionCard, ...]:
        """List what is there; damaged folders are left out."""

    def damaged(self) -> Mapping[str, ModelNotFound]:
        """Say by name what is wrong with the models that are left out."""

    def ref(self, model_id: str, role: PerceptionRole) -> ModelRef:
        """Name a model exactly, by revision and the hash of its weights; arguments as for ``make``.

        Raises:
            ModelNotFound: There is no such model of this role, or it is damaged.
        """

    def make(self, model_id: str, role: PerceptionRole) -> Perceiver:
        """Make a model's adapter; the weights are loaded on its first use.

        Args:
            model_id: A name in the catalog, or the path of a model folder.
            role: What it shall do.

        Raises:
            ModelNotFound: There is no such model of this role, or it is damaged.
        """


class PerceptionStore(Protocol):
    """Remembers perceptions; it may forget any of them at any time."""

    def find(self, key: str) -> Perception | None:
        """Return what was kept under a key; None when there is nothing, or it is damaged."""

    def keep(self, key: str, perception: Perception) -> None:
        """Remember a perception; that it cannot be written is no failure."""


class AssertionReader(Protocol):
    """Takes a prompt apart into atomic statements, each with a question."""

    id: str

    def read(self, scene: SceneGraph, token: CancelToken) -> Assertions:
        """Take a prompt apart; what goes wrong becomes a note on the scene's own statements.

        Args:
            scene: The prompt, and what is known of it.
            token: Asked while it waits.

        Raises:
            Cancelled: The token was cancelled.
        """


class QuestionAnswerer(Protocol):
    """Answers questions about a picture with yes or no, and says how surely."""

    id: str

    def answer(
        self, image: RgbImage, questions: Sequence[str], token: CancelToken
    ) -> tuple[QuestionAnswer, ...]:
        """Answer each question; one that gets no answer says why.

        Args:
            image: (H, W, 3) uint8.
            questions: To be answered by yes or no.
            token: Asked before each question.

        Raises:
            DetectorError: The model is damaged or missing.
            Cancelled: The token was cancelled.
        """
