"""Turns arrays into Qt images and outlines."""

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import Qt
from PySide6.QtGui import QBitmap, QColor, QImage, QPainterPath, QRegion

from spatialstudio.domain.arrays import BoolMask, FloatMap, RgbImage

MAP_OPACITY = 0.82
CONTRAST = 1.4
"""Exponent on a map's share of its peak: above 1 it keeps weak attention from clouding all."""


def rgb_image(pixels: RgbImage) -> QImage:
    """Return a picture, (H, W, 3), as an image that owns its bytes."""
    height, width = pixels.shape[:2]
    packed = np.ascontiguousarray(pixels)
    return QImage(packed.data, width, height, 3 * width, QImage.Format.Format_RGB888).copy()


def heat_image(weights: FloatMap, table: npt.NDArray[np.uint8]) -> QImage:
    """Return a map, (h, w), in the colours of a table, (levels, 3), zero to its own peak."""
    levels = np.round(_share_of_peak(weights) * (len(table) - 1)).astype(np.intp)
    return rgb_image(table[levels])


def tinted_image(weights: FloatMap, colour: QColor) -> QImage:
    """Return a map, (h, w), as one colour whose opacity follows the weights."""
    share = _share_of_peak(weights) ** CONTRAST * MAP_OPACITY
    return _one_colour(share, colour)


def mask_image(pixels: BoolMask, colour: QColor) -> QImage:
    """Return a mask, (H, W), as one colour; its alpha is the mask's opacity."""
    return _one_colour(pixels * np.float32(colour.alphaF()), colour)


def mask_outline(pixels: BoolMask) -> QPainterPath:
    """Return the border of a mask, (H, W), in pixel coordinates."""
    height, width = pixels.shape
    grey = np.ascontiguousarray(np.where(pixels, np.uint8(0), np.uint8(255)))
    image = QImage(grey.data, width, height, width, QImage.Format.Format_Grayscale8)
    bitmap = QBitmap.fromImage(image, Qt.ImageConversionFlag.ThresholdDither)
    path = QPainterPath()
    path.addRegion(QRegion(bitmap))
    return path.simplified()


def _share_of_peak(weights: FloatMap) -> FloatMap:
    peak = float(weights.max(initial=0.0))
    return weights / peak if peak > 0 else np.zeros_like(weights)


def _one_colour(opacity: FloatMap, colour: QColor) -> QImage:
    height, width = opacity.shape
    pixels = np.empty((height, width, 4), np.uint8)
    pixels[..., :3] = (colour.red(), colour.green(), colour.blue())
    pixels[..., 3] = np.round(opacity * 255)
    return QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_RGBA8888).copy()
