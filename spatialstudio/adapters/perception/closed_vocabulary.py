"""DETR and its family: detectors of the classes that they were trained on, as a rule COCO's 80.

They stand in for torchvision's Faster R-CNN, the first detector of SpatialBench-UC, as the studio
does without torchvision. Sources: Carion et al. 2020, arXiv:2005.12872 (DETR); Zhao et al. 2023,
arXiv:2304.08069 (RT-DETR).
"""

from collections.abc import Mapping, Sequence

from spatialstudio.adapters.perception.class_names import classes_of
from spatialstudio.adapters.perception.findings import (
    CandidateSettings,
    Finding,
    box_within,
    heads_of,
    seen_in,
)
from spatialstudio.adapters.perception.model_in_use import Loaded, ModelInUse, pixels_of
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.perceivers import PerceptionCard, Seen
from spatialstudio.domain.prompt import ObjectMention

PUBLISHED = CandidateSettings(cut=0.5)
"""The cut of SpatialBench-UC's first detector."""


def build(card: PerceptionCard) -> "ClosedVocabularyDetector":
    """Make the detector of a model folder."""
    return ClosedVocabularyDetector(card)


class ClosedVocabularyDetector:
    """A detector of fixed classes; implements ``Detector``."""

    def __init__(self, card: PerceptionCard, settings: CandidateSettings = PUBLISHED) -> None:
        self._settings = settings
        self._model = ModelInUse(card, "AutoModelForObjectDetection", "AutoImageProcessor")
        self.id = self._model.id

    @property
    def signature(self) -> str:
        """All that its answers depend on beside the picture."""
        return self._model.signature(self._settings)

    def detect(self, image: RgbImage, mentions: Sequence[ObjectMention]) -> Seen:
        """Find every mention's head; see ``Detector``."""
        heads = heads_of(mentions)
        with self._model.looking() as loaded:
            known = classes_of(heads, loaded.model.config.id2label)
            findings = _findings(loaded, image, known, self._settings.floor) if known else []
        unknown = tuple(head for head in heads if head not in known)
        return seen_in(findings, mentions, self.id, self._settings, unknown)


def _findings(
    loaded: Loaded, image: RgbImage, known: Mapping[str, frozenset[int]], floor: float
) -> list[Finding]:
    answer = loaded(**pixels_of(loaded.processor, image))
    size = image.shape[:2]
    (found,) = loaded.processor.post_process_object_detection(
        answer, threshold=floor, target_sizes=[size]
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
