"""Converts arrays to Qt images and outlines."""

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QColor, QImage, QPainterPath

from spatialstudio.domain.arrays import (
    BoolMask,
    FloatMap,
    RgbImage,
)

CONTRAST = 1.4
"""Exponent on a map's share of its peak; above 1 it fades weak attention."""


def rgb_image(pixels: RgbImage) -> QImage:
    """Return a picture, (H, W, 3), as an image with a copy of the data."""
    height, width = pixels.shape[:2]
    packed = np.ascontiguousarray(pixels)
    return QImage(packed.data, width, height, 3 * width, QImage.Format.Format_RGB888).copy()


def heat_image(weights: FloatMap, table: npt.NDArray[np.uint8], top: float | None = None) -> QImage:
    """Return a map, coloured by a table.

    Args:
        weights: (h, w), not negative.
        table: (levels, 3), from zero to ``top``.
        top: The value of the last colour; None for the map's own peak.
    """
    levels = np.round(_share_of(weights, top) * (len(table) - 1)).astype(np.intp)
    return rgb_image(table[levels])


def difference_image(
    values: FloatMap, table: npt.NDArray[np.uint8], top: float | None = None
) -> QImage:
    """Return signed values, coloured by a table whose middle is zero.

    Args:
        values: (h, w).
        table: (levels, 3), from ``-top`` to ``top``.
        top: Absolute value of the first and last colour; None for the maximum.
    """
    return heat_image(_share_of(abs(values), top) * np.sign(values) + 1, table, 2.0)


def tinted_image(weights: FloatMap, colour: QColor, top: float | None = None) -> QImage:
    """Return a map as one colour whose opacity follows the weights.

    Args:
        weights: (h, w), not negative.
        colour: Its alpha is the opacity at ``top``.
        top: The value that maps to full colour; None for the map's own peak.
    """
    share = _share_of(weights, top) ** CONTRAST * np.float32(colour.alphaF())
    return _one_colour(share, colour)


def mask_image(pixels: BoolMask, colour: QColor) -> QImage:
    """Return a mask, (H, W), as one colour; its alpha is the mask's opacity."""
    return _one_colour(pixels * np.float32(colour.alphaF()), colour)


def mask_outline(pixels: BoolMask) -> QPainterPath:
    """Return the border of a mask, (H, W), in pixel coordinates, one line per straight segment."""
    path = QPainterPath()
    for y, start, stop in _borders(pixels):
        path.moveTo(start, y)
        path.lineTo(stop, y)
    for x, start, stop in _borders(pixels.T):
        path.moveTo(x, start)
        path.lineTo(x, stop)
    return path


def _borders(pixels: BoolMask) -> list[tuple[int, int, int]]:
    """Return the borders between consecutive rows: line, start and stop."""
    differs = np.diff(np.pad(pixels, ((1, 1), (0, 0))), axis=0)
    ends = np.diff(np.pad(differs, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    starts, stops = np.argwhere(ends > 0).tolist(), np.argwhere(ends < 0).tolist()
    return [(row, start, stop) for (row, start), (_, stop) in zip(starts, stops, strict=True)]


def _share_of(weights: FloatMap, top: float | None) -> FloatMap:
    top = float(weights.max(initial=0.0)) if top is None else top
    return np.clip(weights / top, 0, 1) if top > 0 else np.zeros_like(weights)


def _one_colour(opacity: FloatMap, colour: QColor) -> QImage:
    height, width = opacity.shape
    pixels = np.empty((height, width, 4), np.uint8)
    pixels[..., :3] = (colour.red(), colour.green(), colour.blue())
    pixels[..., 3] = np.round(opacity * 255)
    return QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_RGBA8888).copy()
