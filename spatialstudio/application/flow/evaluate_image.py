"""Stage 3: a picture and the claims of its prompt become an evaluation."""

import hashlib
import time

from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.perception import Perception
from spatialstudio.domain.ports import CancelToken, DepthEstimator, Detector
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.domain.verdict import CheckerSettings, Evaluation
from spatialstudio.science.checker import decide


def evaluate_image(
    image: RgbImage,
    scene: SceneGraph,
    detector: Detector,
    depth: DepthEstimator,
    token: CancelToken,
    settings: CheckerSettings | None = None,
) -> Evaluation:
    """Look at a picture once and judge every relation of the scene.

    Args:
        image: (H, W, 3) uint8.
        scene: What the picture shall show.
        detector: Finds the mentions.
        depth: Asked only when a relation needs depth.
        token: Asked before each model call.
        settings: Thresholds; None for the calibrated ones.

    Raises:
        DetectorError: A model is damaged or missing.
        Cancelled: The token was cancelled.
    """
    started = time.perf_counter()
    settings = settings or CheckerSettings()
    token.raise_if_cancelled()
    seen = detector.detect(image, scene.mentions)
    token.raise_if_cancelled()
    wants_depth = any(relation.type.needs_depth for relation in scene.relations)
    perception = Perception(
        image_sha256=hash_of_picture(image),
        height=image.shape[0],
        width=image.shape[1],
        detections=seen.detections,
        masks=seen.masks,
        depth=depth.estimate(image) if wants_depth else None,
        missing_classes=seen.unknown_heads,
    )
    return Evaluation(
        perception=perception,
        verdicts=decide(scene, perception, settings),
        checker=settings,
        seconds=time.perf_counter() - started,
    )


def hash_of_picture(image: RgbImage) -> str:
    """Return the sha256 of a picture's pixels: (H, W, 3) bytes in row order."""
    return hashlib.sha256(image.tobytes()).hexdigest()
