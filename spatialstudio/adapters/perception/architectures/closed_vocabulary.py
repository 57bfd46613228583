"""DETR family: closed-vocabulary detectors, usually of COCO's 80 classes.

They replace torchvision's Faster R-CNN, the first detector of SpatialBench-UC, because the studio
does not depend on torchvision. Sources: Carion et al. 2020, arXiv:2005.12872 (DETR); Zhao et al.
2023, arXiv:2304.08069 (RT-DETR).
"""

from collections.abc import Mapping

from spatialstudio.adapters.perception.detector import (
    CandidateSettings,
    Finding,
    ModelDetector,
    box_within,
    detector_of_classes,
)
from spatialstudio.adapters.perception.lazy_model import Loaded, pixels_of
from spatialstudio.adapters.perception.model_catalog import ModelFamily
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.ports import PerceptionCard, PerceptionRole

PUBLISHED = CandidateSettings(cut=0.5)
"""The score threshold of SpatialBench-UC's first detector."""


def build(
    card: PerceptionCard, settings: CandidateSettings = PUBLISHED
) -> ModelDetector[CandidateSettings]:
    """Create the detector of a model folder."""
    return detector_of_classes(card, "AutoModelForObjectDetection", _instances, settings)


def _instances(
    loaded: Loaded,
    image: RgbImage,
    known: Mapping[str, frozenset[int]],
    settings: CandidateSettings,
) -> list[Finding]:
    answer = loaded(**pixels_of(loaded.processor, image))
    size = image.shape[:2]
    (found,) = loaded.processor.post_process_object_detection(
        answer, threshold=settings.floor, target_sizes=[size]
    )
    return [
        Finding(
            head=head,
            label=loaded.model.config.id2label[number],
            score=score,
            box=box_within(edges, size),
        )
        for score, number, edges in zip(
            found["scores"].tolist(),
            found["labels"].tolist(),
            found["boxes"].tolist(),
            strict=True,
        )
        for head, numbers in known.items()
        if number in numbers
    ]


FAMILY = ModelFamily(
    role=PerceptionRole.DETECTOR,
    architectures=(
        "DetrForObjectDetection",
        "ConditionalDetrForObjectDetection",
        "DeformableDetrForObjectDetection",
        "RTDetrForObjectDetection",
        "RTDetrV2ForObjectDetection",
        "YolosForObjectDetection",
    ),
    build=build,
    has_classes=True,
)
