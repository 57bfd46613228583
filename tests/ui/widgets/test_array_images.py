import numpy as np
from PySide6.QtGui import QColor

from spatialstudio.ui.widgets.array_images import (
    difference_image,
    heat_image,
    mask_image,
    mask_outline,
    rgb_image,
    tinted_image,
)

RED = QColor(255, 0, 0)


def test_a_picture_keeps_its_rows_and_columns():
    pixels = np.zeros((2, 3, 3), np.uint8)
    pixels[1, 2] = (10, 20, 30)
    image = rgb_image(pixels)
    assert (image.width(), image.height()) == (3, 2)
    assert image.pixelColor(2, 1).getRgb()[:3] == (10, 20, 30)


def test_a_map_reaches_both_ends_of_the_table():
    table = np.repeat(np.arange(256, dtype=np.uint8)[:, None], 3, axis=1)
    image = heat_image(np.array([[0.0, 0.02]], np.float32), table)
    assert [image.pixelColor(x, 0).red() for x in (0, 1)] == [0, 255]


def test_an_empty_map_is_all_low():
    table = np.repeat(np.arange(256, dtype=np.uint8)[:, None], 3, axis=1)
    assert heat_image(np.zeros((1, 1), np.float32), table).pixelColor(0, 0).red() == 0


def test_a_difference_has_zero_in_the_middle_of_the_table():
    table = np.repeat(np.arange(256, dtype=np.uint8)[:, None], 3, axis=1)
    image = difference_image(np.array([[-0.02, 0.0, 0.01]], np.float32), table)
    assert [image.pixelColor(x, 0).red() for x in range(3)] == [0, 128, 191]


def test_a_tint_is_clear_where_the_map_is_zero():
    image = tinted_image(np.array([[0.0, 1.0]], np.float32), RED)
    assert image.pixelColor(0, 0).alpha() == 0
    assert image.pixelColor(1, 0).alpha() > 150


def test_a_mask_is_as_opaque_as_its_colour():
    half = QColor(255, 0, 0, 128)
    image = mask_image(np.array([[True, False]]), half)
    assert [image.pixelColor(x, 0).alpha() for x in (0, 1)] == [128, 0]


def test_an_outline_surrounds_the_mask():
    pixels = np.zeros((10, 10), bool)
    pixels[2:5, 3:9] = True
    bounds = mask_outline(pixels).boundingRect()
    assert (bounds.left(), bounds.top(), bounds.right(), bounds.bottom()) == (3, 2, 9, 5)
