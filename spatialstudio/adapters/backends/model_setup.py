"""Tells how a loaded model computes, for the record of its pictures."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future

import torch

from spatialstudio.adapters.device import name_of
from spatialstudio.domain.generation import ModelSetup

KERNELS: Mapping[str, Callable[[], bool]] = {
    "flash": torch.backends.cuda.flash_sdp_enabled,
    "memory-efficient": torch.backends.cuda.mem_efficient_sdp_enabled,
    "cudnn": torch.backends.cuda.cudnn_sdp_enabled,
    "math": torch.backends.cuda.math_sdp_enabled,
}
"""What torch may choose among on CUDA, where the choice can change a picture."""


def model_setup(
    denoiser: torch.nn.Module, device: torch.device, weights: Future[str]
) -> ModelSetup:
    """Say how a model computes; waits for the hash of its weights.

    Args:
        denoiser: The module that is called once a step.
        device: Where it runs.
        weights: Their hash; none is told when they have gone meanwhile.
    """
    dtype = next(denoiser.parameters()).dtype
    return ModelSetup(
        dtype=name_of(dtype),
        attention=_attention(denoiser, device),
        weights_sha256="" if weights.exception() else weights.result(),
    )


def _attention(denoiser: torch.nn.Module, device: torch.device) -> str:
    """Name the processors of a denoiser's attention, and the kernels behind them."""
    processors = (getattr(module, "processor", None) for module in denoiser.modules())
    names = sorted({type(each).__name__ for each in processors if each is not None})
    kernels = [name for name, is_on in KERNELS.items() if is_on()] if device.type == "cuda" else []
    return ", ".join(names) + (f" ({', '.join(kernels)})" if kernels else "")
