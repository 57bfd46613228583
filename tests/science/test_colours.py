import numpy as np
import pytest

from spatialstudio.domain.requirements import colour_named
from spatialstudio.science.colours import FOCAL_COLOURS, colour_chance, colour_shares, lab_of

SIDE = 10
ALL = np.ones((SIDE, SIDE), bool)


def painted(*parts):
    """A picture of vertical stripes: each a width in pixels and a colour."""
    stripes = [np.full((SIDE, width, 3), colour, np.uint8) for width, colour in parts]
    return np.concatenate(stripes, 1)


@pytest.mark.parametrize(
    ("colour", "name"),
    [
        ((0, 0, 0), "black"),
        ((255, 255, 255), "white"),
        ((128, 128, 128), "grey"),
        ((220, 20, 60), "red"),
        ((139, 0, 0), "red"),
        ((255, 140, 0), "orange"),
        ((255, 215, 0), "yellow"),
        ((34, 139, 34), "green"),
        ((65, 105, 225), "blue"),
        ((135, 206, 235), "blue"),
        ((128, 0, 128), "purple"),
        ((255, 105, 180), "pink"),
        ((139, 69, 19), "brown"),
    ],
)
def test_a_colour_has_its_everyday_name(colour, name):
    shares = colour_shares(painted((SIDE, colour)), ALL)
    assert shares[name] == 1
    assert sum(shares.values()) == 1


def test_the_chance_of_a_colour_is_relative_to_the_strongest_other():
    car = painted((6, (220, 0, 0)), (3, (0, 0, 0)), (1, (255, 255, 255)))
    shares = colour_shares(car, ALL)
    assert colour_chance(shares, ["red"]) == pytest.approx(6 / 9)
    assert colour_chance(shares, ["black"]) == pytest.approx(3 / 9)
    assert colour_chance(shares, ["blue"]) == 0


def test_a_colour_word_may_accept_several_terms():
    vase = painted((4, (0, 0, 220)), (5, (34, 139, 34)), (1, (255, 255, 255)))
    assert colour_chance(colour_shares(vase, ALL), ["blue", "green"]) == pytest.approx(0.9)


def test_only_the_pixels_of_the_mask_count():
    mask = ALL.copy()
    mask[:, 5:] = False
    shares = colour_shares(painted((5, (220, 0, 0)), (5, (0, 0, 220))), mask)
    assert colour_chance(shares, ["red"]) == 1


@pytest.mark.parametrize(
    ("word", "name"),
    [("red", "red"), ("Gray", "grey"), ("golden", "yellow"), ("wooden", None), ("", None)],
)
def test_colour_words_are_recognised(word, name):
    assert colour_named(word) == name


def test_there_are_eleven_terms():
    assert len(FOCAL_COLOURS) == 11


def test_white_and_black_are_the_ends_of_lightness():
    lab = lab_of(np.array([[1.0, 1, 1], [0, 0, 0], [1, 0, 0]]))
    assert lab == pytest.approx(np.array([[100, 0, 0], [0, 0, 0], [53.24, 80.09, 67.20]]), abs=0.02)
