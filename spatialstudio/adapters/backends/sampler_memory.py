"""Keeps samplers from undoing a move with latents that they remember.

Most samplers go on from the latents that they are given. UniPC corrects the last step once more
from where that began, and samplers of several stages (Heun, KDPM2, DPM-Solver single-step) finish a
step from where its first stage began: of a move that they know nothing of, little or nothing
would be left. PNDM's second call goes back as well; there we stay with the published code, which
loses that one update.
"""

from typing import Any

import torch


def move_along(scheduler: Any, shift: torch.Tensor) -> None:
    """Tell a sampler, before its step, that its latents were moved; nothing else about it changes.

    Args:
        scheduler: In the midst of a run.
        shift: Taken off the latents, in the scheduler's units.
    """
    if not shift.any():
        return
    if getattr(scheduler, "last_sample", None) is not None:
        scheduler.last_sample = None  # without it UniPC predicts, and does not correct
    first_stage = getattr(scheduler, "sample", None)
    if isinstance(first_stage, torch.Tensor):
        scheduler.sample = first_stage - shift
