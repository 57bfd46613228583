"""Boxes and where they stand to each other. The one place that knows IoU."""

from math import hypot

import numpy as np

from spatialstudio.domain.arrays import BoolMask, FloatMap
from spatialstudio.domain.perception import Box
from spatialstudio.science.arrays import FloatArray


def intersection(first: Box, second: Box) -> Box:
    """Return what two boxes share; its area is 0 when they are apart."""
    return Box(
        left=max(first.left, second.left),
        top=max(first.top, second.top),
        right=min(first.right, second.right),
        bottom=min(first.bottom, second.bottom),
    )


def intersection_over_union(first: Box, second: Box) -> float:
    """Return the IoU of two boxes, [0, 1]; 0 when both are empty."""
    shared = intersection(first, second).area
    union = first.area + second.area - shared
    return shared / union if union > 0 else 0.0


def containment(first: Box, second: Box) -> float:
    """Return the share of the smaller box that lies in the other, [0, 1]; 0 when it is empty."""
    smaller = min(first.area, second.area)
    return intersection(first, second).area / smaller if smaller > 0 else 0.0


def shared_areas(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the areas that pairs of boxes share.

    Args:
        first: (..., 4) left, top, right, bottom.
        second: (..., 4) likewise.
    """
    leading = np.maximum(first[..., :2], second[..., :2])
    trailing = np.minimum(first[..., 2:], second[..., 2:])
    return np.maximum(trailing - leading, 0.0).prod(-1)


def box_areas(boxes: FloatArray) -> FloatArray:
    """Return the areas of boxes, (..., 4) left, top, right, bottom."""
    return np.maximum(boxes[..., 2:] - boxes[..., :2], 0.0).prod(-1)


def intersections_over_unions(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the IoU of pairs of boxes, as ``intersection_over_union``; (..., 4) each."""
    shared = shared_areas(first, second)
    union = box_areas(first) + box_areas(second) - shared
    return shared / np.where(union > 0, union, 1.0)


def containments(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the containment of pairs of boxes, as ``containment``; (..., 4) each."""
    smaller = np.minimum(box_areas(first), box_areas(second))
    return shared_areas(first, second) / np.where(smaller > 0, smaller, 1.0)


def center_offset_xy(first: Box, second: Box, width: int, height: int) -> tuple[float, float]:
    """Return how far the centre of ``first`` lies from that of ``second``.

    Args:
        first: Pixels.
        second: Pixels.
        width: Of the picture, pixels.
        height: Of the picture, pixels.

    Returns:
        Shares of width and height, [-1, 1]; negative is left, or above.
    """
    (first_x, first_y), (second_x, second_y) = first.center_xy, second.center_xy
    return (first_x - second_x) / width, (first_y - second_y) / height


def box_gap(first: Box, second: Box, width: int, height: int) -> float:
    """Return the distance of the nearest edges, share of the picture's diagonal; 0 when touching.

    Args:
        first: Pixels.
        second: Pixels.
        width: Of the picture, pixels.
        height: Of the picture, pixels.
    """
    apart_x = max(first.left - second.right, second.left - first.right, 0.0)
    apart_y = max(first.top - second.bottom, second.top - first.bottom, 0.0)
    return hypot(apart_x, apart_y) / hypot(width, height)


def depth_offset(depth: FloatMap, first: BoolMask, second: BoolMask) -> float:
    """Return how much farther ``first`` is than ``second`` on average, share of the depth range.

    Args:
        depth: (H, W), larger is farther.
        first: (H, W) bool, not empty.
        second: (H, W) bool, not empty.

    Returns:
        [-1, 1]; negative is in front; 0 in a flat picture.
    """
    depth_range = float(np.ptp(depth))
    if depth_range == 0:
        return 0.0
    return float(depth[first].mean() - depth[second].mean()) / depth_range
