"""The judge by sprites knows the painted truth."""

import numpy as np
import pytest

from spatialstudio.adapters.stickers.training.backgrounds import Backdrop
from spatialstudio.adapters.stickers.training.scenes import (
    Placement,
    Scene,
    SceneSettings,
    draw_scene,
    paint,
)
from spatialstudio.adapters.stickers.vocabulary import object_number
from tests.performance.match_sprites import find_sprite, is_nearer

SIDE = 128
PAIRS_ON_GROUND = SceneSettings(perspective_share=1.0, count_weights=(0.0, 1.0, 0.0, 0.0))


@pytest.fixture(scope="module")
def pairs():
    """Twelve pairs on a ground; the farther is painted first."""
    rng = np.random.default_rng(31)
    return [paint(draw_scene(rng, PAIRS_ON_GROUND), SIDE) for _ in range(12)]


def numbers_of(painted):
    return [placement.number for placement in painted.scene.placements]


def test_the_nearer_of_two_objects_is_found(pairs):
    told = [is_nearer(pair.pixels, *numbers_of(pair)) for pair in pairs]
    assert told.count(False) >= len(pairs) - 1


def test_place_and_size_of_a_sprite_are_found():
    cat = Placement(number=object_number("cat"), x=0.4, y=0.6, size=0.4, depth=0.6)
    painted = paint(Scene(placements=(cat,), backdrop=Backdrop(seed=3)), SIDE)
    match = find_sprite(painted.pixels, cat.number)
    assert match.foot == pytest.approx(np.argwhere(painted.masks[0])[:, 0].max() / SIDE, abs=0.03)
    assert match.size == pytest.approx(cat.size, rel=0.1)
