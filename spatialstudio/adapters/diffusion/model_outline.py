"""The layers that attend to the text, from a model's configuration without its weights."""

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
"""Device for tensors that have a shape but no values."""


def outline_layers(model: ModelCard, height: int, width: int) -> ModelLayers:
    """List the layers that attend to the text at a picture size.

    Args:
        model: The model whose configuration is read.
        height: Picture height, pixels.
        width: Picture width, pixels.

    Raises:
        ModelNotFound: The model is damaged or missing.
        BackendError: Its family is not supported.
    """
    outline = model_outline(model)
    return ModelLayers(
        layers=layers_at(outline, height, width),
        guiding=frozenset(layer.name for layer in outline.guiding_layers),
        heads=max(int(layer.module.heads) for layer in outline.text_layers),  # type: ignore[arg-type]
    )


def model_outline(model: ModelCard) -> LoadedPipeline:
    """Return a pipeline of a denoiser without weights, and of nothing else.

    Raises:
        ModelNotFound: The model is damaged or missing.
        BackendError: Its family is not supported.
    """
    try:
        return _outline(model)
    except SIGNS_OF_DAMAGE as error:
        raise damaged(model, error) from error


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
    """Build a denoiser without weights; the size of the weight files limits its size."""
    config_values = read_settings(config)
    with NOWHERE, held_to_weights(weights):
        built: torch.nn.Module = getattr(diffusers, config_values["_class_name"]).from_config(
            config_values
        )
    return built
