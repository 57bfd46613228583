"""CLIPSeg detector: connected regions of its text-conditioned heat map count as instances.

Source: Lueddecke and Ecker 2022, arXiv:2112.10003. It cannot separate touching instances.
"""

from collections.abc import Sequence

from spatialstudio.adapters.perception.detector import (
    CandidateSettings,
    Finding,
    ModelDetector,
    open_vocabulary,
    resized_smoothly,
)
from spatialstudio.adapters.perception.lazy_model import (
    Loaded,
    ModelInUse,
    as_numpy,
    pixels_of,
)
from spatialstudio.adapters.perception.model_catalog import ModelFamily
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import PerceptionCard, PerceptionRole


@frozen
class RegionSettings(CandidateSettings):
    """Thresholds for regions.

    Attributes:
        least_value: Minimum pixel value of a region, [0, 1].
        least_area: Smallest region, share of the picture, [0, 1].
    """

    least_value: float = 0.25
    least_area: float = 0.002


RECOMMENDED = RegionSettings(cut=0.4)


def build(card: PerceptionCard) -> ModelDetector[RegionSettings]:
    """Create the detector of a model folder; a region's score is its highest value."""
    model = ModelInUse(card, "CLIPSegForImageSegmentation", "AutoProcessor")
    return ModelDetector(model, RECOMMENDED, open_vocabulary(_instances))


def _instances(
    loaded: Loaded, image: RgbImage, heads: Sequence[str], settings: RegionSettings
) -> list[Finding]:
    from spatialstudio.adapters.mask_regions import connected_regions
    from spatialstudio.domain.verdict import box_around

    words = loaded.processor.tokenizer(
        [f"a photo of a {head}" for head in heads],
        padding=True,
        truncation=True,
        max_length=loaded.model.config.text_config.max_position_embeddings,
        return_tensors="pt",
    )
    pixels = pixels_of(loaded.processor.image_processor, image)["pixel_values"]
    answer = loaded(**words, pixel_values=pixels.expand(len(heads), -1, -1, -1))
    grids = as_numpy(answer.logits.reshape(len(heads), *answer.logits.shape[-2:]).sigmoid())
    instances = []
    for head, grid in zip(heads, grids, strict=True):
        values = resized_smoothly(grid, image.shape[:2])
        least_pixels = settings.least_area * values.size
        for region in connected_regions(values >= settings.least_value, least_pixels):
            score = float(values[region].max())
            instances.append(
                Finding(head=head, label=head, score=score, box=box_around(region), pixels=region)
            )
    return instances


FAMILY = ModelFamily(
    role=PerceptionRole.DETECTOR,
    architectures=("CLIPSegForImageSegmentation",),
    build=build,
)
