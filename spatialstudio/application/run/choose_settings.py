"""Stage 2, settings: model defaults, effects of a choice, and requests from settings."""

import secrets
from dataclasses import replace

from spatialstudio.application.evaluate.judge_choice import JudgeDefaults
from spatialstudio.application.models.model_lists import choose_guidance
from spatialstudio.domain.derived_requests import is_search
from spatialstudio.domain.errors import RequestError
from spatialstudio.domain.generation import (
    LAYOUT,
    MAX_SEED,
    UNGUIDED,
    CaptureSettings,
    GenerationRequest,
    GuidanceSettings,
    ModelRef,
    NoiseSearch,
    SamplingSettings,
    new_request_id,
)
from spatialstudio.domain.ports import ModelCard
from spatialstudio.domain.prompt_syntax import drawn_prompt, drawn_scene
from spatialstudio.domain.run_settings import (
    Preset,
    RunSettings,
    SeedMode,
    SketchedPlaces,
    seed_after,
    with_places,
    with_values,
)
from spatialstudio.domain.scene import LoraUse, SceneGraph
from spatialstudio.domain.steering import ONE_PARTICLE
from spatialstudio.science.guidance.methods import GUIDANCE_METHODS, has_work
from spatialstudio.science.guidance.schedule import GuidanceSchedule
from spatialstudio.science.guidance.steering import recommended_steering

USUAL_STRENGTH = 1.0
"""Middle of the slider, used where no preset states a step size."""

_STATED = (Preset.PUBLISHED, Preset.SPATIALBENCH_UC)


def new_request(
    scene: SceneGraph,
    model: ModelCard,
    *,
    seed: int,
    steps: int | None = None,
    strength: float | None = None,
    guided: bool = True,
) -> GenerationRequest:
    """Create a request for a scene; omitted values come from the model's card.

    Weights and LoRAs written in the prompt become values of the request.

    Args:
        scene: Scene of the prompt as typed.
        model: Card of the model.
        seed: 0 to ``MAX_SEED``.
        steps: Number of denoising steps.
        strength: Step size, in the unit of the recommended settings.
        guided: False for no guidance.

    Raises:
        PromptError: The prompt names only LoRAs.
    """
    scene, loras = drawn_scene(scene)
    steps = model.steps if steps is None else steps
    guidance = GuidanceSettings()
    if guided and has_work(scene, LAYOUT):
        guidance = choose_guidance(LAYOUT, model, steps, strength=strength)
    return GenerationRequest(
        id=new_request_id(),
        scene=scene,
        backend_id=model.backend_id,
        model=ModelRef(id=model.id, revision=model.revision),
        sampling=SamplingSettings(
            seed=seed,
            steps=steps,
            guidance=guidance,
            loras=loras,
            prediction_type=model.prediction_type,
        ),
        guidance_scale=model.guidance_scale,
    )


def with_method(
    settings: RunSettings, model: ModelCard, method_id: str, preset: Preset
) -> RunSettings:
    """Switch the guidance method, or its preset.

    Raises:
        RequestError: The method was not published for models of this kind.
    """
    guidance = choose_guidance(method_id, model, settings.sampling.steps, preset=preset)
    return with_values(settings, preset=preset, guidance=guidance)


def with_steps(settings: RunSettings, model: ModelCard, steps: int) -> RunSettings:
    """Set the number of steps; the guided range scales with it unless the user edited it."""
    guidance = settings.sampling.guidance
    before, after = (_preset_at(settings, model, n) for n in (settings.sampling.steps, steps))
    if guidance.last_step == before.last_step:
        guidance = replace(guidance, last_step=after.last_step)
    return with_values(settings, steps=steps, guidance=guidance)


def recommended_strength(settings: RunSettings, model: ModelCard) -> float:
    """Return the step size of the selected preset, > 0."""
    strength = _preset_at(settings, model, settings.sampling.steps).strength
    return strength or USUAL_STRENGTH


def _preset_at(settings: RunSettings, model: ModelCard, steps: int) -> GuidanceSettings:
    """Return the selected preset; the current guidance if its method is not installed."""
    guidance = settings.sampling.guidance
    if guidance.method_id != UNGUIDED and guidance.method_id not in GUIDANCE_METHODS:
        return guidance
    return choose_guidance(guidance.method_id, model, steps, preset=settings.preset)


def presets_of(method_id: str, model: ModelCard) -> tuple[Preset, ...]:
    """Return the available presets of a method for a model."""
    return (Preset.RECOMMENDED, *(each for each in _STATED if _has(each, method_id, model)))


def _has(preset: Preset, method_id: str, model: ModelCard) -> bool:
    try:
        choose_guidance(method_id, model, model.steps, preset=preset)
    except RequestError:
        return False
    return True


def last_guided_step(settings: RunSettings) -> int:
    """Return the last step on which guidance may act, from 0."""
    chosen = GuidanceSchedule(settings.sampling.guidance, settings.sampling.steps).last_step
    return min(chosen, settings.sampling.steps - 1)


def seeds_of(settings: RunSettings) -> tuple[int, ...]:
    """Return one seed per image of a batch, beginning with the seed of the settings.

    Consecutive seeds leave room for the candidates of each image.
    """
    others = range(1, settings.pictures)
    first, apart = settings.sampling.seed, settings.candidates
    if settings.seed_mode is SeedMode.RANDOM:
        return (first, *(any_seed() for _ in others))
    return (first, *(seed_after(first, count * apart) for count in others))


def moved_on(settings: RunSettings) -> RunSettings:
    """Return the settings with the next seed."""
    if settings.seed_mode is SeedMode.RANDOM:
        return with_values(settings, seed=any_seed())
    if settings.seed_mode is SeedMode.INCREMENT:
        taken = settings.pictures * settings.candidates
        seed = seed_after(settings.sampling.seed, taken)
        return with_values(settings, seed=seed)
    return settings


def any_seed() -> int:
    """Return a random seed."""
    return secrets.randbelow(MAX_SEED + 1)


def request_of(
    scene: SceneGraph,
    model: ModelCard,
    settings: RunSettings,
    seed: int,
    places: SketchedPlaces | None = None,
    judges: JudgeDefaults | None = None,
) -> GenerationRequest:
    """Create a request from settings; without relations it has no noise search.

    Where the settings have guidance and leave the steering open, it is the recommended one.

    Args:
        scene: Scene of the prompt.
        model: Model of the settings.
        settings: The settings.
        seed: Seed of this image.
        places: Places of the layout sketch; None for none.
        judges: The judge set that would rate particles; None to steer only if the settings do.
    """
    sampling = settings.sampling
    guidance = with_places(sampling.guidance, (places or SketchedPlaces()).within(scene))
    is_guided = guidance.is_on and (bool(guidance.targets) or has_work(scene, guidance.method_id))
    wanted = replace(scene, prompt=replace(scene.prompt, negative=settings.negative))
    plain = new_request(wanted, model, seed=seed, guided=False)
    scale = settings.guidance_scale
    is_own_size = (settings.width, settings.height) == (model.native_size, model.native_size)
    asked = replace(
        plain,
        width=None if is_own_size else settings.width,
        height=None if is_own_size else settings.height,
        guidance_scale=plain.guidance_scale if scale is None else scale,
        sampling=replace(
            sampling,
            seed=seed,
            guidance=guidance if is_guided else plain.sampling.guidance,
            loras=(*sampling.loras, *plain.sampling.loras),
            prediction_type=sampling.prediction_type or plain.sampling.prediction_type,
        ),
        search=NoiseSearch(candidates=settings.candidates if scene.relations else 1),
        steering=(settings.steering if scene.mentions else None) or ONE_PARTICLE,
        capture=_capture_of(plain.capture, settings),
    )
    if judges is None or settings.steering is not None or not guidance.is_on:
        return asked
    return with_recommended_steering(asked, judges)


def _capture_of(usual: CaptureSettings, settings: RunSettings) -> CaptureSettings:
    return replace(
        usual,
        detail=settings.detail,
        self_attention=settings.self_attention,
        preview_every=settings.preview_every,
    )


def with_recommended_steering(
    request: GenerationRequest, judges: JudgeDefaults
) -> GenerationRequest:
    """Return a request with the recommended steering where a judge set can rate its depth.

    A request with a noise search, with attention on disk, or with sketched places, which keep the
    noise of the seed while they are moved, is returned as it is.

    Args:
        request: A request without steering.
        judges: The judge set that would rate the particles.
    """
    if is_search(request) or request.capture.stores_words or request.capture.stores_places:
        return request
    if request.sampling.guidance.targets:
        return request
    steering = recommended_steering(request.scene, request.sampling)
    if steering.is_on and not judges.rate_depth(request.model.id, request.scene):
        return request
    return replace(request, steering=steering)


def settings_of(request: GenerationRequest, model: ModelCard, settings: RunSettings) -> RunSettings:
    """Return the settings of a request; settings that it does not contain are kept.

    Its sketched places belong to its scene, not to the settings; see ``places_of``.

    Args:
        request: Request of the image.
        model: Its model.
        settings: The current settings.
    """
    scale = request.guidance_scale
    guidance = with_places(request.sampling.guidance, SketchedPlaces())
    usual = [ONE_PARTICLE]
    if guidance.method_id == UNGUIDED:
        guidance = choose_guidance(LAYOUT, model, request.sampling.steps)
        guidance = replace(guidance, strength=0.0)
    elif not request.sampling.guidance.targets:
        usual.append(recommended_steering(request.scene, request.sampling))
    return replace(
        settings,
        model_id=model.id,
        width=request.width or model.native_size,
        height=request.height or model.native_size,
        sampling=replace(
            request.sampling,
            guidance=guidance,
            device=settings.sampling.device,
            loras=_chosen_loras(request),
        ),
        guidance_scale=None if scale == model.guidance_scale else scale,
        negative=request.scene.prompt.negative_as_typed,
        candidates=request.search.candidates,
        steering=None if request.steering in usual else request.steering,
        detail=request.capture.detail,
        self_attention=request.capture.self_attention,
        preview_every=max(request.capture.preview_every, 1),
    )


def _chosen_loras(request: GenerationRequest) -> tuple[LoraUse, ...]:
    """Return the LoRAs chosen for a request, without the LoRAs at the end that its prompt adds."""
    loras, named = request.sampling.loras, drawn_prompt(request.scene.prompt.as_typed).loras
    return loras[: -len(named)] if named and loras[-len(named) :] == named else loras
