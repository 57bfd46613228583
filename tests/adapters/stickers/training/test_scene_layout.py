import numpy as np
import pytest

from spatialstudio.adapters.stickers.training.backgrounds import PLACES
from spatialstudio.adapters.stickers.training.scenes import SceneSettings, draw_scene
from spatialstudio.adapters.stickers.training.sprites import height_share


@pytest.fixture
def four_on_a_ground():
    settings = SceneSettings(perspective_share=1.0, count_weights=(0.0, 0.0, 0.0, 1.0))
    return draw_scene(np.random.default_rng(6), settings).placements


def edges_of(placement):
    """Left, top, right and lower edge; no sticker is wider than its size."""
    half_width, half_height = (
        placement.size / 2,
        placement.size * height_share(placement.number) / 2,
    )
    return (
        placement.x - half_width,
        placement.y - half_height,
        placement.x + half_width,
        placement.y + half_height,
    )


def test_the_same_seed_draws_the_same_scene():
    first, second = (draw_scene(np.random.default_rng(3), SceneSettings()) for _ in range(2))
    assert first == second


def test_no_object_appears_twice_in_a_scene(random_scenes):
    numbers = [[placement.number for placement in scene.placements] for scene in random_scenes]
    assert all(len(set(row)) == len(row) for row in numbers)


def test_every_sticker_lies_inside_the_picture(random_scenes):
    edges = [edges_of(placement) for scene in random_scenes for placement in scene.placements]
    assert np.min(edges) > -1e-9
    assert np.max(edges) < 1 + 1e-9


def test_both_orders_of_a_pair_are_about_equally_likely():
    rng = np.random.default_rng(5)
    settings = SceneSettings(count_weights=(0.0, 1.0, 0.0, 0.0))
    pairs = [draw_scene(rng, settings).placements for _ in range(600)]
    first_is_left = np.mean([first.x < second.x for first, second in pairs])
    assert first_is_left == pytest.approx(0.5, abs=0.07)


def test_on_a_ground_the_nearer_object_is_drawn_later_larger_and_lower(four_on_a_ground):
    depths = [placement.depth for placement in four_on_a_ground]
    sizes = [placement.size for placement in four_on_a_ground]
    feet = [edges_of(placement)[3] for placement in four_on_a_ground]
    assert depths == sorted(depths, reverse=True)
    assert sizes == sorted(sizes)
    assert feet == sorted(feet)


def test_on_a_ground_all_depths_are_clearly_different(four_on_a_ground):
    depths = [placement.depth for placement in four_on_a_ground]
    assert np.diff(depths).max() < -0.17


def test_in_a_flat_scene_no_object_is_nearer():
    rng = np.random.default_rng(8)
    scene = draw_scene(rng, SceneSettings(perspective_share=0.0))
    assert len({placement.depth for placement in scene.placements}) == 1


def test_a_place_appears_with_its_probability():
    rng = np.random.default_rng(10)
    places = [draw_scene(rng, SceneSettings()).backdrop.place for _ in range(600)]
    assert np.mean([place is not None for place in places]) == pytest.approx(0.4, abs=0.07)
    assert set(places) == {None, *PLACES}


def test_boxes_are_aligned_to_the_grid(random_scenes):
    cells = SceneSettings().grid
    boxes = [
        (placement.size, placement.x - placement.size / 2, placement.y - placement.size / 2)
        for scene in random_scenes
        for placement in scene.placements
    ]
    np.testing.assert_allclose(np.multiply(boxes, cells) % 1, 0, atol=1e-9)
