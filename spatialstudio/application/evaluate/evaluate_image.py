"""Stage 3: evaluation of an image against the scene of its prompt."""

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from spatialstudio.application.evaluate.object_quality import quality_of
from spatialstudio.domain.arrays import RgbImage, hash_of_picture
from spatialstudio.domain.errors import DetectorError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import (
    CancelToken,
    DepthEstimator,
    Detector,
    PerceptionStore,
    Perturber,
    Seen,
    Segmenter,
)
from spatialstudio.domain.scene import SceneGraph
from spatialstudio.domain.verdict import (
    REPRODUCE,
    CheckerSettings,
    Evaluation,
    Looks,
    Mask,
    Outcome,
    Perception,
)
from spatialstudio.science.checker.decide import decide
from spatialstudio.science.checker.decide_mentions import decide_mentions
from spatialstudio.science.checker.instances import measure_instances
from spatialstudio.science.questions.perception_answers import score_by_perception

RULES = "1"
"""Version of the perception pipeline, part of every cache key."""


@frozen
class JudgeSet:
    """The models and settings that produce perceptions for the checker and the metrics.

    Attributes:
        detector: Detects the mentions.
        depth: Runs only for relations that need depth; None for no depth.
        segmenter: Adds masks where the detector returns none; None for no added masks.
        perturber: Perturbs the image to measure stability; None for no stability.
        second: Second detector for agreement; None for none.
        cut: Minimum detection score, [0, 1]; None for the detector's default.
        store: Cache of perceptions; None for no cache.
    """

    detector: Detector
    depth: DepthEstimator | None = None
    segmenter: Segmenter | None = None
    perturber: Perturber | None = None
    second: Detector | None = None
    cut: float | None = None
    store: PerceptionStore | None = None

    @property
    def with_second_detector(self) -> "JudgeSet | None":
        """The judge set with the second detector as the first; None without a second detector."""
        return replace(self, detector=self.second, cut=None) if self.second else None


def perceive_image(
    image: RgbImage,
    scene: SceneGraph,
    judges: JudgeSet,
    token: CancelToken,
    *,
    draws_masks: bool = True,
) -> Perception:
    """Detect all mentions of a scene, or return the cached perception.

    Args:
        image: (H, W, 3) uint8.
        scene: Scene with the mentions.
        judges: Models to run.
        token: Checked before each model call.
        draws_masks: Whether to compute masks.

    Raises:
        DetectorError: A model is damaged or missing, or its output does not fit the image.
        Cancelled: The token was cancelled.
    """
    key = _key(image, scene, judges, draws_masks=draws_masks) if judges.store else None
    perception = judges.store.find(key) if judges.store and key else None
    if perception is None:
        token.raise_if_cancelled()
        seen = judges.detector.detect(image, scene.mentions)
        token.raise_if_cancelled()
        masks = _masks(image, seen, judges.segmenter) if draws_masks else ()
        token.raise_if_cancelled()
        depth = judges.depth.estimate(image) if judges.depth and needs_depth(scene) else None
        if depth is not None and depth.values.shape != image.shape[:2]:
            raise _another_size(depth.estimator_id, "depth")
        perception = Perception(
            image_sha256=hash_of_picture(image),
            height=image.shape[0],
            width=image.shape[1],
            detections=seen.detections,
            masks=masks,
            depth=depth,
            missing_classes=seen.unknown_heads,
            cut=seen.cut,
            detector_id=judges.detector.id,
        )
        if judges.store and key:
            judges.store.keep(key, perception)
    elif not perception.detector_id:  # the cache does not name it
        perception = replace(perception, detector_id=judges.detector.id)
    return perception if judges.cut is None else replace(perception, cut=judges.cut)


def needs_depth(scene: SceneGraph) -> bool:
    """Return True if a relation of the scene needs depth."""
    return any(relation.type.needs_depth for relation in scene.relations)


def _masks(image: RgbImage, seen: Seen, segmenter: Segmenter | None) -> tuple[Mask, ...]:
    masks = seen.masks
    if segmenter is not None and seen.detections and not masks:
        masks = segmenter.segment(image, seen.detections)
    for mask in masks:
        if mask.pixels.shape != image.shape[:2]:
            raise _another_size(mask.source_id, "masks")
    return masks


def _another_size(model_id: str, what: str) -> DetectorError:
    return DetectorError(
        f'The model "{model_id}" returned {what} whose size differs from that of the picture.',
        hint="Choose another model, and report this error to its author.",
    )


def _key(image: RgbImage, scene: SceneGraph, judges: JudgeSet, *, draws_masks: bool) -> str | None:
    """Return the cache key of a perception; None if a model does not declare its signature."""
    signatures = [judges.detector.signature]
    if judges.segmenter is not None and draws_masks:
        signatures.append(judges.segmenter.signature)
    if judges.depth is not None and needs_depth(scene):
        signatures.append(judges.depth.signature)
    if not all(signatures):
        return None
    asked = [repr((mention.id, mention.head, mention.phrase)) for mention in scene.mentions]
    parts = (
        *(RULES, hash_of_picture(image), str(image.shape), str(draws_masks)),
        *(str(needs_depth(scene)), *asked, *signatures),
    )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


PerturbationProgress: TypeAlias = Callable[[int, int], None]
"""Receives the number of perturbed images done and in total; 0 of 0 after the first perception."""


def ignore_progress(_done: int, _of: int) -> None:
    """Ignore the progress."""


def evaluate_image(
    image: RgbImage,
    scene: SceneGraph,
    judges: JudgeSet,
    token: CancelToken,
    settings: CheckerSettings = REPRODUCE,
    looked: PerturbationProgress = ignore_progress,
) -> Evaluation:
    """Evaluate every relation, count and colour of a scene in an image.

    Perception runs once, and again after each perturbation if there is an answer to test.

    Args:
        image: (H, W, 3) uint8.
        scene: Scene of the prompt.
        judges: Models to run.
        token: Checked before each model call.
        settings: Settings of the checker.
        looked: Receives the progress.

    Raises:
        DetectorError: A model is damaged or missing.
        Cancelled: The token was cancelled.
    """
    started = time.perf_counter()
    perception = perceive_image(image, scene, judges, token)
    answers = decide(scene, perception, settings)
    looks = Looks()
    looked(0, 0)
    if any(answer.measurement for answer in answers):
        is_decided = any(answer.outcome is not Outcome.UNDECIDABLE for answer in answers)
        second = _second_look(image, scene, judges, token)
        perturbed = []
        for done, pixels in enumerate(_changed(image, judges, settings) if is_decided else ()):
            looked(done, len(settings.perturbations))
            perturbed.append(_attempt(pixels, scene, judges, token))
        looks = Looks(second=second, perturbed=tuple(perturbed))
    instances = measure_instances(scene, perception, image)
    return Evaluation(
        perception=perception,
        verdicts=decide(scene, perception, settings, looks),
        checker=settings,
        seconds=time.perf_counter() - started,
        looks=looks,
        da_score=score_by_perception(scene, perception, image, instances=instances),
        instances=instances,
        mention_verdicts=decide_mentions(scene, instances, settings),
        quality=quality_of(image, scene, perception),
    )


def _changed(image: RgbImage, judges: JudgeSet, settings: CheckerSettings) -> Iterator[RgbImage]:
    """Yield the perturbed images one by one, created on demand."""
    if judges.perturber is not None:
        for change in settings.perturbations:
            yield judges.perturber.perturb(image, change)


def _second_look(
    image: RgbImage, scene: SceneGraph, judges: JudgeSet, token: CancelToken
) -> Perception | None:
    with_second_detector = judges.with_second_detector
    if with_second_detector is None:
        return None
    seen = _attempt(image, scene, with_second_detector, token)
    height, width = image.shape[:2]
    nothing = Perception(
        image_sha256=hash_of_picture(image), height=height, width=width, detections=(), masks=()
    )
    return seen or nothing  # NOTE: a second detector that fails counts as one without detections


def _attempt(
    image: RgbImage, scene: SceneGraph, judges: JudgeSet, token: CancelToken
) -> Perception | None:
    # NOTE: masks are large, and the second detector needs them for depth only.
    try:
        return perceive_image(image, scene, judges, token, draws_masks=needs_depth(scene))
    except DetectorError:
        return None
