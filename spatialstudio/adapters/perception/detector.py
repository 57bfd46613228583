"""Shared code of detectors that run a transformers model, and conversion of their output."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from spatialstudio.adapters.perception.class_names import classes_of
from spatialstudio.adapters.perception.lazy_model import Loaded, ModelInUse
from spatialstudio.domain.arrays import BoolMask, RgbImage
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import PerceptionCard, Seen
from spatialstudio.domain.scene import ObjectMention
from spatialstudio.domain.verdict import (
    Box,
    Detection,
    Mask,
)


@frozen
class CandidateSettings:
    """Which of a model's instances are kept.

    Attributes:
        cut: Score threshold of the model's authors or of a published evaluation, [0, 1].
        floor: Score above which an instance is stored, so that the cut can be changed, [0, 1].
        most: Maximum number of instances per head, best first, >= 1.
    """

    cut: float
    floor: float = 0.05
    most: int = 16


@frozen(eq=False)
class Finding:
    """One instance.

    Attributes:
        head: The requested head.
        label: The model's class name.
        score: [0, 1].
        box: In pixels of the picture.
        pixels: (H, W) of the picture; None from a model without masks.
    """

    head: str
    label: str
    score: float
    box: Box
    pixels: BoolMask | None = None


def heads_of(mentions: Sequence[ObjectMention]) -> tuple[str, ...]:
    """Return the heads to detect, each once."""
    return tuple(dict.fromkeys(mention.head for mention in mentions))


def seen_in(
    instances: Iterable[Finding],
    mentions: Sequence[ObjectMention],
    detector_id: str,
    settings: CandidateSettings,
    unknown_heads: tuple[str, ...] = (),
) -> Seen:
    """Assign the best instances of each head to every mention with that head."""
    by_score = sorted(instances, key=lambda finding: -finding.score)
    kept = [
        (mention, finding)
        for mention in mentions
        for finding in [each for each in by_score if each.head == mention.head][: settings.most]
        if finding.score >= settings.floor and finding.box.area > 0
    ]
    return Seen(
        detections=tuple(
            Detection(
                mention_id=mention.id,
                label=finding.label,
                score=finding.score,
                box=finding.box,
                detector_id=detector_id,
            )
            for mention, finding in kept
        ),
        masks=tuple(
            Mask(
                mention_id=mention.id,
                pixels=finding.pixels,
                score=finding.score,
                source_id=detector_id,
            )
            for mention, finding in kept
            if finding.pixels is not None
        ),
        unknown_heads=unknown_heads,
        cut=settings.cut,
    )


def box_within(edges: Sequence[float], size: tuple[int, int]) -> Box:
    """Return a box clipped to the picture.

    Args:
        edges: Left, top, right, bottom; pixels.
        size: (H, W) of the picture.
    """
    height, width = size
    left, right = np.clip([edges[0], edges[2]], 0, width)
    top, bottom = np.clip([edges[1], edges[3]], 0, height)
    return Box(left=float(left), top=float(top), right=float(right), bottom=float(bottom))


def resized_smoothly(values: NDArray[np.float32], size: tuple[int, int]) -> NDArray[np.float32]:
    """Resize a map by interpolation.

    Args:
        values: (h, w).
        size: (H, W).
    """
    height, width = size
    from PIL import Image

    picture = Image.fromarray(values).resize((width, height), Image.Resampling.BILINEAR)
    return np.array(picture, np.float32)


SettingsT = TypeVar("SettingsT", bound=CandidateSettings)

Find = Callable[[Loaded, RgbImage, Sequence[str], SettingsT], list[Finding]]
"""Detects named heads in a picture."""

FindClasses = Callable[[Loaded, RgbImage, Mapping[str, frozenset[int]], SettingsT], list[Finding]]
"""Detects heads given with their class indices, at least one."""

Look = Callable[[Loaded, RgbImage, Sequence[str], SettingsT], tuple[list[Finding], tuple[str, ...]]]
"""Detects heads; also returns the heads outside the model's vocabulary."""


def open_vocabulary(find: Find[SettingsT]) -> Look[SettingsT]:
    """Adapt an open-vocabulary model, which accepts any head."""

    def look(
        loaded: Loaded, image: RgbImage, heads: Sequence[str], settings: SettingsT
    ) -> tuple[list[Finding], tuple[str, ...]]:
        return find(loaded, image, heads, settings), ()

    return look


def detector_of_classes(
    card: PerceptionCard, model_class: str, find: FindClasses[SettingsT], settings: SettingsT
) -> "ModelDetector[SettingsT]":
    """Create the detector of a closed-vocabulary model.

    Args:
        card: The model.
        model_class: Class name in transformers.
        find: Runs the model.
        settings: Score thresholds.
    """
    model = ModelInUse(card, model_class, "AutoImageProcessor")
    return ModelDetector(model, settings, _fixed_classes(find))


def _fixed_classes(find: FindClasses[SettingsT]) -> Look[SettingsT]:
    """Adapt a closed-vocabulary model, which accepts only its classes."""

    def look(
        loaded: Loaded, image: RgbImage, heads: Sequence[str], settings: SettingsT
    ) -> tuple[list[Finding], tuple[str, ...]]:
        known = classes_of(heads, loaded.model.config.id2label)
        instances = find(loaded, image, known, settings) if known else []
        return instances, tuple(head for head in heads if head not in known)

    return look


class ModelDetector(Generic[SettingsT]):
    """Runs the model of a folder; implements ``Detector``.

    Args:
        model: Loaded on first use.
        settings: Score thresholds.
        look: Runs the model.
    """

    def __init__(self, model: ModelInUse, settings: SettingsT, look: Look[SettingsT]) -> None:
        self.id = model.id
        self._model = model
        self._settings = settings
        self._look = look

    @property
    def signature(self) -> str:
        """Model, weights and settings, which determine the output for a picture."""
        return self._model.signature(self._settings)

    def detect(self, image: RgbImage, mentions: Sequence[ObjectMention]) -> Seen:
        """Detect every mention's head; see ``Detector``."""
        heads = heads_of(mentions)
        if not heads:
            return Seen(detections=(), cut=self._settings.cut)
        with self._model.looking() as loaded:
            instances, unknown = self._look(loaded, image, heads, self._settings)
        return seen_in(instances, mentions, self.id, self._settings, unknown)
