"""Stage 3: a picture and the claims of its prompt become an evaluation."""

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.errors import DetectorError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.judge_ports import (
    DepthEstimator,
    Detector,
    PerceptionStore,
    Seen,
    Segmenter,
)
from spatialstudio.domain.perception import Looks, Mask, Perception
from spatialstudio.domain.ports import CancelToken, Perturber
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.domain.verdict import (
    REPRODUCE,
    CheckerSettings,
    Evaluation,
    Outcome,
)
from spatialstudio.science.checker.decide import decide
from spatialstudio.science.questions.perception_answers import score_by_perception

RULES = "1"
"""Part of every key; rises when a perception is put together in another way."""


@frozen
class JudgeSet:
    """Who looks at a picture.

    Attributes:
        detector: Finds the mentions.
        depth: Asked only when a relation needs depth; None for nobody.
        segmenter: Draws masks where the detector draws none; None for no masks there.
        perturber: Changes the picture to test an answer; None when stability is not tested.
        second: Another detector, asked for its opinion; None for none.
        cut: Score from which the detector's finds count, [0, 1]; None for its makers' own.
        store: Remembers what was seen; None to look anew each time.
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
        """The same with the second detector in the first's place; None when there is none."""
        return replace(self, detector=self.second, cut=None) if self.second else None


def perceive_image(
    image: RgbImage,
    scene: SceneGraph,
    judges: JudgeSet,
    token: CancelToken,
    *,
    draws_masks: bool = True,
) -> Perception:
    """See all that a scene mentions, or remember what was seen.

    Args:
        image: (H, W, 3) uint8.
        scene: What is looked for.
        judges: Who looks.
        token: Asked before each model call.
        draws_masks: Whether masks are wanted.

    Raises:
        DetectorError: A model is damaged or missing, or gives what does not fit the picture.
        Cancelled: The token was cancelled.
    """
    key = _key(image, scene, judges, draws_masks=draws_masks) if judges.store else None
    perception = judges.store.find(key) if judges.store and key else None
    if perception is None:
        perception = _look(image, scene, judges, token, draws_masks=draws_masks)
        if judges.store and key:
            judges.store.keep(key, perception)
    return perception if judges.cut is None else replace(perception, cut=judges.cut)


def needs_depth(scene: SceneGraph) -> bool:
    """Tell whether a relation of the scene is about depth."""
    return any(relation.type.needs_depth for relation in scene.relations)


def hash_of_picture(image: RgbImage) -> str:
    """Return the sha256 of a picture's pixels: (H, W, 3) bytes in row order."""
    return hashlib.sha256(image.tobytes()).hexdigest()


def _look(
    image: RgbImage,
    scene: SceneGraph,
    judges: JudgeSet,
    token: CancelToken,
    *,
    draws_masks: bool,
) -> Perception:
    token.raise_if_cancelled()
    seen = judges.detector.detect(image, scene.mentions)
    token.raise_if_cancelled()
    masks = _masks(image, seen, judges.segmenter) if draws_masks else ()
    token.raise_if_cancelled()
    depth = judges.depth.estimate(image) if judges.depth and needs_depth(scene) else None
    if depth is not None and depth.values.shape != image.shape[:2]:
        raise _another_size(depth.estimator_id, "depth")
    return Perception(
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
        f'The model "{model_id}" returned {what} of another size than the picture.',
        hint="Choose another model, and report this to its author.",
    )


def _key(image: RgbImage, scene: SceneGraph, judges: JudgeSet, *, draws_masks: bool) -> str | None:
    """Name what is about to be seen; None when a model does not say what its answers depend on."""
    signatures = [judges.detector.signature]
    if judges.segmenter is not None and draws_masks:
        signatures.append(judges.segmenter.signature)
    if judges.depth is not None and needs_depth(scene):
        signatures.append(judges.depth.signature)
    if not all(signatures):
        return None
    asked = [f"{mention.id} {mention.head}" for mention in scene.mentions]
    parts = (
        *(RULES, hash_of_picture(image), str(image.shape), str(draws_masks)),
        *(str(needs_depth(scene)), *asked, *signatures),
    )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


PerturbationProgress: TypeAlias = Callable[[int, int], None]
"""Told how many changed pictures were looked at, and of how many; 0 of 0 after the first look."""


def ignore_progress(_done: int, _of: int) -> None:
    """Tell nobody how far it is."""


def evaluate_image(
    image: RgbImage,
    scene: SceneGraph,
    judges: JudgeSet,
    token: CancelToken,
    settings: CheckerSettings = REPRODUCE,
    looked: PerturbationProgress = ignore_progress,
) -> Evaluation:
    """Look at a picture and judge every relation of the scene.

    The picture is looked at once, and again after small changes when there is an answer to test.

    Args:
        image: (H, W, 3) uint8.
        scene: What the picture shall show.
        judges: Who looks.
        token: Asked before each model call.
        settings: Thresholds and choices.
        looked: Told how far that is.

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
    return Evaluation(
        perception=perception,
        verdicts=decide(scene, perception, settings, looks),
        checker=settings,
        seconds=time.perf_counter() - started,
        looks=looks,
        da_score=score_by_perception(scene, perception, image),
    )


def _changed(image: RgbImage, judges: JudgeSet, settings: CheckerSettings) -> Iterator[RgbImage]:
    """Yield the slightly changed pictures, each when it is looked at."""
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
    return seen or nothing  # NOTE: a second detector that fails counts as one that sees nothing


def _attempt(
    image: RgbImage, scene: SceneGraph, judges: JudgeSet, token: CancelToken
) -> Perception | None:
    # NOTE: masks are large, and a second look needs them for depth only.
    try:
        return perceive_image(image, scene, judges, token, draws_masks=needs_depth(scene))
    except DetectorError:
        return None
