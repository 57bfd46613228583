"""Stage 2: a scene becomes a request, and a request a stream of events."""

import uuid
from collections.abc import Iterator
from dataclasses import replace

from spatialstudio.application.flow.check_request import check_request
from spatialstudio.domain.errors import PromptError
from spatialstudio.domain.generation import (
    PSG,
    PSG_PRESENCE,
    UNGUIDED,
    GenerationEvent,
    GenerationRequest,
    GuidanceSettings,
    ModelRef,
    RequestId,
)
from spatialstudio.domain.ports import CancelToken, GenerationBackend, ModelCard
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.domain.run_settings import Preset
from spatialstudio.science.guidance_presets import guidance_preset, has_work
from spatialstudio.science.scene_consistency import contradictions_of

PSG_KIN = frozenset({PSG, PSG_PRESENCE})


def new_request_id() -> RequestId:
    """Return an id that no other request has."""
    return RequestId(uuid.uuid4().hex)


def new_request(
    scene: SceneGraph,
    model: ModelCard,
    *,
    seed: int,
    steps: int | None = None,
    strength: float | None = None,
    guided: bool = True,
) -> GenerationRequest:
    """Ask for a picture of a scene; what is left out comes from the model's card.

    Args:
        scene: What to draw.
        model: Which weights.
        seed: 0 to ``MAX_SEED``.
        steps: Denoising steps.
        strength: PSG step size, in the unit of the recommended settings.
        guided: False for the plain model.
    """
    steps = model.steps if steps is None else steps
    guidance = GuidanceSettings()
    if guided and has_work(scene, PSG):
        guidance = choose_guidance(PSG, model, steps, strength=strength)
    return GenerationRequest(
        id=new_request_id(),
        scene=scene,
        backend_id=model.backend_id,
        model=ModelRef(id=model.id, revision=model.revision),
        seed=seed,
        steps=steps,
        guidance_scale=model.guidance_scale,
        guidance=guidance,
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
        method_id: "none", or one of ``METHOD_IDS``.
        model: Which weights; knows its own best strength for PSG and its kin.
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
    if strength is None and preset is Preset.RECOMMENDED and method_id in PSG_KIN:
        strength = model.strength
    return settings if strength is None else replace(settings, strength=strength)


def check_scene(scene: SceneGraph) -> None:
    """Refuse a scene that no picture can meet.

    Raises:
        PromptError: Its relations contradict each other.
    """
    for contradiction in contradictions_of(scene):
        raise PromptError(
            contradiction.message, hint="Change or remove one of the relations, then try again."
        )


def generate_image(
    request: GenerationRequest, model: ModelCard, backend: GenerationBackend, token: CancelToken
) -> Iterator[GenerationEvent]:
    """Check a request, then draw it.

    Yields:
        The backend's events.

    Raises:
        RequestError: A number of the request is out of its range, or the model cannot be drawn
            with its sampler.
        BackendError: The model is damaged or does not fit the request.
        Cancelled: The token was cancelled.
    """
    check_request(request, model)
    yield from backend.generate(request, model, token)
