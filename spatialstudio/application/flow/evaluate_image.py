"""Stage 3: a picture and the claims of its prompt become an evaluation."""

import hashlib
import time
from dataclasses import dataclass, replace

from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.errors import DetectorError
from spatialstudio.domain.perception import Looks, Perception
from spatialstudio.domain.ports import CancelToken, DepthEstimator, Detector, Perturber
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.domain.verdict import REPRODUCE, CheckerSettings, Evaluation, Outcome
from spatialstudio.science.checker import decide
from spatialstudio.science.perception_answers import score_by_perception


@dataclass(frozen=True, slots=True, kw_only=True)
class Judges:
    """Who looks at a picture.

    Attributes:
        detector: Finds the mentions.
        depth: Asked only when a relation needs depth.
        perturber: Changes the picture to test an answer; None when stability is not tested.
        second: Another detector, asked for its opinion; None for none.
    """

    detector: Detector
    depth: DepthEstimator
    perturber: Perturber | None = None
    second: Detector | None = None


def evaluate_image(
    image: RgbImage,
    scene: SceneGraph,
    judges: Judges,
    token: CancelToken,
    settings: CheckerSettings = REPRODUCE,
) -> Evaluation:
    """Look at a picture and judge every relation of the scene.

    The picture is looked at once, and again after small changes when there is an answer to test.

    Args:
        image: (H, W, 3) uint8.
        scene: What the picture shall show.
        judges: Who looks.
        token: Asked before each model call.
        settings: Thresholds and choices.

    Raises:
        DetectorError: A model is damaged or missing.
        Cancelled: The token was cancelled.
    """
    started = time.perf_counter()
    perception = perceive(image, scene, judges.detector, judges.depth, token)
    answers = decide(scene, perception, settings)
    looks = Looks()
    if any(answer.measurement for answer in answers):
        looks = Looks(
            second=_second_look(image, scene, judges, token),
            perturbed=(
                _perturbed_looks(image, scene, judges, token, settings)
                if any(answer.outcome is not Outcome.UNDECIDABLE for answer in answers)
                else ()
            ),
        )
    return Evaluation(
        perception=perception,
        verdicts=decide(scene, perception, settings, looks),
        checker=settings,
        seconds=time.perf_counter() - started,
        looks=looks,
        da_score=score_by_perception(scene, perception, image),
    )


def perceive(
    image: RgbImage,
    scene: SceneGraph,
    detector: Detector,
    depth: DepthEstimator,
    token: CancelToken,
) -> Perception:
    """See all that a scene mentions; arguments as for ``evaluate_image``."""
    token.raise_if_cancelled()
    seen = detector.detect(image, scene.mentions)
    token.raise_if_cancelled()
    if any(mask.pixels.shape != image.shape[:2] for mask in seen.masks):
        raise DetectorError(
            f'The detector "{detector.id}" gives masks of another size than the picture.',
            hint="Choose another detector, and report this to its author.",
        )
    wants_depth = any(relation.type.needs_depth for relation in scene.relations)
    return Perception(
        image_sha256=hash_of_picture(image),
        height=image.shape[0],
        width=image.shape[1],
        detections=seen.detections,
        masks=seen.masks,
        depth=depth.estimate(image) if wants_depth else None,
        missing_classes=seen.unknown_heads,
    )


def _perturbed_looks(
    image: RgbImage,
    scene: SceneGraph,
    judges: Judges,
    token: CancelToken,
    settings: CheckerSettings,
) -> tuple[Perception | None, ...]:
    if judges.perturber is None:
        return ()
    return tuple(
        _attempt(judges.perturber.perturb(image, change), scene, judges.detector, judges, token)
        for change in settings.perturbations
    )


def _second_look(
    image: RgbImage, scene: SceneGraph, judges: Judges, token: CancelToken
) -> Perception | None:
    if judges.second is None:
        return None
    seen = _attempt(image, scene, judges.second, judges, token)
    height, width = image.shape[:2]
    nothing = Perception(
        image_sha256=hash_of_picture(image), height=height, width=width, detections=(), masks=()
    )
    return seen or nothing  # NOTE: a second detector that fails counts as one that sees nothing


def _attempt(
    image: RgbImage, scene: SceneGraph, detector: Detector, judges: Judges, token: CancelToken
) -> Perception | None:
    try:
        look = perceive(image, scene, detector, judges.depth, token)
    except DetectorError:
        return None
    # NOTE: masks are large, and a second look needs them for depth only.
    return look if look.depth is not None else replace(look, masks=())


def hash_of_picture(image: RgbImage) -> str:
    """Return the sha256 of a picture's pixels: (H, W, 3) bytes in row order."""
    return hashlib.sha256(image.tobytes()).hexdigest()
