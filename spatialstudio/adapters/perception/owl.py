"""OWL-ViT and OWLv2: find what texts name.

Sources: Minderer et al. 2022, arXiv:2205.06230, and 2023, arXiv:2306.09683. VISOR asks OWL-ViT for
"a photo of a dog" and keeps boxes above 0.1.
"""

from collections.abc import Sequence

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

PUBLISHED = CandidateSettings(cut=0.1, floor=0.02)
"""The threshold of VISOR."""


def build(card: PerceptionCard) -> "Owl":
    """Make the detector of a model folder."""
    return Owl(card)


class Owl:
    """An open-vocabulary detector; implements ``Detector``."""

    def __init__(self, card: PerceptionCard, settings: CandidateSettings = PUBLISHED) -> None:
        self._settings = settings
        self._model = ModelInUse(card, "AutoModelForZeroShotObjectDetection", "AutoProcessor")
        self.id = self._model.id

    @property
    def signature(self) -> str:
        """All that its answers depend on beside the picture."""
        return self._model.signature(self._settings)

    def detect(self, image: RgbImage, mentions: Sequence[ObjectMention]) -> Seen:
        """Find every mention's head; see ``Detector``."""
        heads = heads_of(mentions)
        if not heads:
            return Seen(detections=(), cut=self._settings.cut)
        with self._model.looking() as loaded:
            findings = _findings(loaded, image, heads, self._settings.floor)
        return seen_in(findings, mentions, self.id, self._settings)


def _findings(loaded: Loaded, image: RgbImage, heads: Sequence[str], floor: float) -> list[Finding]:
    words = loaded.processor.tokenizer(
        [f"a photo of a {head}" for head in heads],
        padding="max_length",
        truncation=True,
        max_length=loaded.model.config.text_config.max_position_embeddings,
        return_tensors="pt",
    )
    answer = loaded(**words, **pixels_of(loaded.processor.image_processor, image))
    size = image.shape[:2]
    (found,) = loaded.processor.post_process_grounded_object_detection(
        answer, threshold=floor, target_sizes=[size]
    )
    return [
        Finding(
            head=heads[number],
            label=heads[number],
            score=float(score),
            box=box_within(edges, size),
        )
        for score, number, edges in zip(
            found["scores"].tolist(),
            found["labels"].tolist(),
            found["boxes"].tolist(),
            strict=True,
        )
    ]
