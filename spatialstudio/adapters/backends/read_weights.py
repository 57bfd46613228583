"""Reads a pipeline's weights: safetensors only, nothing from the network."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import diffusers
import torch
from safetensors import safe_open

from spatialstudio.adapters.backends.read_tokenizers import read_tokenizers
from spatialstudio.adapters.model_kinds import MODEL_KINDS
from spatialstudio.adapters.model_parts import (
    check_parts,
    parts_in_use,
    parts_left_out,
    read_index,
    refuse_stray_shards,
    variant_of,
    weight_files,
)
from spatialstudio.adapters.weight_limits import held_to_weights
from spatialstudio.domain.ports import ModelCard

SIGNS = {
    "vae": ("first_stage_model.", "vae."),
    "text_encoder": ("cond_stage_model.", "conditioner.embedders.0.", "text_encoders.clip_l."),
    "text_encoder_2": ("conditioner.embedders.1.", "text_encoders.clip_g."),
}
"""How the names of weights begin that a single file may hold beside the denoiser's."""

SIGNS_OF_CLASSES = {"T5EncoderModel": ("text_encoders.t5xxl.",)}
"""Likewise, of what is known by its class: T5 is second in FLUX, third in Stable Diffusion 3."""


def read_pipeline(pipeline_class: Any, model: ModelCard, dtype: torch.dtype) -> Any:
    """Make the pipeline of a model; libraries' errors pass as they are.

    Args:
        pipeline_class: Of diffusers.
        model: A folder, or a single file and the folder that completes it.
        dtype: Of the weights.
    """
    check_parts(model.base or model.folder)
    with held_to_weights(all_files(model)):
        return _read(pipeline_class, model, dtype)


def _read(pipeline_class: Any, model: ModelCard, dtype: torch.dtype) -> Any:
    if model.base is None:
        return _read_folder(pipeline_class, model.folder, dtype, _without_weights(model.folder))
    others = _without_weights(model.base)
    if not hasattr(pipeline_class, "from_single_file"):
        own = _read_denoiser(pipeline_class, model.folder, model.base, dtype)
        return _read_folder(pipeline_class, model.base, dtype, others | own)
    denoiser = MODEL_KINDS[pipeline_class.__name__].denoiser
    signs = _signs(parts_in_use(read_index(model.base)))
    held = _held(model.folder, signs)
    missing = signs.keys() - held
    wanted = others | dict.fromkeys([denoiser, *held])
    rest = _read_folder(pipeline_class, model.base, dtype, wanted) if missing else None
    given = {name: getattr(rest, name) for name in missing}
    return pipeline_class.from_single_file(
        str(model.folder),
        config=str(model.base),
        dtype=dtype,
        local_files_only=True,
        **others | given,
    )


def files_read(model: ModelCard) -> tuple[Path, ...]:
    """List the weights of a model: its one file, or those of its parts, in order."""
    if model.folder.is_file():
        return (model.folder,)
    return weight_files(model.folder, parts_in_use(read_index(model.folder)))


def all_files(model: ModelCard) -> tuple[Path, ...]:
    """List all weights that a model may be made of: its own, and those that complete it."""
    if model.base is None:
        return files_read(model)
    return (*files_read(model), *weight_files(model.base, parts_in_use(read_index(model.base))))


def _read_denoiser(
    pipeline_class: Any, file: Path, base: Path, dtype: torch.dtype
) -> dict[str, Any]:
    """Read the denoiser from a file, by its name in the pipeline; a folder tells its class."""
    name = MODEL_KINDS[pipeline_class.__name__].denoiser
    _, denoiser_class = pipeline_class.load_config(base)[name]
    denoiser = getattr(diffusers, denoiser_class).from_single_file(
        str(file), config=str(base), subfolder=name, dtype=dtype, local_files_only=True
    )
    return {name: denoiser}


def _read_folder(
    pipeline_class: Any, folder: Path, dtype: torch.dtype, given: Mapping[str, Any]
) -> Any:
    """Read a pipeline's weights from a folder, but for the parts that are given."""
    parts = parts_in_use(read_index(folder))
    refuse_stray_shards(folder, parts)
    return pipeline_class.from_pretrained(
        folder,
        dtype=dtype,
        variant=variant_of(folder, parts),
        use_safetensors=True,
        local_files_only=True,
        trust_remote_code=False,
        **given,
    )


def _without_weights(folder: Path) -> dict[str, Any]:
    """Read the tokenizers, and name the parts that the model goes without."""
    return dict.fromkeys(parts_left_out(read_index(folder))) | read_tokenizers(folder)


def _signs(parts: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Say by which names of weights parts are known; parts that no single file holds are left out.

    Args:
        parts: By name, their classes.
    """
    signs = {
        name: SIGNS_OF_CLASSES.get(class_name) or SIGNS.get(name, ())
        for name, class_name in parts.items()
    }
    return {name: own for name, own in signs.items() if own}


def _held(file: Path, signs: Mapping[str, tuple[str, ...]]) -> set[str]:
    """Name the parts beside the denoiser that a single file holds."""
    with safe_open(file, framework="pt") as content:
        names = list(content.keys())
    return {part for part, own in signs.items() if any(name.startswith(own) for name in names)}
