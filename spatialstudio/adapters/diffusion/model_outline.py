"""Where a model attends to the text, known from its configuration: no weights are read."""

from concurrent.futures import Future
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace

import diffusers
import torch

from spatialstudio.adapters.diffusion.attention_archive import layers_at
from spatialstudio.adapters.diffusion.load_pipeline import (
    SIGNS_OF_DAMAGE,
    LoadedPipeline,
    all_files,
    damaged,
    family_of,
)
from spatialstudio.adapters.models.model_settings import read_settings
from spatialstudio.adapters.models.weight_limits import held_to_weights
from spatialstudio.domain.attention import ModelLayers
from spatialstudio.domain.ports import ModelCard

CONFIG_FILE = "config.json"
OUTLINES_KEPT = 4
NOWHERE = torch.device("meta")
"""Where tensors have a shape and no values."""


def outline_layers(model: ModelCard, height: int, width: int) -> ModelLayers:
    """List where a model attends to the text while it draws pictures of a size.

    Args:
        model: Whose configuration is read.
        height: Of the pictures, pixels.
        width: Likewise.

    Raises:
        ModelNotFound: The model is damaged or missing.
        BackendError: It is of a family that is not known.
    """
    try:
        outline = _outline(model)
    except SIGNS_OF_DAMAGE as error:
        raise damaged(model, error) from error
    return ModelLayers(
        layers=layers_at(outline, height, width),
        guiding=frozenset(layer.name for layer in outline.guiding_layers),
        heads=max(int(layer.module.heads) for layer in outline.text_layers),  # type: ignore[arg-type]
    )


def _outline(model: ModelCard) -> LoadedPipeline:
    family = family_of(model)
    name = family.kind.denoiser
    denoiser = _denoiser((model.base or model.folder) / name / CONFIG_FILE, all_files(model))
    outline = LoadedPipeline(
        SimpleNamespace(**{name: denoiser}), family, model.folder, NOWHERE, None, Future()
    )
    outline.pipeline.vae_scale_factor = model.native_size // outline.native_latent_side
    return outline


@lru_cache(maxsize=OUTLINES_KEPT)
def _denoiser(config: Path, weights: tuple[Path, ...]) -> torch.nn.Module:
    """Build a denoiser without its weights, which limit its size."""
    config_values = read_settings(config)
    with NOWHERE, held_to_weights(weights):
        built: torch.nn.Module = getattr(diffusers, config_values["_class_name"]).from_config(
            config_values
        )
    return built
