"""Mask2Former detector: instances, or panoptic segments, of fixed classes.

Source: Cheng et al. 2022, arXiv:2112.01527. GenEval detects objects with the instance model and a
score above 0.3. A model with sky among its classes is panoptic: its things are instances, and its
stuff gives one segment per class.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from spatialstudio.adapters.perception.detector import (
    CandidateSettings,
    Finding,
    ModelDetector,
    detector_of_classes,
)
from spatialstudio.adapters.perception.lazy_model import (
    Loaded,
    as_numpy,
    pixels_of,
)
from spatialstudio.adapters.perception.model_catalog import ModelFamily
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import PerceptionCard, PerceptionRole

if TYPE_CHECKING:
    from torch import Tensor

PUBLISHED = CandidateSettings(cut=0.3)
"""The score threshold of GenEval."""

STUFF_WORD = "sky"
STUFF_MARKS = ("-merged", "-other", "-stuff", STUFF_WORD)


@frozen(eq=False)
class Segment:
    """One segment on the model's output grid.

    Attributes:
        number: Class index.
        score: [0, 1].
        pixels: (h, w) bool.
    """

    number: int
    score: float
    pixels: "Tensor"


def build(card: PerceptionCard) -> ModelDetector[CandidateSettings]:
    """Create the detector of a model folder."""
    return detector_of_classes(card, "AutoModelForUniversalSegmentation", _instances, PUBLISHED)


def _instances(
    loaded: Loaded,
    image: RgbImage,
    known: Mapping[str, frozenset[int]],
    settings: CandidateSettings,
) -> list[Finding]:
    from spatialstudio.adapters.mask_regions import resized
    from spatialstudio.domain.verdict import box_around

    answer = loaded(**pixels_of(loaded.processor, image))
    instances = []
    for segment in _segments(loaded, answer, settings):
        for head, numbers in known.items():
            if segment.number not in numbers:
                continue
            pixels = resized(as_numpy(segment.pixels), image.shape[:2])
            if pixels.any():
                instances.append(
                    Finding(
                        head=head,
                        label=loaded.model.config.id2label[segment.number],
                        score=segment.score,
                        box=box_around(pixels),
                        pixels=pixels,
                    )
                )
    return instances


def is_panoptic(names: Mapping[int, str]) -> bool:
    """Return True if a model has stuff classes besides things."""
    return any(STUFF_WORD in name.lower() for name in names.values())


def _segments(loaded: Loaded, answer: Any, settings: CandidateSettings) -> list[Segment]:
    """Return the segments on the model's grid, since a large picture has many pixels."""
    names = loaded.model.config.id2label
    if not is_panoptic(names):
        (found,) = loaded.processor.post_process_instance_segmentation(
            answer, threshold=settings.floor, return_binary_maps=True
        )
        maps = found["segmentation"]
        return [
            Segment(number=info["label_id"], score=info["score"], pixels=pixels > 0)
            for info, pixels in zip(found["segments_info"], maps, strict=False)
        ]
    # NOTE: panoptic segments compete for every pixel, so exclude those below the threshold first.
    stuff = {n for n, name in names.items() if any(mark in name.lower() for mark in STUFF_MARKS)}
    (found,) = loaded.processor.post_process_panoptic_segmentation(
        answer, threshold=settings.cut, label_ids_to_fuse=stuff
    )
    return [
        Segment(
            number=info["label_id"],
            score=info["score"],
            pixels=found["segmentation"].eq(info["id"]),
        )
        for info in found["segments_info"]
    ]


FAMILY = ModelFamily(
    role=PerceptionRole.DETECTOR,
    architectures=("Mask2FormerForUniversalSegmentation",),
    build=build,
    has_classes=True,
)
