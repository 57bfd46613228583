import numpy as np
import pytest
import torch

from spatialstudio.adapters.perception.architectures.segment_anything import best_masks
from spatialstudio.domain.ports import PerceptionRole

SEGMENTERS = ("sam", "sam2")


@pytest.fixture(params=SEGMENTERS)
def segmenter(request, made):
    return made(request.param, PerceptionRole.SEGMENTER)


def test_every_box_gets_the_mask_of_its_detection(segmenter, picture, detections):
    masks = segmenter.segment(picture, detections)
    assert 0 < len(masks) <= 3
    assert {mask.pixels.shape for mask in masks} == {(48, 80)}
    assert {mask.score for mask in masks} <= {found.score for found in detections}
    assert {mask.source_id for mask in masks} == {segmenter.id}


def test_a_box_gets_the_same_mask_alone_and_among_others(segmenter, picture, detections):
    together = segmenter.segment(picture, detections)
    alone = segmenter.segment(picture, detections[:1])
    np.testing.assert_array_equal(together[0].pixels, alone[0].pixels)


def test_the_picture_is_encoded_once_for_all_boxes(segmenter, picture, detections):
    segmenter.segment(picture, detections)
    encoder = segmenter._model._loaded.model.vision_encoder
    encoded = []
    encoder.register_forward_hook(lambda *_: encoded.append(1))
    segmenter.segment(picture, detections)
    assert encoded == [1]


def test_without_boxes_no_model_is_loaded(segmenter, picture):
    assert segmenter.segment(picture, ()) == ()
    assert segmenter._model._loaded is None


def test_the_mask_of_highest_predicted_iou_is_chosen():
    masks = torch.arange(6).reshape(2, 3, 1, 1)
    fits = torch.tensor([[0.1, 0.9, 0.2], [0.7, 0.1, 0.2]])
    assert best_masks(masks, fits).flatten().tolist() == [1, 3]
