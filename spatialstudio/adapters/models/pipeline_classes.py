"""Lazy import of diffusers pipeline classes."""

from importlib import import_module
from typing import Any

import diffusers
from transformers.utils.import_utils import is_torchvision_available

PICTURE_PROCESSORS = ("CLIPImageProcessor", "SiglipImageProcessor")
"""Names that diffusers imports from transformers, whose default versions need torchvision."""


def import_pipeline(class_name: str) -> Any:
    """Return a pipeline class; without torchvision it uses the Pillow image processors."""
    if not is_torchvision_available():
        by_pillow = {name: _from_transformers(f"{name}Pil") for name in PICTURE_PROCESSORS}
        transformers = import_module("transformers")
        for name, processor in by_pillow.items():
            setattr(transformers, name, processor)
    return getattr(diffusers, class_name)


def _from_transformers(name: str) -> Any:
    """Look a name up in the current module object, which the first lookup replaces."""
    return getattr(import_module("transformers"), name)
