"""SAM: segmentation of the object in a box.

Source: Kirillov et al. 2023, arXiv:2304.02643. Of the three masks per box, PSE's evaluation takes
the one with the highest predicted IoU. The picture is encoded once for all boxes.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spatialstudio.adapters.perception.lazy_model import (
    Loaded,
    ModelInUse,
    as_numpy,
)
from spatialstudio.adapters.perception.model_catalog import ModelFamily
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.ports import PerceptionCard, PerceptionRole
from spatialstudio.domain.verdict import Detection, Mask

if TYPE_CHECKING:
    from torch import Tensor


def build(card: PerceptionCard) -> "SegmentAnything":
    """Create the segmenter of a model folder."""
    return SegmentAnything(card)


class SegmentAnything:
    """A box-prompted segmenter; implements ``Segmenter``."""

    def __init__(self, card: PerceptionCard) -> None:
        self._model = ModelInUse(card, "SamModel", "AutoProcessor")
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
            return tuple(
                mask
                for detection, pixels in zip(
                    detections, _masks(loaded, image, detections), strict=True
                )
                if (mask := mask_of(detection, pixels, self.id)).pixels.any()
            )


def mask_of(detection: Detection, pixels: "Tensor", source_id: str) -> Mask:
    """Convert (H, W) bool pixels to the mask of a detection."""
    return Mask(
        mention_id=detection.mention_id,
        pixels=as_numpy(pixels),
        score=detection.score,
        source_id=source_id,
    )


def best_masks(masks: "Tensor", expected_fits: "Tensor") -> "Tensor":
    """Return the mask with the highest predicted IoU for each box.

    Args:
        masks: (boxes, masks, h, w).
        expected_fits: (boxes, masks), predicted IoU.

    Returns:
        (boxes, h, w).
    """
    best = expected_fits.argmax(-1)
    return masks[range(len(masks)), best]


def edges_of(detection: Detection) -> list[float]:
    """Return left, top, right, bottom; pixels."""
    box = detection.box
    return [box.left, box.top, box.right, box.bottom]


def _masks(loaded: Loaded, image: RgbImage, detections: Sequence[Detection]) -> "list[Tensor]":
    inputs = loaded.processor(
        images=image,
        input_boxes=[[edges_of(detection) for detection in detections]],
        input_data_format="channels_last",
        return_tensors="pt",
    )
    embeddings = loaded.model.get_image_embeddings(inputs["pixel_values"].to(loaded.device))
    answer = loaded(
        image_embeddings=embeddings,
        input_boxes=inputs["input_boxes"].float(),
    )
    chosen = best_masks(answer.pred_masks[0], answer.iou_scores[0])
    sizes = inputs["original_sizes"], inputs["reshaped_input_sizes"]
    # NOTE: one at a time, since each mask has the size of the picture.
    return [
        loaded.processor.image_processor.post_process_masks([mask[None, None]], *sizes)[0][0, 0]
        for mask in chosen.cpu()
    ]


FAMILY = ModelFamily(
    role=PerceptionRole.SEGMENTER,
    architectures=("SamModel",),
    build=build,
)
