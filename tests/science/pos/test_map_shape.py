from math import exp

import pytest
import torch

from spatialstudio.domain.scene import Axis
from spatialstudio.science.pos.map_shape import compactness, exclusivity, peaks, spread_of, unity


def spot(rows, columns, height=1.0, side=8):
    weights = torch.zeros(side, side)
    weights[rows, columns] = height
    return weights


TOP_LEFT = spot(slice(0, 3), slice(0, 3))
BOTTOM_RIGHT = spot(slice(5, 8), slice(5, 8))


def test_words_in_different_places_have_them_to_themselves():
    assert exclusivity([TOP_LEFT, BOTTOM_RIGHT]).tolist() == [1, 1]


@pytest.mark.parametrize("count", [2, 3, 5])
def test_words_that_attend_alike_share_their_places(count):
    assert exclusivity([TOP_LEFT] * count).tolist() == pytest.approx([1 / count] * count)


def test_a_faint_map_under_that_of_another_word_is_lost():
    faint, strong = exclusivity([0.1 * TOP_LEFT, 0.9 * TOP_LEFT])
    assert faint.item() == pytest.approx(0.1)
    assert strong.item() == pytest.approx(0.9)


def test_exclusivity_does_not_depend_on_the_scale_of_attention():
    maps = [torch.rand(8, 8, generator=torch.manual_seed(number)) for number in range(3)]
    assert exclusivity([7 * each for each in maps]).tolist() == pytest.approx(
        exclusivity(maps).tolist()
    )


def test_an_empty_map_is_not_exclusive():
    assert exclusivity([torch.zeros(8, 8), TOP_LEFT]).tolist() == [0, 1]


def test_the_floor_of_a_map_does_not_move_its_centroid_after_taking_its_peaks():
    place = spread_of(peaks(TOP_LEFT + 0.02)).centroid
    assert {axis: each.item() for axis, each in place.items()} == pytest.approx(
        {Axis.X: 1.5 / 8, Axis.Y: 1.5 / 8}
    )


def test_a_constant_map_keeps_its_mass():
    assert peaks(torch.ones(8, 8)).sum() == 64


def test_compactness_is_the_mass_above_the_mean():
    assert compactness(TOP_LEFT).item() == pytest.approx(1 - 9 / 64)


def test_unity_is_the_share_of_the_densest_place():
    one, two = spot(1, 1, side=32), spot(1, 1, side=32) + spot(30, 30, side=32)
    assert unity(one, 0.1).item() == pytest.approx(1)
    assert unity(two, 0.1).item() == pytest.approx(1 / 2)
    assert unity(3 * two + 0.02, 0.1).item() == pytest.approx(1 / 2)
    assert unity(spot(1, 1, side=32) + spot(30, 30, height=3, side=32), 0.1) == pytest.approx(
        3 / 4, abs=1e-3
    )


def test_unity_measures_along_the_sides_of_a_wide_map():
    wide = torch.zeros(8, 32)
    wide[4, 4] = wide[4, 12] = 1  # a quarter of the width apart
    assert unity(wide, 0.25).item() == pytest.approx(exp(-1 / 8))  # from the middle


def test_a_constant_map_has_a_unity():
    assert 0 < unity(torch.ones(16, 16), 0.2) < 0.5
