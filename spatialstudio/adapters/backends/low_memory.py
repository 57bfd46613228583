"""Drawing where memory is short: tiles, and what to try after it ran out."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import lcm
from typing import Any

import torch

from spatialstudio.adapters.backends.load_pipeline import LoadedPipeline
from spatialstudio.adapters.backends.memory_estimate import estimate_memory, ways_to_fit
from spatialstudio.adapters.backends.pipeline_arguments import picture_size
from spatialstudio.adapters.device import available_memory_bytes
from spatialstudio.domain.derived_requests import fitted
from spatialstudio.domain.errors import OutOfMemory
from spatialstudio.domain.generation import GenerationRequest
from spatialstudio.domain.memory import MemoryFix, Saving, size_in_words

MOST_FIXES = 3
SIDE_UNIT = 64
"""Sides of smaller pictures are multiples of it, pixels."""
SMALLER_SIDES = (0.75, 0.5, 0.375, 0.25, 0.125)
"""Shares of the sides that were asked for."""
CLEARLY_LESS = 0.9
"""Share of what passes took that failed, whatever is said to be free: estimates are about."""
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
    unsure = OutOfMemory(
        MESSAGE, hint=_hint_without_model(device), fixes=_last_fixes(request, device)
    )
    if loaded is None or free is None:
        return unsure
    failed = estimate_memory(loaded, request)
    available = free + estimate_memory(loaded, replace(request, savings=())).weights_bytes
    for_passes = failed.peak_bytes - failed.weights_bytes
    limit = min(available, failed.weights_bytes + round(CLEARLY_LESS * for_passes))
    trials = (MemoryFix(savings=chosen) for chosen in ways_to_fit(loaded, request, limit))
    fixes = [_estimated(loaded, request, trial) for trial in trials]
    smaller = _smaller_pictures(loaded, request, limit)
    fixes = [*fixes[: MOST_FIXES - len(smaller)], *smaller]
    if not fixes:
        return unsure
    return OutOfMemory(
        MESSAGE,
        hint=f"It needs about {size_in_words(failed.peak_bytes)} of {size_in_words(available)}. "
        f"{_in_words(fixes[0])}: that takes about {size_in_words(fixes[0].peak_bytes or 0)}.",
        fixes=tuple(fixes),
    )


def _in_words(fix: MemoryFix) -> str:
    if fix.size is not None:
        height, width = fix.size
        return f"Draw {width} x {height} pixels"
    return "Save memory by " + ", ".join(f'"{saving.value}"' for saving in fix.savings)


def _smaller_pictures(
    loaded: LoadedPipeline, request: GenerationRequest, limit_bytes: int
) -> tuple[MemoryFix, ...]:
    """Return the largest picture of the same form that fits; none where the smallest does not."""
    asked, unit = picture_size(loaded, request), lcm(loaded.side_multiple, SIDE_UNIT)
    for share in SMALLER_SIDES:
        height, width = (max(unit, int(side * share) // unit * unit) for side in asked)
        if (height, width) != asked:
            fix = _estimated(loaded, request, MemoryFix(size=(height, width)))
            if (fix.peak_bytes or 0) <= limit_bytes:
                return (fix,)
    return ()


def _estimated(loaded: LoadedPipeline, request: GenerationRequest, fix: MemoryFix) -> MemoryFix:
    trial = fitted(request, fix)
    return replace(fix, peak_bytes=estimate_memory(loaded, trial).peak_bytes)


def _last_fixes(request: GenerationRequest, device: torch.device) -> tuple[MemoryFix, ...]:
    """Return what may help where nobody can tell what fits."""
    savings = () if device.type == "cpu" else (Saving.OFFLOAD, Saving.PROCESSOR)
    fixes = tuple(MemoryFix(savings=(saving,)) for saving in savings)
    asked = request.height or 0, request.width or 0
    height, width = (side // 2 // SIDE_UNIT * SIDE_UNIT for side in asked)
    return (*fixes, MemoryFix(size=(height, width))) if height and width else fixes


def _hint_without_model(device: torch.device) -> str:
    if device.type == "cpu":
        return LAST_RESORT
    ways = f'"{Saving.OFFLOAD.value}" or "{Saving.PROCESSOR.value}"'
    return f"Save memory by {ways}. {LAST_RESORT}"
