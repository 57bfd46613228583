from dataclasses import replace

import numpy as np
import pytest
import torch
import transformers

from spatialstudio.adapters.perception.architectures import closed_vocabulary, grounding_dino
from spatialstudio.adapters.perception.detector import CandidateSettings
from spatialstudio.adapters.perception.model_catalog import Place, read_card
from tests.adapters.perception.tiny_models import CLASSES

DETECTORS = (
    *("grounding-dino", "owlvit", "owlv2", "detr", "rt-detr"),
    *("clipseg", "mask2former", "mask2former-panoptic"),
)
EVERYTHING = CandidateSettings(cut=0.5, floor=0.0)


@pytest.mark.parametrize("name", DETECTORS)
def test_detections_belong_to_mentions_and_lie_within_the_picture(made, name, picture, mentions):
    seen = made(name).detect(picture, mentions)
    assert {found.mention_id for found in seen.detections} <= {"m1", "m2"}
    assert {found.detector_id for found in seen.detections} <= {name}
    boxes = [found.box for found in seen.detections]
    assert all(0 <= box.left < box.right <= 80 and 0 <= box.top < box.bottom <= 48 for box in boxes)
    assert all(0 <= found.score <= 1 for found in seen.detections)
    assert 0 < seen.cut < 1
    assert seen.unknown_heads == ()


@pytest.mark.parametrize("name", ["clipseg", "mask2former"])
def test_a_detector_that_draws_masks_draws_one_for_each_box(made, name, picture, mentions):
    seen = made(name).detect(picture, mentions)
    assert seen.masks
    assert [mask.score for mask in seen.masks] == [found.score for found in seen.detections]
    assert {mask.pixels.shape for mask in seen.masks} == {(48, 80)}


@pytest.mark.parametrize("name", ["grounding-dino", "owlv2", "rt-detr", "clipseg"])
def test_the_smallest_picture_is_accepted(made, name, mentions):
    seen = made(name).detect(np.zeros((1, 1, 3), np.uint8), mentions)
    assert all(found.box.right <= 1 for found in seen.detections)


@pytest.mark.parametrize("name", ["grounding-dino", "owlvit", "detr", "clipseg"])
def test_without_mentions_nothing_is_detected(made, name, picture):
    assert made(name).detect(picture, ()).detections == ()


def test_an_unknown_class_is_reported_and_the_others_are_detected(made, picture, mentions):
    seen = made("mask2former").detect(picture, mentions[:1])
    from_car = made("mask2former").detect(
        picture, (mentions[0], _renamed(mentions[1], "spaceship"))
    )
    assert from_car.unknown_heads == ("spaceship",)
    assert [f.score for f in from_car.detections] == [f.score for f in seen.detections]


def test_a_synonym_finds_its_class(made, picture, mentions):
    motorcycle = made("mask2former").detect(picture, [_renamed(mentions[0], "motorcycle")])
    assert motorcycle.unknown_heads == ()
    assert {found.label for found in motorcycle.detections} <= {"motorbike"}


def test_two_mentions_of_one_class_get_the_same_detections(made, picture, mentions):
    seen = made("grounding-dino").detect(
        picture, [_renamed(mention, "dog") for mention in mentions]
    )
    first, second = (
        [found.box for found in seen.detections if found.mention_id == name]
        for name in ("m1", "m2")
    )
    assert first == second != []


@pytest.mark.parametrize(
    ("name", "kind"), [("grounding-dino", grounding_dino), ("detr", closed_vocabulary)]
)
def test_candidates_are_kept_above_the_floor_and_counted_above_the_threshold(
    models, name, kind, picture, mentions
):
    card = read_card(Place(name=name, folder=models(name)))
    few = kind.build(card, CandidateSettings(cut=0.5, floor=0.0, most=3)).detect(
        picture, mentions[:1]
    )
    many = kind.build(card, EVERYTHING).detect(picture, mentions[:1])
    assert few.detections == many.detections[:3]
    assert few.cut == 0.5


def test_scores_and_boxes_equal_the_processor_of_the_model(models, picture, mentions):
    folder = models("detr")
    detector = closed_vocabulary.build(read_card(Place(name="detr", folder=folder)), EVERYTHING)
    seen = detector.detect(picture, [_renamed(mentions[0], name) for name in CLASSES])
    processor = transformers.AutoImageProcessor.from_pretrained(folder)
    model = transformers.AutoModelForObjectDetection.from_pretrained(folder).eval()
    with torch.inference_mode():
        answer = model(**processor(images=picture, return_tensors="pt"))
    (expected,) = processor.post_process_object_detection(
        answer, threshold=0.0, target_sizes=[(48, 80)]
    )
    best = int(expected["scores"].argmax())
    found = max(seen.detections, key=lambda detection: detection.score)
    assert found.score == pytest.approx(float(expected["scores"][best]), abs=1e-6)
    assert found.label == CLASSES[int(expected["labels"][best])]
    edges = [found.box.left, found.box.top, found.box.right, found.box.bottom]
    np.testing.assert_allclose(edges, expected["boxes"][best], atol=1e-4)


def test_a_model_is_loaded_once(made, picture, mentions, monkeypatch):
    detector = made("owlvit")
    first = detector.detect(picture, mentions)
    monkeypatch.setattr(detector._model, "_load", None)
    assert detector.detect(picture, mentions).detections == first.detections


def _renamed(mention, head):
    return replace(mention, head=head)
