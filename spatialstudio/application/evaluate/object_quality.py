"""The quality score: how surely a held-out classifier recognises the objects of a picture.

It knows the objects of the embedded world only; no guidance and no judge uses it.
"""

from dataclasses import replace
from functools import cache

import numpy as np

from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.resources import resources_folder
from spatialstudio.domain.scene import SceneGraph
from spatialstudio.domain.verdict import Detection, Evaluation, Perception
from spatialstudio.science.quality.object_classifier import ObjectClassifier

WEIGHTS_FILE = resources_folder() / "models" / "stickers-world" / "object_classifier.npz"
NAMES = "names"
DETECTORS = frozenset({"sticker-segmenter"})
"""Detectors of the embedded world, whose labels are the classes."""


def quality_of(image: RgbImage, scene: SceneGraph, perception: Perception) -> float | None:
    """Return the mean probability of the right class over the detected objects, [0, 1].

    Missing objects do not count: PSE and the verdicts count them.

    Args:
        image: (H, W, 3) uint8.
        scene: Scene of the prompt.
        perception: Its detections.

    Returns:
        None if no object was detected, or not by a detector of the embedded world.
    """
    if perception.detector_id not in DETECTORS:
        return None
    classifier = object_classifier()
    best = [_best(perception, mention.id) for mention in scene.mentions]
    chances = [
        float(classifier.chances(image, each.box)[classifier.names.index(each.label)])
        for each in best
        if each is not None and each.label in classifier.names
    ]
    return float(np.mean(chances)) if chances else None


def with_quality(evaluation: Evaluation, image: RgbImage, scene: SceneGraph) -> Evaluation:
    """Return an evaluation with its quality score; unchanged if it has one, or none is possible."""
    if evaluation.quality is not None:
        return evaluation
    quality = quality_of(image, scene, evaluation.perception)
    return evaluation if quality is None else replace(evaluation, quality=quality)


def _best(perception: Perception, mention_id: str) -> Detection | None:
    own = [each for each in perception.detections if each.mention_id == mention_id]
    return max(own, key=lambda each: each.score, default=None)


@cache
def object_classifier() -> ObjectClassifier:
    """Read the classifier."""
    with np.load(WEIGHTS_FILE, allow_pickle=False) as stored:
        weights = {name: stored[name] for name in stored.files if name != NAMES}
        return ObjectClassifier(weights=weights, names=tuple(map(str, stored[NAMES])))
