"""Saves and restores half-finished trainings, so that they can be interrupted at any time."""

from pathlib import Path
from typing import Any

import torch


def save_checkpoint(file: Path, state: dict[str, Any]) -> None:
    """Write a checkpoint whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_suffix(".unfinished")
    torch.save(state, unfinished)
    unfinished.replace(file)


def load_checkpoint(file: Path) -> dict[str, Any] | None:
    """Read a checkpoint; None where there is none yet."""
    if not file.exists():
        return None
    state: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=True)
    return state
