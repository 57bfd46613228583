"""Question answerer "blip": the first BLIP model of the model folders or the hub cache."""

from spatialstudio.adapters.models.blip import build

__all__ = ["build"]
