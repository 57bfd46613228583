"""Reads a pipeline's weights: safetensors only, nothing from the network."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import diffusers
import torch
from safetensors import safe_open

from spatialstudio.adapters.backends.read_tokenizers import read_tokenizers
from spatialstudio.adapters.model_kinds import MODEL_KINDS
from spatialstudio.adapters.model_parts import (
    parts_in_use,
    parts_left_out,
    read_index,
    variant_of,
    weight_files,
)
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
    if not hasattr(pipeline_class, "from_single_file"):
        return _read_denoiser(pipeline_class, model.folder, model.base, dtype)
    held = {*_parts_of(model.folder), MODEL_KINDS[model.pipeline_class].denoiser}
    missing = [name for name in ("vae", *TEXT_ENCODERS) if name not in held]
    rest = (
        _read_folder(pipeline_class, model.base, dtype, **dict.fromkeys(held)) if missing else None
    )
    given = {name: getattr(rest, name) for name in missing if getattr(rest, name, None)}
    return pipeline_class.from_single_file(
        str(model.folder),
        config=str(model.base),
        dtype=dtype,
        local_files_only=True,
        **_without_weights(model.base) | given,
    )


def files_read(model: ModelCard) -> tuple[Path, ...]:
    """List the weights of a model: its one file, or those of its parts, in order."""
    if model.folder.is_file():
        return (model.folder,)
    return weight_files(model.folder, parts_in_use(read_index(model.folder)))


def _read_denoiser(pipeline_class: Any, file: Path, base: Path, dtype: torch.dtype) -> Any:
    """Read the denoiser from a file, and every other part from a folder."""
    name = MODEL_KINDS[pipeline_class.__name__].denoiser
    _, denoiser_class = pipeline_class.load_config(base)[name]
    denoiser = getattr(diffusers, denoiser_class).from_single_file(
        str(file), config=str(base), subfolder=name, dtype=dtype, local_files_only=True
    )
    return _read_folder(pipeline_class, base, dtype, **{name: denoiser})


def _read_folder(pipeline_class: Any, folder: Path, dtype: torch.dtype, **given: Any) -> Any:
    return pipeline_class.from_pretrained(
        folder,
        dtype=dtype,
        variant=variant_of(folder, parts_in_use(read_index(folder))),
        use_safetensors=True,
        local_files_only=True,
        **_without_weights(folder) | given,
    )


def _without_weights(folder: Path) -> dict[str, Any]:
    """Read the tokenizers, and name the parts that the model goes without."""
    return dict.fromkeys(parts_left_out(read_index(folder))) | read_tokenizers(folder)


def _parts_of(file: Path) -> Iterator[str]:
    """List the parts beside the denoiser that a single file holds."""
    with safe_open(file, framework="pt") as content:
        names = list(content.keys())
    for part, signs in SIGNS.items():
        if any(name.startswith(signs) for name in names):
            yield part
