import numpy as np
import pytest

from spatialstudio.domain.errors import EmptyMapError
from spatialstudio.science.pos.superiority import depth_pos

LEFT = np.array([[True, True, False, False]])
RIGHT = ~LEFT


def depth(*values):
    return np.array([values], dtype=np.float32)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((1, 2, 3, 4), 1),
        ((3, 4, 1, 2), 0),
        ((5, 5, 5, 5), 0.5),
        ((1, 3, 2, 4), 0.75),
        ((1, 2, 2, 3), 0.875),
        ((-2, -1, 0, 0), 1),
    ],
    ids=["in front", "behind", "level", "mostly in front", "one tie", "below zero"],
)
def test_the_nearer_object_comes_first(values, expected):
    assert depth_pos(depth(*values), LEFT, RIGHT) == expected


def test_it_is_the_share_of_pixel_pairs_with_ties_counted_half():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 6, (9, 7)).astype(np.float32)
    first, second = rng.random((2, 9, 7)) < 0.4
    pairs = values[first][:, None] - values[second][None, :]
    expected = (pairs < 0).mean() + (pairs == 0).mean() / 2
    assert depth_pos(values, first, second) == pytest.approx(expected)


def test_swapping_the_objects_complements_it():
    rng = np.random.default_rng(1)
    values = rng.random((9, 7)).astype(np.float32)
    first, second = rng.random((2, 9, 7)) < 0.4
    assert depth_pos(values, first, second) + depth_pos(values, second, first) == pytest.approx(1)


def test_only_the_order_of_the_depths_matters():
    rng = np.random.default_rng(2)
    values = rng.random((9, 7)).astype(np.float32)
    first, second = rng.random((2, 9, 7)) < 0.4
    assert depth_pos(np.exp(values), first, second) == depth_pos(values, first, second)


@pytest.mark.parametrize("is_swapped", [False, True], ids=["second", "first"])
def test_an_empty_mask_is_rejected(is_swapped):
    empty = np.zeros_like(LEFT)
    pair = (empty, LEFT) if is_swapped else (LEFT, empty)
    with pytest.raises(EmptyMapError):
        depth_pos(depth(1, 2, 3, 4), *pair)
