import numpy as np
import pytest

from spatialstudio.adapters.stickers.training.backgrounds import (
    PLACES,
    Backdrop,
    draw_background,
)
from tests.strange_backgrounds import draw_strange_background

SIDE = 64
HORIZONS = pytest.mark.parametrize("horizon", [None, 0.35], ids=["flat", "ground"])
PAINTERS = pytest.mark.parametrize("painter", [draw_background, draw_strange_background])


@HORIZONS
@pytest.mark.parametrize("place", [None, *PLACES])
def test_every_background_is_a_picture(place, horizon):
    picture = draw_background(Backdrop(seed=4, horizon=horizon, place=place), SIDE)
    assert picture.shape == (SIDE, SIDE, 3)
    assert picture.dtype == np.float32
    assert picture.min() >= 0
    assert picture.max() <= 255


@HORIZONS
@PAINTERS
def test_the_same_seed_draws_the_same_background(painter, horizon):
    first, second = (painter(Backdrop(seed=5, horizon=horizon), SIDE) for _ in range(2))
    assert (first == second).all()


@PAINTERS
def test_another_seed_draws_another_background(painter):
    first, second = (painter(Backdrop(seed=seed), SIDE) for seed in (6, 7))
    assert np.abs(first - second).mean() > 5


def test_no_two_places_look_alike():
    pictures = np.stack([mean_picture(place) for place in PLACES])
    apart = np.abs(pictures[:, None] - pictures[None]).mean((2, 3, 4))
    assert (apart + 255 * np.eye(len(PLACES))).min() > 12


def test_a_place_is_recognised_in_spite_of_its_tints():
    places = list(PLACES)
    means = np.stack([mean_picture(place) for place in places])
    fresh = np.stack([draw_background(Backdrop(seed=99, place=place), SIDE) for place in places])
    nearest = np.abs(fresh[:, None] - means[None]).mean((2, 3, 4)).argmin(1)
    assert nearest.tolist() == list(range(len(places)))


def mean_picture(place):
    return np.mean(
        [draw_background(Backdrop(seed=seed, place=place), SIDE) for seed in range(8)], axis=0
    )
