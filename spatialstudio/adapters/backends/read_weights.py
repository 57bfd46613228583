"""Reads a pipeline's weights: safetensors only, nothing from the network."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open

from spatialstudio.adapters.model_kinds import MODEL_KINDS
from spatialstudio.domain.ports import ModelCard

TEXT_ENCODERS = ("text_encoder", "text_encoder_2", "text_encoder_3")
SIGNS = {
    "vae": ("first_stage_model.", "vae."),
    **dict.fromkeys(TEXT_ENCODERS, ("cond_stage_model.", "conditioner.", "text_encoders.")),
}
"""How the names of weights begin that a single file may hold beside the denoiser's."""


def read_pipeline(pipeline_class: Any, model: ModelCard, dtype: torch.dtype) -> Any:
    """Make the pipeline of a model; libraries' errors pass as they are.

    Args:
        pipeline_class: Of diffusers.
        model: A folder, or a single file and the folder that completes it.
        dtype: Of the weights.
    """
    if model.base is None:
        return _read_folder(pipeline_class, model.folder, dtype)
    held = {*_parts_of(model.folder), MODEL_KINDS[model.pipeline_class].denoiser}
    missing = [name for name in ("vae", *TEXT_ENCODERS) if name not in held]
    rest = (
        _read_folder(pipeline_class, model.base, dtype, **dict.fromkeys(held)) if missing else None
    )
    given = {name: getattr(rest, name) for name in missing if getattr(rest, name, None)}
    return pipeline_class.from_single_file(
        str(model.folder), config=str(model.base), dtype=dtype, local_files_only=True, **given
    )


def weight_files(model: ModelCard) -> tuple[Path, ...]:
    """List the weights of a model: its one file, or all files of its parts, in order."""
    if model.folder.is_file():
        return (model.folder,)
    return tuple(sorted(model.folder.glob("*/*.safetensors")))


def _read_folder(pipeline_class: Any, folder: Path, dtype: torch.dtype, **left_out: None) -> Any:
    return pipeline_class.from_pretrained(
        folder, dtype=dtype, use_safetensors=True, local_files_only=True, **left_out
    )


def _parts_of(file: Path) -> Iterator[str]:
    """List the parts beside the denoiser that a single file holds."""
    with safe_open(file, framework="pt") as content:
        names = list(content.keys())
    for part, signs in SIGNS.items():
        if any(name.startswith(signs) for name in names):
            yield part
