import numpy as np
import pytest

from spatialstudio.adapters.stickers.scene_layout import SceneSettings, draw_scene


def test_the_same_seed_draws_the_same_scene():
    first, second = (draw_scene(np.random.default_rng(3), SceneSettings()) for _ in range(2))
    assert first == second


def test_no_object_stands_twice_in_a_scene(random_scenes):
    numbers = [[placement.number for placement in scene.placements] for scene in random_scenes]
    assert all(len(set(row)) == len(row) for row in numbers)


def test_every_sticker_lies_inside_the_picture(random_scenes):
    placements = [placement for scene in random_scenes for placement in scene.placements]
    assert all(
        placement.size / 2 - 1e-9 <= place <= 1 - placement.size / 2 + 1e-9
        for placement in placements
        for place in (placement.x, placement.y)
    )


def test_both_orders_of_a_pair_are_about_equally_likely():
    rng = np.random.default_rng(5)
    settings = SceneSettings(count_weights=(0.0, 1.0, 0.0, 0.0))
    pairs = [draw_scene(rng, settings).placements for _ in range(600)]
    first_is_left = np.mean([first.x < second.x for first, second in pairs])
    assert first_is_left == pytest.approx(0.5, abs=0.07)


def test_on_a_ground_the_nearer_is_painted_later_and_larger():
    rng = np.random.default_rng(6)
    settings = SceneSettings(perspective_share=1.0, count_weights=(0.0, 0.0, 1.0, 0.0))
    scene = draw_scene(rng, settings)
    depths = [placement.depth for placement in scene.placements]
    sizes = [placement.size for placement in scene.placements]
    assert depths == sorted(depths, reverse=True)
    assert sizes == sorted(sizes)


def test_in_a_flat_scene_no_object_is_nearer():
    rng = np.random.default_rng(8)
    scene = draw_scene(rng, SceneSettings(perspective_share=0.0))
    assert len({placement.depth for placement in scene.placements}) == 1
