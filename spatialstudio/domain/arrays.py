"""Array types of the vocabulary, and the one way to freeze them."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

RgbImage: TypeAlias = npt.NDArray[np.uint8]
"""(H, W, 3) sRGB, 0 to 255."""

FloatMap: TypeAlias = npt.NDArray[np.float32]
"""(H, W) of float32; y grows down, x grows right."""

BoolMask: TypeAlias = npt.NDArray[np.bool_]
"""(H, W), True where the object is seen."""


def freeze(array: npt.NDArray[np.generic]) -> None:
    """Make an array read-only in place, so that it may be shared between threads.

    Args:
        array: any shape; the type that holds it takes it as its own.
    """
    array.setflags(write=False)
