"""How far away the pixels of one thing are."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.frozen import frozen

Weights: TypeAlias = npt.NDArray[np.float64]
"""(slices,), one value a slice."""


@frozen(eq=False, kw_only=False)
class DepthProfile:
    """How one thing's pixels are spread over depth.

    Attributes:
        name: Of the thing.
        hue: Of its word.
        weights: (slices,) nearest first, sums to 1.
    """

    name: str
    hue: int
    weights: Weights
