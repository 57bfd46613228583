"""The form as it is, told as a picture tells of its making: so that the two can be compared."""

from collections.abc import Sequence
from dataclasses import asdict

from spatialstudio.application.flow.choose_settings import usual_settings
from spatialstudio.domain.draft import Draft
from spatialstudio.domain.generation import UNGUIDED, NoiseSearch
from spatialstudio.domain.picture_settings import (
    PictureSettings,
    claim_in_words,
    guidance_in_words,
    search_in_words,
)
from spatialstudio.domain.ports import ModelCard
from spatialstudio.domain.relation import SceneGraph


def tell_form(
    draft: Draft, scene: SceneGraph | None, models: Sequence[ModelCard]
) -> PictureSettings:
    """Return what a picture would tell that was drawn with the form as it is.

    Args:
        draft: What is typed and set.
        scene: That is worked on; None when there is none.
        models: Those that are here; the first is set where nothing was set by hand.
    """
    form = draft.settings or usual_settings(models[0])
    scales = {model.id: model.guidance_scale for model in models}
    scale = form.guidance_scale
    return PictureSettings(
        dialect="",
        prompt=draft.prompt,
        negative=form.negative,
        guidance_scale=scales.get(form.model_id) if scale is None else scale,
        seed=form.seed,
        steps=form.steps,
        sampler=form.scheduler_id,
        width=form.width,
        height=form.height,
        model=form.model_id,
        method=form.guidance.method_id if form.guidance.strength > 0 else UNGUIDED,
        strength=form.guidance.strength,
        guidance=guidance_in_words(asdict(form.guidance)),
        detail=form.detail.value,
        preview_every=form.preview_every,
        search=search_in_words(form.candidates, NoiseSearch().enough),
        savings=tuple(saving.value for saving in form.savings),
        device=form.device,
        dtype=form.dtype,
        relations=_claims_of(scene) if scene else (),
    )


def _claims_of(scene: SceneGraph) -> tuple[str, ...]:
    return tuple(
        claim_in_words(scene.plain_sentence(each), each.weight, is_muted=each.is_muted)
        for each in scene.relations
    )
