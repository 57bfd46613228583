"""Settings that a model recommends."""

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
    """Return what a model recommends."""
    return RunSettings(
        model_id=model.id,
        width=model.native_size,
        height=model.native_size,
        sampling=SamplingSettings(
            steps=model.steps, guidance=choose_guidance(PSG, model, model.steps)
        ),
    )


def with_model(settings: RunSettings, model: ModelCard) -> RunSettings:
    """Choose another model: size, steps and guidance become its own, the rest stays if it can."""
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
    """Choose how a picture is held to its prompt.

    Args:
        method_id: "none", or that of a registered method.
        model: Which weights; knows its own best strength for PSG.
        steps: Denoising steps of the run.
        preset: Whose settings.
        strength: Step size; None for that of the preset, 0 for no guidance.

    Raises:
        RequestError: The method is not known, or was not published for models of this kind.
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
