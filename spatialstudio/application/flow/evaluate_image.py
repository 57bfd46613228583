"""Stage 3: a picture and the claims of its prompt become an evaluation."""

import time
from collections.abc import Callable, Iterator
from typing import TypeAlias

from spatialstudio.application.flow.perceive_image import (
    Judges,
    hash_of_picture,
    needs_depth,
    perceive_image,
)
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.errors import DetectorError
from spatialstudio.domain.perception import Looks, Perception
from spatialstudio.domain.ports import CancelToken
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.domain.verdict import REPRODUCE, CheckerSettings, Evaluation, Outcome
from spatialstudio.science.checker import decide
from spatialstudio.science.perception_answers import score_by_perception

Looked: TypeAlias = Callable[[int, int], None]
"""Told how many changed pictures were looked at, and of how many; 0 of 0 after the first look."""


def nobody_asks(_done: int, _of: int) -> None:
    """Tell nobody how far it is."""


def evaluate_image(
    image: RgbImage,
    scene: SceneGraph,
    judges: Judges,
    token: CancelToken,
    settings: CheckerSettings = REPRODUCE,
    looked: Looked = nobody_asks,
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


def _changed(image: RgbImage, judges: Judges, settings: CheckerSettings) -> Iterator[RgbImage]:
    """Yield the slightly changed pictures, each when it is looked at."""
    if judges.perturber is not None:
        for change in settings.perturbations:
            yield judges.perturber.perturb(image, change)


def _second_look(
    image: RgbImage, scene: SceneGraph, judges: Judges, token: CancelToken
) -> Perception | None:
    seconded = judges.seconded
    if seconded is None:
        return None
    seen = _attempt(image, scene, seconded, token)
    height, width = image.shape[:2]
    nothing = Perception(
        image_sha256=hash_of_picture(image), height=height, width=width, detections=(), masks=()
    )
    return seen or nothing  # NOTE: a second detector that fails counts as one that sees nothing


def _attempt(
    image: RgbImage, scene: SceneGraph, judges: Judges, token: CancelToken
) -> Perception | None:
    # NOTE: masks are large, and a second look needs them for depth only.
    try:
        return perceive_image(image, scene, judges, token, draws_masks=needs_depth(scene))
    except DetectorError:
        return None
