"""Tells when a picture has dissolved into numbers that are none, and what may help."""

from math import isfinite

import torch

from spatialstudio.domain.errors import BackendError
from spatialstudio.domain.samplers import SCALE_OFF

MESSAGE = "The latents contain invalid numbers (NaN or infinity)."


class InvalidNumbers(BackendError):  # noqa: N818 - reads as a finding
    """Numbers that are none; stays within the engine, which tells with it what may help."""


def refuse_invalid(values: torch.Tensor) -> None:
    """Do nothing while all values are finite.

    Raises:
        InvalidNumbers: One is not.
    """
    if isfinite(values.sum().item()):  # at a third of the cost; finite values may add up to more
        return
    if not torch.isfinite(values).all():
        raise InvalidNumbers(MESSAGE)


def what_may_help(*, was_moved: bool, dtype: torch.dtype, guidance_scale: float) -> str:
    """Advise on what made the numbers invalid, the likeliest cause first.

    Args:
        was_moved: Whether guidance has moved the picture.
        dtype: Of the model's weights.
        guidance_scale: Of classifier-free guidance; 1 is off.
    """
    causes = {
        "Lower the strength of guidance": was_moved,
        'draw in the number format "bfloat16" or "float32", which hold larger numbers': (
            dtype is torch.float16
        ),
        "lower the guidance scale": guidance_scale > SCALE_OFF,
    }
    ways = [way for way, is_likely in causes.items() if is_likely]
    ways = ways or ["choose another sampler", "install the model again"]
    advice = ", or ".join(ways)
    return f"{advice[0].upper()}{advice[1:]}."
