"""SAM 2: segmentation of the object in a box.

Source: Ravi et al. 2024, arXiv:2408.00714. Its image processor in transformers needs torchvision;
the steps for boxes are implemented here: square resize, ImageNet mean and deviation, scaled boxes.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from spatialstudio.adapters.models.model_settings import read_settings
from spatialstudio.adapters.perception.architectures.segment_anything import (
    best_masks,
    edges_of,
    mask_of,
)
from spatialstudio.adapters.perception.lazy_model import Loaded, ModelInUse
from spatialstudio.adapters.perception.model_catalog import ModelFamily
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import PerceptionCard, PerceptionRole
from spatialstudio.domain.verdict import Detection, Mask

if TYPE_CHECKING:
    from torch import Tensor

SETTINGS_FILES = ("preprocessor_config.json", "processor_config.json")
BRIGHTEST = 255


@frozen
class Preparation:
    """Preprocessing of a picture; the defaults are those of the published models.

    Attributes:
        side: Side of the square input, pixels.
        mean: Mean of the colours, red first, [0, 1].
        deviation: Standard deviation of the colours, red first, [0, 1].
    """

    side: int = 1024
    mean: tuple[float, ...] = (0.485, 0.456, 0.406)
    deviation: tuple[float, ...] = (0.229, 0.224, 0.225)


def build(card: PerceptionCard) -> "SegmentAnything2":
    """Create the segmenter of a model folder."""
    return SegmentAnything2(card)


class SegmentAnything2:
    """A box-prompted segmenter; implements ``Segmenter``."""

    def __init__(self, card: PerceptionCard) -> None:
        self._card = card
        self._model = ModelInUse(card, "Sam2Model", None)
        self.id = self._model.id

    @property
    def signature(self) -> str:
        """Model, weights and settings, which determine the output for a picture."""
        return self._model.signature(None)

    def segment(self, image: RgbImage, detections: Sequence[Detection]) -> tuple[Mask, ...]:
        """Segment every detection; see ``Segmenter``."""
        if not detections:
            return ()
        with self._model.looking() as loaded:
            masks = _masks(loaded, image, detections, read_preparation(self._card))
            return tuple(
                mask
                for detection, pixels in zip(detections, masks, strict=True)
                if (mask := mask_of(detection, pixels, self.id)).pixels.any()
            )


def read_preparation(card: PerceptionCard) -> Preparation:
    """Read the preprocessing settings of a model folder."""
    for name in SETTINGS_FILES:
        file = card.folder / name
        if file.is_file():
            lines = read_settings(file)
            lines = lines.get("image_processor", lines)
            return Preparation(
                side=int(lines["size"]["height"]),
                mean=tuple(lines["image_mean"]),
                deviation=tuple(lines["image_std"]),
            )
    return Preparation()


def _masks(
    loaded: Loaded,
    image: RgbImage,
    detections: Sequence[Detection],
    preparation: Preparation,
) -> "list[Tensor]":
    import torch
    from PIL import Image
    from torch.nn import functional

    height, width = image.shape[:2]
    side = preparation.side
    square = Image.fromarray(image).resize((side, side), Image.Resampling.BILINEAR)
    colours = np.asarray(square, np.float32) / BRIGHTEST
    colours = (colours - np.array(preparation.mean)) / np.array(preparation.deviation)
    pixels = torch.from_numpy(colours).float().permute(2, 0, 1)[None].contiguous()
    edges = torch.tensor([[edges_of(detection) for detection in detections]])
    embeddings = loaded.model.get_image_embeddings(pixels.to(loaded.device))
    answer = loaded.model(
        image_embeddings=embeddings,
        input_boxes=(edges * torch.tensor([side / width, side / height] * 2)).to(loaded.device),
    )
    chosen = best_masks(answer.pred_masks[0], answer.iou_scores[0])
    # NOTE: one at a time, since each mask has the size of the picture.
    return [
        functional.interpolate(mask[None, None], (height, width), mode="bilinear")[0, 0] > 0
        for mask in chosen
    ]


FAMILY = ModelFamily(
    role=PerceptionRole.SEGMENTER,
    architectures=(
        "Sam2Model",
        "Sam2VideoModel",
    ),
    build=build,
)
