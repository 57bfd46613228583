"""Transfer of selected settings from an image's metadata to the current settings."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, replace

from spatialstudio.application.models.model_lists import usual_settings, with_model
from spatialstudio.domain.attention import AttentionDetail
from spatialstudio.domain.generation import (
    MAX_SEED,
    SAMPLING_OPTIONS,
    UNGUIDED,
    GenerationRequest,
    GuidanceSettings,
    NoiseSearch,
)
from spatialstudio.domain.picture_settings import (
    PictureSettings,
    claim_in_words,
    guidance_in_words,
    search_in_words,
)
from spatialstudio.domain.ports import ModelCard
from spatialstudio.domain.prompt_syntax import typed_scene
from spatialstudio.domain.run_settings import (
    Draft,
    RunSettings,
    SketchedPlaces,
    with_places,
    with_values,
)
from spatialstudio.domain.scene import SceneGraph
from spatialstudio.science.guidance.methods import fitted_options, unusual_options

PROMPT = "prompt"
RELATIONS = "relations"
OF_SCENE = frozenset({PROMPT, RELATIONS})
"""Fields that belong to the scene, not to the settings."""
NEEDS = {RELATIONS: PROMPT}
"""Fields that require another; relations refer to words of their prompt."""
PLAIN = ("seed", "steps", "width", "height", "negative", "guidance_scale", "preview_every")
"""Fields of ``PictureSettings`` that are called the same in the form."""


def _taking(name: str) -> Callable[[GenerationRequest], Mapping[str, object]]:
    return lambda request: {name: getattr(request.sampling, name)}


OURS: Mapping[str, Callable[[GenerationRequest], Mapping[str, object]]] = {
    "sampler": lambda request: {"scheduler_id": request.sampling.scheduler_id},
    "search": lambda request: {
        "candidates": request.search.candidates,
        "steering": request.steering if request.steering.is_on else None,
    },
    "savings": lambda request: {"savings": request.sampling.savings},
    **{option.id: _taking(option.id) for option in SAMPLING_OPTIONS},
}
"""Settings taken only from images of this application, with their fields in the request."""
MULTIPLE_OF = 8
"""Image sides must be divisible by this."""
DETAILS = {detail.value: detail for detail in AttentionDetail}


def usable_fields(
    theirs: PictureSettings, models: Collection[str], request: GenerationRequest | None = None
) -> tuple[str, ...]:
    """Return the fields of an image that can be transferred; others are shown only.

    Args:
        theirs: Settings in the image's metadata.
        models: Ids of the installed models.
        request: Request in the metadata of this application; None for other images.
    """
    is_ours = request is not None
    is_guided = request is not None and request.sampling.guidance.method_id != UNGUIDED
    fits = {
        PROMPT: bool(theirs.prompt.strip()),
        "negative": is_ours or bool(theirs.negative),
        "seed": theirs.seed is not None and 0 <= theirs.seed <= MAX_SEED,
        "steps": _is_positive(theirs.steps),
        "guidance_scale": theirs.guidance_scale is not None and theirs.guidance_scale >= 0,
        "width": _is_side(theirs.width),
        "height": _is_side(theirs.height),
        "model": theirs.model in models,
        "method": is_ours,
        "strength": theirs.strength is not None and theirs.strength >= 0,
        "guidance": is_guided,
        "detail": theirs.detail in DETAILS,
        "preview_every": _is_positive(theirs.preview_every),
        **dict.fromkeys(OURS, is_ours),
        RELATIONS: request is not None and bool(request.scene.relations),
    }
    return tuple(name for name, is_usable in fits.items() if is_usable)


def with_fields(
    settings: RunSettings,
    theirs: PictureSettings,
    names: Collection[str],
    model: ModelCard | None = None,
    request: GenerationRequest | None = None,
) -> RunSettings:
    """Return settings with selected fields of an image, except its prompt.

    Args:
        settings: The current settings.
        theirs: Settings in the image's metadata.
        names: Usable fields to transfer.
        model: The image's model, if it is to be transferred.
        request: Request in the metadata of this application; None for other images.
    """
    taken = settings if model is None else with_model(settings, model)
    stated = {name: getattr(theirs, name) for name in PLAIN if name in names}
    if "detail" in names:
        stated["detail"] = DETAILS[theirs.detail]
    if request is not None:
        for name in OURS.keys() & names:
            stated |= OURS[name](request)
    guidance = _guidance(taken.sampling.guidance, theirs, names, request)
    return with_values(taken, guidance=guidance, **stated)


def _guidance(
    guidance: GuidanceSettings,
    theirs: PictureSettings,
    names: Collection[str],
    request: GenerationRequest | None,
) -> GuidanceSettings:
    """Return guidance with the selected fields; step size 0 if the image was not guided."""
    wanted = request.sampling.guidance if request is not None else None
    if wanted is not None and "guidance" in names:
        free = with_places(wanted, SketchedPlaces())  # sketched places belong to the scene
        guidance = replace(free, method_id=guidance.method_id, strength=guidance.strength)
    if "strength" in names and theirs.strength is not None:
        guidance = replace(guidance, strength=theirs.strength)
    if wanted is not None and "method" in names:
        is_none = wanted.method_id == UNGUIDED
        change = {"strength": 0.0} if is_none else {"method_id": wanted.method_id}
        guidance = replace(guidance, **change)
    return fitted_options(guidance)


def scene_to_take(request: GenerationRequest) -> SceneGraph:
    """Return the scene of a request, as typed; its negative prompt belongs to the settings."""
    scene = typed_scene(request.scene)
    return replace(scene, prompt=replace(scene.prompt, negative=""))


def _is_positive(number: int | None) -> bool:
    return number is not None and number > 0


def _is_side(number: int | None) -> bool:
    return _is_positive(number) and not (number or 0) % MULTIPLE_OF


def tell_form(
    draft: Draft, scene: SceneGraph | None, models: Sequence[ModelCard]
) -> PictureSettings:
    """Return the current settings in the form of image metadata.

    Args:
        draft: Current prompt and settings.
        scene: The current scene; None if there is none.
        models: Installed models; the first applies if none is selected.
    """
    form = draft.settings or usual_settings(models[0])
    scales = {model.id: model.guidance_scale for model in models}
    scale = form.guidance_scale
    return PictureSettings(
        dialect="",
        prompt=draft.prompt,
        negative=form.negative,
        guidance_scale=scales.get(form.model_id) if scale is None else scale,
        seed=form.sampling.seed,
        steps=form.sampling.steps,
        sampler=form.sampling.scheduler_id,
        width=form.width,
        height=form.height,
        model=form.model_id,
        method=form.sampling.guidance.method_id
        if form.sampling.guidance.strength > 0
        else UNGUIDED,
        strength=form.sampling.guidance.strength,
        guidance=guidance_in_words(
            asdict(with_places(form.sampling.guidance, draft.places)),
            unusual_options(form.sampling.guidance.method_id, form.sampling.guidance.options),
            {each.id: each.phrase for each in scene.mentions} if scene else {},
        ),
        detail=form.detail.value,
        preview_every=form.preview_every,
        search=search_in_words(form.candidates, NoiseSearch().enough),
        savings=tuple(saving.value for saving in form.sampling.savings),
        device=form.sampling.device,
        options={
            option.id: option.in_words(getattr(form.sampling, option.id))
            for option in SAMPLING_OPTIONS
        },
        relations=_claims_of(scene) if scene else (),
    )


def _claims_of(scene: SceneGraph) -> tuple[str, ...]:
    return tuple(
        claim_in_words(scene.plain_sentence(each), each.weight, is_muted=each.is_muted)
        for each in scene.relations
    )
