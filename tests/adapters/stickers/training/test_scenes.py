import numpy as np
import pytest

from spatialstudio.adapters.stickers.training.scenes import BACKGROUND_DEPTH, paint
from spatialstudio.adapters.stickers.training.sprites import sticker
from spatialstudio.adapters.stickers.vocabulary import sticker_objects

SIDE = 128


@pytest.mark.parametrize("number", range(len(sticker_objects())))
def test_every_object_has_a_sticker_that_fills_its_box(number):
    alpha = sticker(number, 64)[..., 3]
    assert max(alpha.shape) == 64
    assert (alpha > 0.5).mean() > 0.15


def test_the_masks_lie_at_the_positions_of_the_objects(cat_left_of_car):
    cat, car = paint(cat_left_of_car, SIDE).masks
    assert np.argwhere(cat)[:, 1].max() < np.argwhere(car)[:, 1].min()


def test_masks_exclude_covered_pixels(dog_in_front_of_house):
    painted = paint(dog_in_front_of_house, SIDE)
    house, dog = painted.masks
    assert not (house & dog).any()
    assert (painted.depth[dog] == np.float32(0.2)).all()
    assert (painted.depth[house] == np.float32(0.6)).all()


def test_a_flat_background_is_farthest(cat_left_of_car):
    painted = paint(cat_left_of_car, SIDE)
    assert (painted.depth[~painted.masks.any(0)] == BACKGROUND_DEPTH).all()


def test_a_ground_is_nearer_towards_the_bottom(dog_in_front_of_house):
    column = paint(dog_in_front_of_house, SIDE).depth[:, 0]
    ground = column[40:]
    assert (np.diff(ground) < 0).all()
    assert column[0] == BACKGROUND_DEPTH


def test_most_of_every_object_is_visible(random_scenes):
    painted = [paint(scene, SIDE) for scene in random_scenes]
    seen = [mask.sum() for scene in painted for mask in scene.masks]
    whole = [
        (sticker(placement.number, round(placement.size * SIDE))[..., 3] > 0.5).sum()
        for scene in random_scenes
        for placement in scene.placements
    ]
    assert (np.array(seen) / np.array(whole)).min() > 0.6
