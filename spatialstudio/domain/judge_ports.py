"""Protocols of perception models and question answerers, and of their catalog and cache."""

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
    """The task of a perception model; the values are adapter kinds."""

    DETECTOR = "detector"
    SEGMENTER = "segmenter"
    DEPTH = "depth"


@frozen
class PerceptionCard:
    """Description of a perception model folder, read without loading weights.

    Attributes:
        ref: Its name, hub commit, and hash of its weights where that is already known.
        role: Its task.
        architecture: Class name in its configuration.
        folder: The model folder.
        size_bytes: Size of the weights.
    """

    ref: ModelRef
    role: PerceptionRole
    architecture: str
    folder: Path
    size_bytes: int


@frozen(eq=False)
class Seen:
    """The output of a detector.

    Attributes:
        detections: Instances, candidates below the thresholds included.
        masks: Masks of the instances, in the same order; empty if it predicts no masks.
        unknown_heads: Heads that match none of its classes.
        cut: Score threshold recommended by its authors, [0, 1].
    """

    detections: tuple[Detection, ...]
    masks: tuple[Mask, ...] = ()
    unknown_heads: tuple[str, ...] = ()
    cut: float = 0.0


class Detector(Protocol):
    """Finds named objects in an image."""

    id: str

    @property
    def signature(self) -> str:
        """Key of everything that the output depends on but image and mentions; empty if unknown."""

    def detect(self, image: RgbImage, mentions: Sequence[ObjectMention]) -> Seen:
        """Detect the head of every mention.

        Args:
            image: (H, W, 3) uint8.
            mentions: Mentions to search for, by their heads; a detector may use their attributes.

        Raises:
            DetectorError: The model is damaged or missing.
        """


class DepthEstimator(Protocol):
    """Estimates the depth of each pixel."""

    id: str

    @property
    def signature(self) -> str:
        """Key of everything but the image that the output depends on; empty if unknown."""

    def estimate(self, image: RgbImage) -> DepthMap:
        """Estimate relative depth, larger is farther.

        Raises:
            DetectorError: The model is damaged or missing.
        """


class Segmenter(Protocol):
    """Segments the instances found by a detector."""

    id: str

    @property
    def signature(self) -> str:
        """Key of everything but the image that the output depends on; empty if unknown."""

    def segment(self, image: RgbImage, detections: Sequence[Detection]) -> tuple[Mask, ...]:
        """Return the mask of every detection that has one, with the detection's score.

        Args:
            image: (H, W, 3) uint8; encoded once for all detections.
            detections: Detections whose boxes are segmented.

        Raises:
            DetectorError: The model is damaged or missing.
        """


Perceiver: TypeAlias = Detector | Segmenter | DepthEstimator


class PerceptionCatalog(Protocol):
    """Lists and loads perception models."""

    def cards(self) -> tuple[PerceptionCard, ...]:
        """Return the available models; damaged folders are left out."""

    def damaged(self) -> Mapping[str, ModelNotFound]:
        """Return the errors of the damaged models by name."""

    def ref(self, model_id: str, role: PerceptionRole) -> ModelRef:
        """Return a model's revision and the hash of its weights; arguments as for ``make``.

        Raises:
            ModelNotFound: There is no such model of this role, or it is damaged.
        """

    def make(self, model_id: str, role: PerceptionRole) -> Perceiver:
        """Create a model's adapter; the weights are loaded on first use.

        Args:
            model_id: A name in the catalog, or the path of a model folder.
            role: The task it is used for.

        Raises:
            ModelNotFound: There is no such model of this role, or it is damaged.
        """


class PerceptionStore(Protocol):
    """A cache of perceptions; any entry may be evicted at any time."""

    def find(self, key: str) -> Perception | None:
        """Return the entry of a key; None when there is none, or it is damaged."""

    def keep(self, key: str, perception: Perception) -> None:
        """Store a perception; write errors are ignored."""


class AssertionReader(Protocol):
    """Decomposes a prompt into atomic assertions, each with a question."""

    id: str

    def read(self, scene: SceneGraph, token: CancelToken) -> Assertions:
        """Decompose a prompt; on failure return the assertions of the scene with a note.

        Args:
            scene: The prompt and its scene graph.
            token: Polled while waiting.

        Raises:
            Cancelled: The token was cancelled.
        """


class QuestionAnswerer(Protocol):
    """Answers yes-no questions about an image with probabilities."""

    id: str

    def answer(
        self, image: RgbImage, questions: Sequence[str], token: CancelToken
    ) -> tuple[QuestionAnswer, ...]:
        """Answer each question; an answer that fails carries a note instead.

        Args:
            image: (H, W, 3) uint8.
            questions: Yes-no questions.
            token: Polled before each question.

        Raises:
            DetectorError: The model is damaged or missing.
            Cancelled: The token was cancelled.
        """
