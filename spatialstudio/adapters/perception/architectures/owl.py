"""OWL-ViT and OWLv2: open-vocabulary detectors queried by text.

Sources: Minderer et al. 2022, arXiv:2205.06230, and 2023, arXiv:2306.09683. VISOR queries OWL-ViT
with "a photo of a dog" and keeps boxes above 0.1.
"""

from collections.abc import Sequence

from spatialstudio.adapters.perception.detector import (
    CandidateSettings,
    Finding,
    ModelDetector,
    box_within,
    open_vocabulary,
)
from spatialstudio.adapters.perception.lazy_model import (
    Loaded,
    ModelInUse,
    pixels_of,
)
from spatialstudio.adapters.perception.model_catalog import ModelFamily
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.ports import PerceptionCard, PerceptionRole

PUBLISHED = CandidateSettings(cut=0.1, floor=0.02)
"""The score threshold of VISOR."""


def build(card: PerceptionCard) -> ModelDetector[CandidateSettings]:
    """Create the detector of a model folder."""
    model = ModelInUse(card, "AutoModelForZeroShotObjectDetection", "AutoProcessor")
    return ModelDetector(model, PUBLISHED, open_vocabulary(_instances))


def _instances(
    loaded: Loaded, image: RgbImage, heads: Sequence[str], settings: CandidateSettings
) -> list[Finding]:
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
        answer, threshold=settings.floor, target_sizes=[size]
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


FAMILY = ModelFamily(
    role=PerceptionRole.DETECTOR,
    architectures=(
        "OwlViTForObjectDetection",
        "Owlv2ForObjectDetection",
    ),
    build=build,
)
