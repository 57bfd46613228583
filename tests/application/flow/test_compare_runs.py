"""A run drawn again is compared pixel by pixel."""

import numpy as np

from spatialstudio.application.flow.compare_runs import difference_picture


def test_a_difference_is_brightened_to_white():
    first = np.zeros((2, 2, 3), np.uint8)
    second = first.copy()
    second[0, 0, 0], second[0, 1, 1] = 50, 20
    picture, largest = difference_picture(first, second)
    assert largest == 50
    assert (picture[0, 0, 0], picture[0, 1, 1], picture[1, 1, 2]) == (255, 102, 0)


def test_equal_pictures_have_a_black_difference():
    picture, largest = difference_picture(
        np.full((2, 2, 3), 9, np.uint8), np.full((2, 2, 3), 9, np.uint8)
    )
    assert largest == 0
    assert not picture.any()
