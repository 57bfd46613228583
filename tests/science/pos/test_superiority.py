from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from spatialstudio.domain.errors import EmptyMapError
from spatialstudio.domain.scene import Axis
from spatialstudio.science.pos.superiority import (
    Ties,
    marginal,
    probability_of_superiority,
    projected_pos,
    pse_from_pos,
)

SIDES = st.integers(min_value=1, max_value=6)
BOTH = (Axis.X, Axis.Y)
AXES = pytest.mark.parametrize("axis", BOTH, ids=["x", "y"])


@st.composite
def pairs_of_maps(draw):
    shape = draw(SIDES), draw(SIDES)
    thousandths = arrays(np.int64, shape, elements=st.integers(min_value=0, max_value=1000))
    maps = thousandths.filter(np.any).map(lambda drawn: drawn / 1000)
    return draw(maps), draw(maps)


def mask(height, width, rows, columns):
    drawn = np.zeros((height, width), dtype=bool)
    drawn[slice(*rows), columns] = True
    return drawn


LEFT_HALF, RIGHT_HALF = mask(8, 8, (0, 8), range(4)), mask(8, 8, (0, 8), range(4, 8))
SMALL = mask(8, 8, (2, 4), range(1, 3))
PAIRS = {
    "apart": (LEFT_HALF, RIGHT_HALF),
    "overlapping": (mask(8, 8, (0, 8), range(5)), mask(8, 8, (0, 8), range(3, 8))),
    "the same": (SMALL, SMALL),
    "not square": (mask(6, 10, (0, 2), range(6, 9)), mask(6, 10, (3, 6), range(7))),
    "astride": (mask(8, 8, (0, 8), [0, 7]), mask(8, 8, (0, 8), range(3, 5))),
}


def parts_of(first, second, axis):
    """P(first after second), P(same place), P(first before second)."""
    after = projected_pos(second, first, axis, Ties.STRICT)
    before = projected_pos(first, second, axis, Ties.STRICT)
    same = projected_pos(first, second, axis, Ties.INCLUSIVE) - before
    return float(after), float(same), float(before)


def pse(first, second, axis):
    return pse_from_pos(projected_pos(first, second, axis))


def brute_force_pos(first, second, share_of_ties):
    return sum(
        p * q * ((u < v) + share_of_ties * (u == v))
        for u, p in enumerate(first)
        for v, q in enumerate(second)
    )


@pytest.mark.parametrize(
    ("name", "along_x", "along_y"),
    [
        ("apart", (0, 0, 1), (0.4375, 0.125, 0.4375)),
        ("overlapping", (0.04, 0.08, 0.88), (0.4375, 0.125, 0.4375)),
        ("the same", (0.25, 0.5, 0.25), (0.25, 0.5, 0.25)),
        ("not square", (0.952381, 0.047619, 0), (0, 0, 1)),
        ("astride", (0.5, 0, 0.5), (0.4375, 0.125, 0.4375)),
    ],
)
def test_the_authors_values_are_reproduced(name, along_x, along_y):
    assert parts_of(*PAIRS[name], Axis.X) == pytest.approx(along_x, abs=1e-6)
    assert parts_of(*PAIRS[name], Axis.Y) == pytest.approx(along_y, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "left", "right", "above", "below"),
    [
        ("apart", 1, 0, 0, 0),
        ("overlapping", 0.84, 0, 0, 0),
        ("the same", 0, 0, 0, 0),
        ("not square", 0, 0.952381, 1, 0),
        ("astride", 0, 0, 0, 0),
    ],
)
def test_the_authors_scores_are_reproduced(name, left, right, above, below):
    first, second = PAIRS[name]
    assert pse(first, second, Axis.X) == pytest.approx(left, abs=1e-6)
    assert pse(second, first, Axis.X) == pytest.approx(right, abs=1e-6)
    assert pse(first, second, Axis.Y) == pytest.approx(above, abs=1e-6)
    assert pse(second, first, Axis.Y) == pytest.approx(below, abs=1e-6)


@given(pair=pairs_of_maps())
def test_pos_is_the_sum_over_all_pairs_of_positions(pair):
    for axis, ties in product(BOTH, Ties):
        first, second = (marginal(weights, axis) for weights in pair)
        expected = brute_force_pos(first, second, ties.value)
        assert probability_of_superiority(first, second, ties) == pytest.approx(expected, abs=1e-12)


@given(pair=pairs_of_maps())
def test_before_after_and_tie_sum_to_one_and_swapping_complements_pos(pair):
    first, second = pair
    for axis in BOTH:
        assert sum(parts_of(*pair, axis)) == pytest.approx(1)
        there, back = projected_pos(first, second, axis), projected_pos(second, first, axis)
        assert there + back == pytest.approx(1)


@given(pair=pairs_of_maps())
def test_mirroring_turning_and_transposing_the_picture_swap_its_sides(pair):
    first, second = pair
    mirrored = projected_pos(first[:, ::-1], second[:, ::-1], Axis.X)
    assert mirrored == pytest.approx(projected_pos(second, first, Axis.X))
    turned = projected_pos(first[::-1], second[::-1], Axis.Y)
    assert turned == pytest.approx(projected_pos(second, first, Axis.Y))
    transposed = projected_pos(first.T, second.T, Axis.X)
    assert transposed == pytest.approx(projected_pos(first, second, Axis.Y))


@given(pair=pairs_of_maps(), factor=st.floats(min_value=1e-3, max_value=1e3))
def test_the_mass_of_a_map_does_not_matter(pair, factor):
    first, second = pair
    for axis in BOTH:
        scaled = projected_pos(factor * first, second, axis)
        assert scaled == pytest.approx(projected_pos(first, second, axis))


@given(pair=pairs_of_maps())
def test_numpy_and_torch_agree(pair):
    for axis in BOTH:
        on_torch = projected_pos(*(torch.from_numpy(weights) for weights in pair), axis)
        assert on_torch.item() == pytest.approx(projected_pos(*pair, axis), abs=1e-12)


@AXES
def test_a_batch_is_computed_at_once(axis):
    first, second = np.random.default_rng(0).random((2, 3, 4, 5, 7))
    alone = projected_pos(first[2, 1], second[2, 1], axis)
    assert projected_pos(first, second, axis)[2, 1] == pytest.approx(alone)


def test_pos_of_separate_objects_is_exactly_one():
    assert projected_pos(LEFT_HALF, RIGHT_HALF, Axis.X) == 1
    assert projected_pos(RIGHT_HALF, LEFT_HALF, Axis.X) == 0


def test_x_is_the_width_and_y_the_height():
    weights = np.ones((3, 5))
    assert marginal(weights, Axis.X).shape == (5,)
    assert marginal(weights, Axis.Y).shape == (3,)


@AXES
@pytest.mark.parametrize("convert", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
def test_an_empty_map_is_rejected(axis, convert):
    with pytest.raises(EmptyMapError):
        marginal(convert(np.zeros((4, 4))), axis)


def test_one_empty_map_in_a_batch_is_rejected():
    maps = np.stack([np.ones((4, 4)), np.zeros((4, 4))])
    with pytest.raises(EmptyMapError):
        marginal(maps, Axis.X)


def test_a_map_with_nan_is_rejected():
    with pytest.raises(EmptyMapError):
        marginal(np.full((4, 4), np.nan), Axis.X)


@pytest.mark.parametrize(("pos", "pse"), [(0.0, 0), (0.5, 0), (0.75, 0.5), (1.0, 1)])
def test_pse_counts_only_the_lead(pos, pse):
    assert pse_from_pos(pos) == pse
    assert pse_from_pos(torch.tensor(pos)) == pse
