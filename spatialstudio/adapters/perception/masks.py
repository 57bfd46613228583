"""Masks on a model's grid become masks of the picture."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage  # type: ignore[import-untyped]

from spatialstudio.domain.arrays import BoolMask

WITH_DIAGONALS = np.ones((3, 3), np.int8)


def resized(mask: BoolMask, size: tuple[int, int]) -> BoolMask:
    """Bring a mask to another size, to the nearest pixel.

    Args:
        mask: (h, w).
        size: (H, W).
    """
    height, width = size
    picture = Image.fromarray(mask).resize((width, height), Image.Resampling.NEAREST)
    return np.array(picture)


def resized_smoothly(values: NDArray[np.float32], size: tuple[int, int]) -> NDArray[np.float32]:
    """Bring a map to another size, between its values.

    Args:
        values: (h, w).
        size: (H, W).
    """
    height, width = size
    picture = Image.fromarray(values).resize((width, height), Image.Resampling.BILINEAR)
    return np.array(picture, np.float32)


def connected_regions(mask: BoolMask, least_area: float) -> list[BoolMask]:
    """Split a mask into its connected regions, diagonals included.

    Args:
        mask: (H, W).
        least_area: Smaller regions are left out, share of the picture, [0, 1].
    """
    labels, count = ndimage.label(mask, WITH_DIAGONALS)
    sizes = np.bincount(labels.ravel(), minlength=count + 1)[1:]
    wanted = np.flatnonzero(sizes >= least_area * mask.size) + 1
    return [labels == number for number in wanted]
