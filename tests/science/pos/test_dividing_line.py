import numpy as np
import pytest

from spatialstudio.science.pos.superiority import cumulative_at_edges, dividing_line


def profile(*bins):
    return np.array(bins, np.float32) / sum(bins)


def test_the_cumulative_curve_goes_from_zero_to_one():
    assert cumulative_at_edges(profile(1, 1, 2)) == pytest.approx([0, 0.25, 0.5, 1])


def test_disjoint_profiles_are_separated_completely():
    line = dividing_line(profile(1, 0, 0, 0), profile(0, 0, 0, 1))
    assert line.share == pytest.approx(1)
    assert 0.25 <= line.place <= 0.75


def test_equal_profiles_are_separated_in_halves():
    line = dividing_line(profile(1, 2, 1), profile(1, 2, 1))
    assert (line.place, line.share) == pytest.approx((0.5, 0.5))


def test_an_overlap_worked_by_hand():
    # first: 3/4, 1/4, second: 1/4, 3/4; at the middle both have 3/4 on their side
    line = dividing_line(profile(3, 1), profile(1, 3))
    assert (line.place, line.share) == pytest.approx((0.5, 0.75))


def test_the_wrong_order_is_separated_worse_than_chance():
    assert dividing_line(profile(0, 1), profile(1, 0)).share == pytest.approx(0, abs=1e-6)
