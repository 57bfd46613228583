"""Array types of images and maps."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

RgbImage: TypeAlias = npt.NDArray[np.uint8]
"""(H, W, 3) sRGB, 0 to 255."""

FloatMap: TypeAlias = npt.NDArray[np.float32]
"""(H, W) of float32; y grows down, x grows right."""

BoolMask: TypeAlias = npt.NDArray[np.bool_]
"""(H, W), True on the object."""


def freeze(array: npt.NDArray[np.generic]) -> None:
    """Make an array read-only in place, so that it may be shared between threads.

    Args:
        array: Any shape; the caller takes ownership.
    """
    array.setflags(write=False)
