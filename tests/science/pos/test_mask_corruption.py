import numpy as np
import pytest

from spatialstudio.science.pos.mask_corruption import (
    dropout,
    jitter,
    opening,
    published_corruptions,
    shifted,
)


@pytest.fixture
def chance():
    return np.random.default_rng(0)


@pytest.fixture
def square():
    """A square of 40 x 40 in the middle of 100 x 120 pixels."""
    mask = np.zeros((100, 120), bool)
    mask[30:70, 40:80] = True
    return mask


@pytest.mark.parametrize("share", [0, 0.3, 0.8, 1])
def test_dropout_leaves_the_other_pixels_unchanged(square, chance, share):
    spoilt = dropout(square, share, chance)
    assert not (spoilt & ~square).any()
    assert spoilt.sum() / square.sum() == pytest.approx(1 - share, abs=0.03)


def test_jitter_keeps_shape_and_distance(square, chance):
    spoilt = jitter(square, 20, chance)
    assert spoilt.sum() == square.sum()
    before, after = (np.argwhere(mask).mean(0) for mask in (square, spoilt))
    assert np.hypot(*(after - before)) == pytest.approx(20, abs=1)


def test_every_jitter_has_a_random_direction(square, chance):
    assert not np.array_equal(jitter(square, 20, chance), jitter(square, 20, chance))


@pytest.mark.parametrize(
    ("right", "down", "left_over"),
    [(0, 0, 1600), (10, -20, 1600), (60, 0, 800), (0, 50, 800), (120, 0, 0), (0, -100, 0)],
)
def test_pixels_outside_the_picture_are_lost(square, right, down, left_over):
    assert shifted(square, right, down).sum() == left_over


def test_a_shift_is_right_and_down():
    dot = np.zeros((5, 5), bool)
    dot[1, 1] = True
    assert np.argwhere(shifted(dot, 2, 1)).tolist() == [[2, 3]]
    assert np.argwhere(shifted(dot, -1, -1)).tolist() == [[0, 0]]


def test_opening_removes_thin_parts_and_keeps_thick_ones(square):
    speckled = square.copy()
    speckled[10, 10:60] = True
    assert np.array_equal(opening(speckled, 1), square)
    assert np.array_equal(opening(square, 10), square)
    assert not opening(square, 20).any()


def test_an_empty_mask_stays_empty(chance):
    empty = np.zeros((8, 8), bool)
    spoilt = [corruption.spoil(empty, chance) for corruption in published_corruptions()]
    assert not np.any(spoilt)


def test_the_published_table_has_twelve_rows(square, chance):
    rows = published_corruptions()
    assert [row.level for row in rows] == [0.1, 0.3, 0.5, 0.8, 5, 20, 50, 100, 1, 2, 5, 10]
    sizes = [row.spoil(square, chance).sum() for row in rows]
    assert sizes[0] > sizes[1] > sizes[2] > sizes[3] > 0
    assert sizes[8:] == [square.sum()] * 4


def centred(side):
    """A square of a quarter of the side, amid a picture."""
    mask = np.zeros((side, side), bool)
    mask[3 * side // 8 : 5 * side // 8, 3 * side // 8 : 5 * side // 8] = True
    return mask


def corruption_of(name, level):
    return next(c for c in published_corruptions() if (c.name, c.level) == (name, level))


@pytest.mark.parametrize("side", [128, 256, 512, 1024, 2048])
@pytest.mark.parametrize("pixels", [50, 100])
def test_a_published_jitter_moves_by_the_same_share_of_every_picture(side, pixels, chance):
    mask = centred(side)
    spoilt = corruption_of("jitter", pixels).spoil(mask, chance)
    before, after = (np.argwhere(each).mean(0) for each in (mask, spoilt))
    assert np.hypot(*(after - before)) / side == pytest.approx(pixels / 1024, abs=0.75 / side)


def test_a_published_jitter_is_in_pixels_at_1024(chance):
    spoilt = corruption_of("jitter", 20).spoil(centred(1024), chance)
    assert np.hypot(*(np.argwhere(spoilt).mean(0) - 511.5)) == pytest.approx(20, abs=0.75)


@pytest.mark.parametrize(("side", "thinnest_left"), [(128, 3), (512, 11), (1024, 21)])
def test_a_published_opening_removes_parts_thinner_than_a_share_of_the_picture(
    side, thinnest_left, chance
):
    bars = np.zeros((side, side), bool)
    bars[10:-10, 10 : 10 + thinnest_left] = True
    bars[10:-10, side // 2 : side // 2 + thinnest_left - 1] = True
    opened = corruption_of("opening", 10).spoil(bars, chance)
    assert opened[:, : side // 2].any()
    assert not opened[:, side // 2 :].any()
