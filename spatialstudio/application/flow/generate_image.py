"""Stage 2: a scene becomes a request, and a request a stream of events."""

import math
import uuid
from collections.abc import Iterator
from dataclasses import replace

from spatialstudio.domain.errors import PromptError, RequestError
from spatialstudio.domain.generation import (
    MAX_SEED,
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
from spatialstudio.science.guidance_presets import guidance_preset
from spatialstudio.science.scene_consistency import contradictions_of

PSG_KIN = frozenset({PSG, PSG_PRESENCE})
CHANCE = 0.5
"""PoS of objects that nothing tells apart."""
MAX_STEPS = 1000
MAX_SIDE = 4096
MAX_CANDIDATES = 1000
SIDE_UNIT = 8


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
    if guided and any(not relation.is_muted for relation in scene.relations):
        guidance = choose_guidance(PSG, model, steps, strength=strength)
    return GenerationRequest(
        id=new_request_id(),
        scene=scene,
        backend_id=model.backend_id,
        model=ModelRef(id=model.id),
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
        strength: Step size; None for that of the preset.

    Raises:
        RequestError: The method is not known, or was not published for models of this kind.
    """
    if method_id == UNGUIDED:
        return GuidanceSettings()
    settings = guidance_preset(method_id, model.pipeline_class, preset, steps)
    if strength is None and preset is Preset.RECOMMENDED and method_id in PSG_KIN:
        strength = model.strength
    return settings if strength is None else replace(settings, strength=strength)


def check_request(request: GenerationRequest) -> None:
    """Refuse what no backend can do, before a model is loaded for it.

    Raises:
        RequestError: A number of the request is out of its range.
    """
    if not 0 <= request.seed <= MAX_SEED:
        raise RequestError(
            f"The seed {request.seed} is out of range.",
            hint=f"Choose a whole number from 0 to {MAX_SEED}.",
        )
    if not 1 <= request.steps <= MAX_STEPS:
        raise RequestError(
            f"{request.steps} denoising steps cannot be taken.",
            hint=f"Choose 1 to {MAX_STEPS}; 20 to 50 are usual.",
        )
    if not (math.isfinite(request.guidance.strength) and request.guidance.strength >= 0):
        raise RequestError(
            f"The strength {request.guidance.strength:g} cannot be used.",
            hint="Choose 0 for no effect, or a positive step size.",
        )
    if not CHANCE < request.guidance.goal <= 1:
        raise RequestError(
            f"Guidance cannot rest at a PoS of {request.guidance.goal:g}.",
            hint="Choose more than 0.5 and at most 1; 1 never rests, 0.95 rests early.",
        )
    if not 1 <= request.search.candidates <= MAX_CANDIDATES:
        raise RequestError(
            f"A search among {request.search.candidates} pictures cannot be made.",
            hint=f"Choose 1 to {MAX_CANDIDATES}; 8 is a good start.",
        )
    for name, side in (("width", request.width), ("height", request.height)):
        if side is not None and not _fits(side):
            raise RequestError(
                f"The {name} of {side} pixels cannot be drawn.",
                hint=f"Choose a multiple of {SIDE_UNIT} from {SIDE_UNIT * SIDE_UNIT} "
                f"to {MAX_SIDE}, for example {_nearest(side)}.",
            )


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
        RequestError: A number of the request is out of its range.
        BackendError: The model is damaged or does not fit the request.
        Cancelled: The token was cancelled.
    """
    check_request(request)
    yield from backend.generate(request, model, token)


def _fits(side: int) -> bool:
    return side % SIDE_UNIT == 0 and SIDE_UNIT * SIDE_UNIT <= side <= MAX_SIDE


def _nearest(side: int) -> int:
    rounded = round(side / SIDE_UNIT) * SIDE_UNIT
    return min(max(rounded, SIDE_UNIT * SIDE_UNIT), MAX_SIDE)
