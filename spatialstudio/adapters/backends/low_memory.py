"""Drawing where memory is short: tiles, and what to try after it ran out."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch

from spatialstudio.adapters.backends.load_pipeline import LoadedPipeline
from spatialstudio.adapters.backends.memory_estimate import estimate_memory, ways_to_fit
from spatialstudio.adapters.device import available_memory_bytes
from spatialstudio.domain.errors import OutOfMemory
from spatialstudio.domain.generation import GenerationRequest
from spatialstudio.domain.memory import GIBIBYTE, MemoryFix, Saving

MOST_FIXES = 3
MESSAGE = "The device has too little memory for this picture."
LAST_RESORT = "Choose a smaller picture or model, or close other programs."


@contextmanager
def tiled(autoencoder: Any, *, is_wanted: bool) -> Iterator[None]:
    """Let an autoencoder that can work in tiles, if that is wanted."""
    if not is_wanted or not hasattr(autoencoder, "enable_tiling"):
        yield
        return
    autoencoder.enable_tiling()
    try:
        yield
    finally:
        autoencoder.disable_tiling()


def out_of_memory(
    loaded: LoadedPipeline | None, request: GenerationRequest, device: torch.device
) -> OutOfMemory:
    """Say what would fit instead; called when the memory of the run was given back.

    Args:
        loaded: The model; None when it did not fit itself.
        request: That ran out of memory.
        device: On which it did.
    """
    free = available_memory_bytes(device)
    if loaded is None or free is None:
        return OutOfMemory(MESSAGE, hint=_hint_without_model(device), fixes=_last_fixes(device))
    available = free + estimate_memory(loaded, replace(request, savings=())).weights_bytes
    fixes = tuple(
        _fix(loaded, request, chosen) for chosen in ways_to_fit(loaded, request, available)
    )[:MOST_FIXES]
    if not fixes:
        return OutOfMemory(MESSAGE, hint=_hint_without_model(device), fixes=_last_fixes(device))
    names = ", ".join(f'"{saving.value}"' for saving in fixes[0].savings)
    return OutOfMemory(
        MESSAGE,
        hint=f"Save memory by {names}: that takes about {_gigabytes(fixes[0].peak_bytes or 0)} of "
        f"{_gigabytes(available)} GB.",
        fixes=fixes,
    )


def _fix(
    loaded: LoadedPipeline, request: GenerationRequest, chosen: tuple[Saving, ...]
) -> MemoryFix:
    trial = replace(request, savings=(*request.savings, *chosen))
    return MemoryFix(savings=chosen, peak_bytes=estimate_memory(loaded, trial).peak_bytes)


def _last_fixes(device: torch.device) -> tuple[MemoryFix, ...]:
    """Return what may help where nobody can tell what fits."""
    if device.type == "cpu":
        return ()
    return tuple(MemoryFix(savings=(saving,)) for saving in (Saving.OFFLOAD, Saving.PROCESSOR))


def _hint_without_model(device: torch.device) -> str:
    if device.type == "cpu":
        return LAST_RESORT
    ways = f'"{Saving.OFFLOAD.value}" or "{Saving.PROCESSOR.value}"'
    return f"Save memory by {ways}. {LAST_RESORT}"


def _gigabytes(count: int) -> str:
    return f"{count / GIBIBYTE:.1f}"
