"""The stored classifier knows painted objects, and its crops hold what the box holds."""

import numpy as np
import pytest

from spatialstudio.adapters.stickers.training.scenes import SceneSettings, draw_scene, paint
from spatialstudio.domain.verdict import Box, box_around
from tests.performance.object_classifier import (
    SIDE,
    class_chances,
    crop,
    read_classifier,
)


@pytest.fixture
def random_scenes():
    rng = np.random.default_rng(40)
    return [draw_scene(rng, SceneSettings()) for _ in range(25)]


def test_a_box_at_the_edge_is_filled_up_to_a_square():
    picture = np.zeros((64, 64, 3), dtype=np.uint8)
    picture[:10, :20] = 200
    cut = crop(picture, Box(left=0, top=0, right=20, bottom=10))
    assert cut.shape == (SIDE, SIDE, 3)
    assert cut[: SIDE // 2].mean() > 150


def test_painted_objects_are_recognised_with_certainty(random_scenes):
    net = read_classifier()
    chances = [
        class_chances(net, painted.pixels, box_around(mask))[placement.number]
        for painted in (paint(scene, 128) for scene in random_scenes)
        for placement, mask in zip(painted.scene.placements, painted.masks, strict=True)
    ]
    assert np.mean(chances) > 0.9
