"""The picture that a pipeline hands back."""

from typing import Any

import numpy as np
import torch

from spatialstudio.adapters.backends.invalid_numbers import refuse_invalid
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.errors import BackendError

WHITE = 255


def finished_picture(output: Any) -> RgbImage:
    """Take the first picture, (H, W, 3), out of what a pipeline's call returns.

    Args:
        output: Its pictures are (H, W, 3) in [0, 1]. Stable Diffusion 1 also tells which of them
            its safety checker has made black.

    Raises:
        BackendError: The picture was withheld, or its numbers are invalid.
    """
    withheld = getattr(output, "nsfw_content_detected", None)
    if withheld and withheld[0]:
        raise BackendError(
            "The model's own safety checker has withheld the picture.",
            hint="Take another seed or another prompt.",
        )
    colours: np.ndarray = output.images[0]
    refuse_invalid(torch.from_numpy(colours))
    return (colours * WHITE).round().astype(np.uint8)
