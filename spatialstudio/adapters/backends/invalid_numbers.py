"""Tells when a picture has dissolved into numbers that are none."""

from math import isfinite

import torch

from spatialstudio.domain.errors import BackendError


def refuse_invalid(values: torch.Tensor) -> None:
    """Do nothing while all values are finite.

    Raises:
        BackendError: One is not.
    """
    if isfinite(values.sum().item()):  # at a third of the cost; finite values may add up to more
        return
    if not torch.isfinite(values).all():
        raise BackendError(
            "The picture has dissolved into invalid numbers.",
            hint="Lower the strength or the guidance scale.",
        )
