import numpy as np
import pytest

from spatialstudio.science.checker.duplicates import second_lobe

ROWS, COLUMNS = np.mgrid[:120, :160]


def disc(row, column, radius):
    return np.hypot(ROWS - row, COLUMNS - column) <= radius


def test_a_disc_has_no_second_lobe():
    assert second_lobe(disc(60, 60, 30)) == 0


def test_two_equal_discs_that_touch_are_two_lobes():
    assert second_lobe(disc(60, 40, 30) | disc(60, 100, 30)) > 0.85


def test_the_second_lobe_is_weaker_the_smaller_it_is_and_the_wider_its_neck():
    equal = second_lobe(disc(60, 40, 30) | disc(60, 98, 30))
    smaller = second_lobe(disc(60, 40, 30) | disc(60, 83, 15))
    overlapping = second_lobe(disc(60, 40, 30) | disc(60, 80, 30))
    assert max(smaller, overlapping) < equal
    assert overlapping > 0


@pytest.mark.parametrize("times", [2, 5])
def test_lobes_do_not_depend_on_the_resolution(times):
    small = disc(60, 40, 30) | disc(60, 95, 25)
    large = small.repeat(times, 0).repeat(times, 1)
    assert second_lobe(large) == pytest.approx(second_lobe(small), abs=0.08)


def test_a_region_of_one_pixel_has_no_second_lobe():
    assert second_lobe(np.ones((1, 1), np.bool_)) == 0
