import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from spatialstudio.domain.errors import EmptyMapError
from spatialstudio.domain.scene import Axis
from spatialstudio.science.pos.superiority import (
    Ties,
    apart_pos,
    distance_pos,
    gap_of,
    marginal,
    pos_beyond,
    probability_of_superiority,
)


@pytest.fixture
def left():
    """The first object of the golden vector: rows 5 to 8, columns 1 to 4 of 16."""
    weights = np.zeros((16, 16))
    weights[5:9, 1:5] = 1
    return weights


@pytest.fixture
def right():
    weights = np.zeros((16, 16))
    weights[5:9, 10:14] = 1
    return weights


@pytest.fixture
def distributions():
    drawn = np.random.default_rng(1).random((2, 9))
    return drawn / drawn.sum(-1, keepdims=True)


@pytest.mark.parametrize(
    ("axis", "is_swapped", "expected"),
    [(Axis.X, False, 1), (Axis.X, True, 0), (Axis.Y, False, 0), (Axis.Y, True, 0)],
    ids=["left", "right", "above", "below"],
)
def test_the_golden_vector_is_reproduced(left, right, axis, is_swapped, expected):
    first, second = (right, left) if is_swapped else (left, right)
    assert pos_beyond(marginal(first, axis), marginal(second, axis), 5) == expected


@given(gap=st.integers(min_value=0, max_value=12))
def test_it_is_the_sum_over_all_pairs_that_far_apart(gap):
    first, second = np.random.default_rng(2).dirichlet(np.ones(9), size=2)
    expected = sum(first[u] * second[v] for u in range(9) for v in range(9) if u + gap < v)
    assert pos_beyond(first, second, gap) == pytest.approx(expected, abs=1e-12)


def test_without_a_gap_it_is_strict_superiority(distributions):
    strict = probability_of_superiority(*distributions, Ties.STRICT)
    assert pos_beyond(*distributions, 0) == pytest.approx(strict)


def test_distance_adds_all_four_directions(left, right):
    assert distance_pos(left, right) == pytest.approx(1)
    assert distance_pos(left, left) == 0


def test_opposite_corners_are_apart_along_both_axes():
    first, second = np.zeros((2, 16, 16))
    first[0, 0] = second[15, 15] = 1
    assert distance_pos(first, second) == 2
    assert apart_pos(first, second) == 1


def test_apart_combines_the_axes_as_independent_events():
    first, second = np.random.default_rng(3).random((2, 16, 16))
    both = [
        pos_beyond(marginal(one, axis), marginal(other, axis), 5)
        for axis in (Axis.X, Axis.Y)
        for one, other in ((first, second), (second, first))
    ]
    expected = 1 - (1 - both[0] - both[1]) * (1 - both[2] - both[3])
    assert apart_pos(first, second) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("width", "gap"), [(16, 5), (32, 10), (64, 20), (24, 7), (128, 40), (2, 0)]
)
def test_the_gap_is_a_share_of_the_width(width, gap):
    assert gap_of(width) == gap


def test_numpy_and_torch_agree():
    first, second = np.random.default_rng(4).random((2, 3, 12, 16))
    on_torch = distance_pos(torch.from_numpy(first), torch.from_numpy(second))
    assert on_torch.numpy() == pytest.approx(distance_pos(first, second))


def test_an_empty_map_is_rejected(left):
    with pytest.raises(EmptyMapError):
        distance_pos(left, np.zeros((16, 16)))
