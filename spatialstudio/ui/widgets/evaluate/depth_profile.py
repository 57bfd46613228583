"""How far away the pixels of one thing are."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Weights: TypeAlias = npt.NDArray[np.float64]
"""(slices,), one value a slice."""


@dataclass(frozen=True, slots=True, eq=False)
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
