"""The classifier in numpy gives what its network gives, and its crops hold what the box holds."""

import numpy as np
import pytest
import torch
from PIL import Image

from spatialstudio.adapters.stickers.training.scenes import SceneSettings, draw_scene, paint
from spatialstudio.application.evaluate.object_quality import object_classifier
from spatialstudio.domain.verdict import Box, box_around
from spatialstudio.science.quality.object_classifier import MARGIN, SIDE, crop
from tests.performance.object_classifier import read_classifier, to_tensor


@pytest.fixture
def painted():
    rng = np.random.default_rng(40)
    return [paint(draw_scene(rng, SceneSettings()), 128) for _ in range(10)]


def test_the_chances_are_those_of_the_network(painted):
    classifier, net = object_classifier(), read_classifier()
    for picture in painted:
        box = box_around(picture.masks[0])
        cut = torch.from_numpy(crop(picture.pixels, box)).permute(2, 0, 1)[None].float()
        with torch.inference_mode():
            wanted = net(cut / 127.5 - 1).softmax(-1)[0].numpy()
        np.testing.assert_allclose(classifier.chances(picture.pixels, box), wanted, atol=1e-4)


def test_a_crop_is_that_of_pillow(painted):
    picture = painted[0].pixels
    box = Box(left=30.2, top=41.5, right=77.9, bottom=80.1)
    half = max(box.width, box.height) * (0.5 + MARGIN)
    x, y = box.center_xy
    window = (x - half, y - half, x + half, y + half)
    wanted = Image.fromarray(picture).resize((SIDE, SIDE), Image.Resampling.BILINEAR, box=window)
    np.testing.assert_allclose(crop(picture, box), np.asarray(wanted, float), atol=2)


def test_a_box_at_the_edge_is_filled_with_the_edge():
    picture = np.zeros((64, 64, 3), np.uint8)
    picture[:10, :20] = 200
    cut = crop(picture, Box(left=0, top=0, right=20, bottom=10))
    assert cut[: SIDE // 2].mean() > 150


def test_chances_sum_to_one_and_know_painted_objects(painted):
    classifier = object_classifier()
    found = []
    for picture in painted:
        for placement, mask in zip(picture.scene.placements, picture.masks, strict=True):
            chances = classifier.chances(picture.pixels, box_around(mask))
            assert chances.sum() == pytest.approx(1, abs=1e-5)
            found.append(chances[placement.number])
    assert np.mean(found) > 0.9


def test_noise_is_not_recognised():
    noise = np.random.default_rng(1).integers(0, 256, (64, 64, 3), np.uint8)
    chances = object_classifier().chances(noise, Box(left=10, top=10, right=50, bottom=50))
    assert chances.max() < 0.9
    assert to_tensor([np.zeros((SIDE, SIDE, 3), np.uint8)]).shape == (1, 3, SIDE, SIDE)
