"""Recommended settings of a model."""

from dataclasses import replace

from spatialstudio.domain.generation import (
    PSG,
    UNGUIDED,
    GuidanceSettings,
    SamplingSettings,
)
from spatialstudio.domain.ports import ModelCard
from spatialstudio.domain.run_settings import Preset, RunSettings, with_values
from spatialstudio.science.guidance.methods import GUIDANCE_METHODS
from spatialstudio.science.guidance.presets import guidance_preset


def usual_settings(model: ModelCard) -> RunSettings:
    """Return a model's recommended settings."""
    return RunSettings(
        model_id=model.id,
        width=model.native_size,
        height=model.native_size,
        sampling=SamplingSettings(
            steps=model.steps, guidance=choose_guidance(PSG, model, model.steps)
        ),
    )


def with_model(settings: RunSettings, model: ModelCard) -> RunSettings:
    """Switch to another model: take its size, steps and guidance, keep the rest if compatible."""
    usual, sampler = usual_settings(model), settings.sampling.scheduler_id
    return with_values(
        settings,
        model_id=model.id,
        width=usual.width,
        height=usual.height,
        steps=usual.sampling.steps,
        scheduler_id=sampler if sampler in model.samplers else "",
        guidance=usual.sampling.guidance,
        guidance_scale=None,
        preset=usual.preset,
    )


def choose_guidance(
    method_id: str,
    model: ModelCard,
    steps: int,
    *,
    preset: Preset = Preset.RECOMMENDED,
    strength: float | None = None,
) -> GuidanceSettings:
    """Return the guidance settings of a preset for a model.

    Args:
        method_id: "none", or the id of a registered method.
        model: Card of the model, which may define its own recommended strength for PSG.
        steps: Number of denoising steps.
        preset: Source of the settings.
        strength: Step size; None for the preset's, 0 for no guidance.

    Raises:
        RequestError: The method is unknown, or was not published for models of this kind.
    """
    if method_id == UNGUIDED:
        return GuidanceSettings()
    settings = guidance_preset(method_id, model.pipeline_class, preset, steps)
    if strength == 0:
        return GuidanceSettings()
    is_models = preset is Preset.RECOMMENDED and GUIDANCE_METHODS[method_id].uses_model_strength
    if strength is None and is_models:
        strength = model.strength
    return settings if strength is None else replace(settings, strength=strength)
