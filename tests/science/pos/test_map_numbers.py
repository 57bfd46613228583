import numpy as np
import pytest

from spatialstudio.science.pos.map_numbers import entropies, map_numbers, map_overlap, overlaps

EMPTY = np.zeros((2, 2), np.float32)
ALIKE = np.ones((2, 4), np.float32)
CORNER = np.array([[3, 0], [0, 0]], np.float32)
TOP = np.array([[1, 1], [0, 0]], np.float32)


def test_one_cell_has_zero_entropy_and_spread():
    numbers = map_numbers(CORNER)
    assert numbers.entropy == 0
    assert numbers.centre_xy == (0.25, 0.25)
    assert numbers.spread == 0


def test_eight_equal_cells_have_three_bits():
    numbers = map_numbers(ALIKE)
    assert numbers.entropy == pytest.approx(3)
    assert numbers.centre_xy == pytest.approx((0.5, 0.5))


def test_the_spread_adds_both_axes():
    # Along x: 1/8, 3/8, 5/8, 7/8 alike, variance 5/64. Along y: 1/4, 3/4 alike, variance 1/16.
    assert map_numbers(ALIKE).spread == pytest.approx((5 / 64 + 1 / 16) ** 0.5)


def test_three_to_one_is_computed_by_hand():
    # Shares 3/4 and 1/4: entropy 2 - 3/4 log2 3; centre x = 3/4 * 1/4 + 1/4 * 3/4.
    numbers = map_numbers(np.array([[3, 1]], np.float32))
    assert numbers.entropy == pytest.approx(2 - 0.75 * np.log2(3))
    assert numbers.centre_xy == pytest.approx((0.375, 0.5))
    assert numbers.spread == pytest.approx((0.75 * 0.125**2 + 0.25 * 0.375**2) ** 0.5)


def test_the_scale_of_a_map_does_not_matter():
    assert map_numbers(7 * ALIKE) == map_numbers(ALIKE)


def test_an_empty_map_has_no_numbers():
    assert map_numbers(EMPTY) is None


@pytest.mark.parametrize(
    ("first", "second", "shared"),
    [
        (CORNER, CORNER, 1.0),
        (CORNER, TOP, 0.5),
        (CORNER, np.flip(CORNER), 0.0),
        (CORNER, EMPTY, None),
        (CORNER, ALIKE, None),
    ],
    ids=["same", "half", "apart", "empty", "other shape"],
)
def test_overlap_is_the_shared_mass(first, second, shared):
    assert map_overlap(first, second) == shared
    assert map_overlap(second, first) == shared


def test_many_maps_are_measured_like_single_ones():
    maps = np.stack([ALIKE[:, :2], CORNER, TOP])
    assert entropies(maps) == pytest.approx([map_numbers(each).entropy for each in maps])
    expected = [map_overlap(each, TOP) for each in maps]
    assert overlaps(maps, np.broadcast_to(TOP, maps.shape)) == pytest.approx(expected)


def test_empty_maps_among_many_have_no_numbers():
    maps = np.stack([EMPTY, TOP])
    assert np.isnan(entropies(maps)).tolist() == [True, False]
    assert np.isnan(overlaps(maps, maps[::-1])).tolist() == [True, True]
