"""Array types of images and maps."""

from hashlib import sha256
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

RgbImage: TypeAlias = npt.NDArray[np.uint8]
"""(H, W, 3) sRGB, 0 to 255."""

FloatMap: TypeAlias = npt.NDArray[np.float32]
"""(H, W) of float32; y grows down, x grows right."""

BoolMask: TypeAlias = npt.NDArray[np.bool_]
"""(H, W), True on the object."""


def hash_of_picture(image: RgbImage) -> str:
    """Return the sha256 of an image's pixels: (H, W, 3) bytes in row order."""
    return sha256(image.tobytes()).hexdigest()


def mask_bounds(pixels: BoolMask) -> tuple[int, int, int, int]:
    """Return the half-open bounds of a mask that is not empty: top, left, bottom, right."""
    rows, columns = np.flatnonzero(pixels.any(1)), np.flatnonzero(pixels.any(0))
    return int(rows[0]), int(columns[0]), int(rows[-1]) + 1, int(columns[-1]) + 1


def freeze(array: npt.NDArray[np.generic]) -> None:
    """Make an array read-only in place, so that it may be shared between threads.

    Args:
        array: Any shape; the caller takes ownership.
    """
    array.setflags(write=False)
