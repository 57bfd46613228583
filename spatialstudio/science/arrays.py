"""Array types: numpy for masks, torch where gradients are needed."""

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import torch

ArrayT = TypeVar("ArrayT", npt.NDArray[Any], "torch.Tensor")
ValueT = TypeVar("ValueT", float, npt.NDArray[Any], "torch.Tensor")
FloatArray: TypeAlias = npt.NDArray[np.float64]
