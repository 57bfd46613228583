"""Detection of NaN and infinite values in a run, with advice for the user."""

from math import isfinite

import torch

from spatialstudio.domain.errors import BackendError
from spatialstudio.domain.samplers import SCALE_OFF

MESSAGE = "The latents contain invalid numbers (NaN or infinity)."


class InvalidNumbers(BackendError):  # noqa: N818 - reads as a finding
    """NaN or infinite values; stays within the engine, which adds the advice."""


def refuse_invalid(values: torch.Tensor) -> None:
    """Raise if any value is NaN or infinite.

    Raises:
        InvalidNumbers: A value is NaN or infinite.
    """
    if isfinite(values.sum().item()):  # a third of the cost; finite values may overflow
        return
    if not torch.isfinite(values).all():
        raise InvalidNumbers(MESSAGE)


def what_may_help(*, was_moved: bool, dtype: torch.dtype, guidance_scale: float) -> str:
    """Return advice on the invalid values, likeliest cause first.

    Args:
        was_moved: Whether guidance has updated the picture.
        dtype: Data type of the model's weights.
        guidance_scale: Classifier-free guidance scale; 1 is off.
    """
    causes = {
        "Lower the strength of guidance": was_moved,
        'choose the precision "bfloat16" or "float32", which has a larger range': (
            dtype is torch.float16
        ),
        "lower the CFG scale": guidance_scale > SCALE_OFF,
    }
    ways = [way for way, is_likely in causes.items() if is_likely]
    ways = ways or ["choose another sampler", "install the model again"]
    advice = ", or ".join(ways)
    return f"{advice[0].upper()}{advice[1:]}."
