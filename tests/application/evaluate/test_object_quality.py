from dataclasses import replace

import numpy as np
import pytest

from spatialstudio.adapters.stickers.training.scenes import SceneSettings, draw_scene, paint
from spatialstudio.application.evaluate.object_quality import object_classifier, quality_of
from spatialstudio.domain.verdict import Detection, Perception, box_around
from tests.fakes import scene_of


@pytest.fixture
def seen():
    """A painted object, detected as the dog of the scene, and the number of its class."""
    painted = paint(draw_scene(np.random.default_rng(3), SceneSettings()), 128)
    number = painted.scene.placements[0].number
    detection = Detection(
        mention_id=scene_of().mentions[0].id,
        label=object_classifier().names[number],
        score=0.9,
        box=box_around(painted.masks[0]),
        detector_id="sticker-segmenter",
    )
    perception = Perception(
        image_sha256="",
        height=128,
        width=128,
        detections=(detection,),
        masks=(),
        detector_id="sticker-segmenter",
    )
    return painted.pixels, perception


def test_a_clean_object_scores_high_and_a_spoilt_one_lower(seen):
    picture, perception = seen
    noise = np.random.default_rng(1).normal(0, 60, picture.shape)
    spoilt = np.clip(picture + noise, 0, 255).astype(np.uint8)
    clean = quality_of(picture, scene_of(), perception)
    assert 0.8 < clean <= 1
    assert quality_of(spoilt, scene_of(), perception) < clean


def test_the_wrong_class_scores_low(seen):
    picture, perception = seen
    (found,) = perception.detections
    other = next(name for name in object_classifier().names if name != found.label)
    wrong = replace(perception, detections=(replace(found, label=other),))
    assert quality_of(picture, scene_of(), wrong) < 0.2


def test_without_a_detected_object_or_with_another_detector_there_is_no_score(seen):
    picture, perception = seen
    assert quality_of(picture, scene_of(), replace(perception, detections=())) is None
    assert quality_of(picture, scene_of(), replace(perception, detector_id="owl")) is None
