"""Imports diffusers' pipeline classes, each on its first use."""

from importlib import import_module
from typing import Any

import diffusers
from transformers.utils import is_torchvision_available

PICTURE_PROCESSORS = ("CLIPImageProcessor", "SiglipImageProcessor")
"""Names that diffusers imports from transformers, where they need torchvision."""


def import_pipeline(class_name: str) -> Any:
    """Return a pipeline class; without torchvision its image processors are those of Pillow."""
    if not is_torchvision_available():
        transformers = import_module("transformers")  # it puts another module in its own place
        for name in PICTURE_PROCESSORS:
            setattr(transformers, name, getattr(transformers, f"{name}Pil"))
    return getattr(diffusers, class_name)
