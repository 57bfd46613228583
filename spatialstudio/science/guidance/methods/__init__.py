"""Guidance methods; each module of this folder registers one as its constant ``METHOD``."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from operator import attrgetter

from spatialstudio.domain.errors import RequestError
from spatialstudio.domain.generation import UNGUIDED, GenerationRequest, GuidanceSettings
from spatialstudio.domain.registrations import Registrations, constants_in
from spatialstudio.domain.run_settings import Preset
from spatialstudio.domain.scene import SceneGraph
from spatialstudio.science.guidance.method import (
    PIXART_ALPHA,
    PIXART_SIGMA,
    SDXL,
    GuidanceMethod,
    Trial,
)

_GUIDED_SHARE: Mapping[str, float] = {SDXL: 0.2, PIXART_ALPHA: 0.4, PIXART_SIGMA: 0.4}
"""Fraction of steps that most methods guide by default; one half for other families."""

GUIDANCE_METHODS = Registrations(
    "guidance method",
    sorted(constants_in(__name__, "METHOD", GuidanceMethod), key=attrgetter("order")),
)
"""All guidance methods in display order: built-in methods, then those of plugins."""


def method_named(method_id: str) -> GuidanceMethod:
    """Return a registered method.

    Raises:
        RequestError: The method is unknown.
    """
    if method_id not in GUIDANCE_METHODS:
        known = (UNGUIDED, *(method.id for method in GUIDANCE_METHODS))
        raise RequestError(
            f'The guidance method "{method_id}" is not known.',
            hint=f"Choose one of {', '.join(known)}.",
        )
    return GUIDANCE_METHODS[method_id]


def guidance_preset(
    method_id: str, pipeline_class: str, preset: Preset, steps: int = 50
) -> GuidanceSettings:
    """Return the settings of a method for a model family.

    Families without published settings use those of Stable Diffusion with half of the steps
    guided.

    Args:
        method_id: Id of a registered method.
        pipeline_class: diffusers class name; empty if unknown.
        preset: The preset.
        steps: Denoising steps of the run.

    Raises:
        RequestError: The method is unknown, or has no such preset for the family.
    """
    method = method_named(method_id)
    found = method.preset(preset, pipeline_class)
    if found is None:
        raise RequestError(
            f'The method "{method_id}" has no preset "{preset.value}" for models of this kind.',
            hint=f'Choose the preset "{Preset.RECOMMENDED.value}".',
        )
    share = method.guided_share or _GUIDED_SHARE.get(pipeline_class)
    if preset is Preset.RECOMMENDED and found.last_step is None and share is not None:
        found = replace(found, last_step=max(round(share * steps) - 1, 0))
    return replace(method.completed(found), method_id=method_id)


def with_option(settings: GuidanceSettings, option_id: str, value: object) -> GuidanceSettings:
    """Return settings with an option of their method replaced.

    Raises:
        RequestError: The method is unknown, has no such option, or the value is out of range.
    """
    checked = method_named(settings.method_id).find_option(option_id).check(value)
    return replace(settings, options={**settings.options, option_id: checked})


def fitted_options(settings: GuidanceSettings) -> GuidanceSettings:
    """Return settings without options of other methods; unchanged for an unknown method."""
    if settings.method_id not in GUIDANCE_METHODS:
        return settings
    method = GUIDANCE_METHODS[settings.method_id]
    own = {name: value for name, value in settings.options.items() if method.option(name)}
    return replace(settings, options=own)


def unusual_options(method_id: str, options: Mapping[str, object]) -> Mapping[str, object]:
    """Return the options that differ from their defaults, and unknown options."""
    known = GUIDANCE_METHODS[method_id].options if method_id in GUIDANCE_METHODS else ()
    usual = {option.id: option.default for option in known}
    return {name: value for name, value in options.items() if value != usual.get(name)}


def has_work(scene: SceneGraph, method_id: str) -> bool:
    """Return True if a method can guide a scene with mentions."""
    if method_id not in GUIDANCE_METHODS:
        return any(relation.is_guided for relation in scene.relations)
    method = GUIDANCE_METHODS[method_id]
    if not method.needs_relations and len(scene.mentions) >= method.least_mentions:
        return True
    return any(
        relation.is_guided or (method.guides_depth and not relation.is_muted)
        for relation in scene.relations
    )


def trial_of(request: GenerationRequest) -> Trial | None:
    """Return how a request is tried without guidance first; None to guide it at once, or not.

    Steered pictures have no trial.
    """
    settings = request.sampling.guidance
    is_known = settings.strength > 0 and settings.method_id in GUIDANCE_METHODS
    if not is_known or request.steering.is_on or not has_work(request.scene, settings.method_id):
        return None
    make_trial = GUIDANCE_METHODS[settings.method_id].make_trial
    return None if make_trial is None else make_trial(settings)


def is_left_unguided(request: GenerationRequest, guiding_passes: Collection[int]) -> bool:
    """Return True if the trial of a request left all its steps unguided.

    Args:
        request: The request.
        guiding_passes: Passes with gradient of each step of the finished run; empty for a run
            without steps.
    """
    has_steps = len(guiding_passes) > 0
    return has_steps and trial_of(request) is not None and not any(guiding_passes)


def guides_depth(settings: GuidanceSettings) -> bool:
    """Return True if settings guide relations in depth by themselves."""
    known = settings.strength > 0 and settings.method_id in GUIDANCE_METHODS
    return known and GUIDANCE_METHODS[settings.method_id].guides_depth


def is_grounded(settings: GuidanceSettings) -> bool:
    """Return True if settings give boxes to the grounding layers of a model."""
    is_known = settings.is_on and settings.method_id in GUIDANCE_METHODS
    return is_known and GUIDANCE_METHODS[settings.method_id].takes_boxes


def reads_after(settings: GuidanceSettings) -> bool:
    """Return True if a guided step ends with a forward pass on the updated latents."""
    method_id = settings.method_id
    corrects = method_id in GUIDANCE_METHODS and GUIDANCE_METHODS[method_id].corrects_prediction
    return not (corrects or settings.reuses_prediction)
