"""Tells when a picture has dissolved into numbers that are none."""

import torch

from spatialstudio.domain.errors import BackendError


def refuse_invalid(values: torch.Tensor) -> None:
    """Do nothing while all values are finite.

    Raises:
        BackendError: One is not.
    """
    if not torch.isfinite(values).all():
        raise BackendError(
            "The picture has dissolved into invalid numbers.",
            hint="Lower the strength or the guidance scale.",
        )
