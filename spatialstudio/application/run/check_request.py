"""Validation of requests, before a model is loaded."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from math import inf, isfinite
from typing import Any

from spatialstudio.domain.derived_requests import is_search
from spatialstudio.domain.errors import PromptError, RequestError
from spatialstudio.domain.generation import (
    MAX_SEED,
    SAMPLING_OPTIONS,
    SMALLEST_TARGET,
    UNGUIDED,
    GenerationRequest,
    GuidanceSettings,
    SamplingSettings,
)
from spatialstudio.domain.ports import ModelCard
from spatialstudio.domain.samplers import sampler_title
from spatialstudio.domain.scene import SceneGraph, is_text
from spatialstudio.domain.steering import Potential, Steering, StepReward
from spatialstudio.science.guidance.method import GLIGEN
from spatialstudio.science.guidance.methods import GUIDANCE_METHODS, is_grounded, method_named
from spatialstudio.science.scenes.consistency import contradictions_of

CHANCE = 0.5
"""PoS of indistinguishable objects."""
MAX_STEPS = 1000
MAX_SIDE = 4096
MAX_CANDIDATES = 1000
MAX_UPDATES = 100
MAX_PARTICLES = 64
SMALLEST_SHARE = 0.001
SIDE_UNIT = 8


def check_scene(scene: SceneGraph) -> None:
    """Reject a contradictory scene.

    Raises:
        PromptError: Its relations contradict each other.
    """
    for contradiction in contradictions_of(scene):
        raise PromptError(
            contradiction.message, hint="Change or remove one of the relations, then try again."
        )


def check_request(request: GenerationRequest, model: ModelCard) -> None:
    """Validate a request.

    Args:
        request: The generation request.
        model: The card of its model.

    Raises:
        RequestError: A setting is out of range, the model does not support the sampler, or a search
            has no relation to rank by or is set to store attention to every word.
    """
    for error in _faults(request, model):
        raise error


def steering_named(particles: int, values: Mapping[str, Any], *, by_picture: bool) -> Steering:
    """Return the steering with the given fields.

    Args:
        particles: Number of particles, >= 2.
        values: Further fields by name, the potential by its value.
        by_picture: Whether predicted pictures are rated, otherwise the attention.

    Raises:
        RequestError: A field is unknown, or a value out of range.
    """
    known = {each.name for each in fields(Steering)} - {"particles", "rewards"}
    if unknown := sorted(values.keys() - known):
        raise RequestError(
            f'The steering has no setting "{unknown[0]}".',
            hint=f"Choose {', '.join(sorted(known))}.",
        )
    potentials = {each.value: each for each in Potential}
    potential = values.get("potential", Potential.DIFFERENCE.value)
    if potential not in potentials or particles == 1:
        raise RequestError(
            "Steering needs a known potential and at least 2 particles.",
            hint=f"Choose {', '.join(potentials)}.",
        )
    kind = StepReward.PICTURE if by_picture else StepReward.ATTENTION
    others = {**values, "potential": potentials[potential]}
    steering = Steering(particles=particles, rewards=(kind,), **others)
    for error in _steering_faults(steering):
        raise error
    return steering


def _faults(request: GenerationRequest, model: ModelCard) -> Iterator[RequestError]:
    if not is_text(request.scene.prompt.negative):
        yield RequestError(
            "The negative prompt is not valid UTF-8.",
            hint="Encode it in UTF-8, or type it again.",
        )
    if not 0 <= request.sampling.seed <= MAX_SEED:
        yield RequestError(
            f"The seed {request.sampling.seed} is out of range.",
            hint=f"Choose a whole number from 0 to {MAX_SEED}.",
        )
    if not 1 <= request.sampling.steps <= MAX_STEPS:
        yield RequestError(
            f"{request.sampling.steps} denoising steps are not possible.",
            hint=f"Choose 1 to {MAX_STEPS}; 20 to 50 are usual.",
        )
    if request.repair is not None:
        yield from request.repair.faults()
    yield from _search_faults(request)
    yield from _steering_faults(request.steering)
    yield from _particle_faults(request)
    yield from _sampler_faults(request.sampling.scheduler_id, model)
    yield from _guidance_faults(request.sampling.guidance)
    yield from _option_faults(request.sampling)
    yield from _grounding_faults(request.sampling.guidance, model)
    yield from _number_faults(request)
    yield from _target_faults(request)
    for name, side in (("width", request.width), ("height", request.height)):
        if side is not None and not _fits(side):
            yield RequestError(
                f"A {name} of {side} pixels is not possible.",
                hint=f"Choose a multiple of {SIDE_UNIT} from {SIDE_UNIT * SIDE_UNIT} "
                f"to {MAX_SIDE}, for example {_nearest(side)}.",
            )


def _search_faults(request: GenerationRequest) -> Iterator[RequestError]:
    if not 1 <= request.search.candidates <= MAX_CANDIDATES:
        yield RequestError(
            f"A noise search with {request.search.candidates} candidates is not possible.",
            hint=f"Choose 1 to {MAX_CANDIDATES}; 8 is a good start.",
        )
    if not is_search(request):
        return
    if not request.scene.relations:
        yield RequestError(
            "A search needs at least one relation.",
            hint="Add a relation to the prompt, or generate a single picture.",
        )
    if request.capture.stores_words or request.capture.stores_places:
        yield RequestError(
            "Layers cannot be recorded during a search, as each picture would "
            "overwrite that of the previous one.",
            hint=(
                "Run the search first, then generate the best seed again with attention recording."
            ),
        )


def _steering_faults(steering: Steering) -> Iterator[RequestError]:
    if not 1 <= steering.particles <= MAX_PARTICLES:
        yield RequestError(
            f"Steering with {steering.particles} particles is not possible.",
            hint=f"Choose 1 to {MAX_PARTICLES}; 1 is off, 8 is a good start.",
        )
    yield from _faults_of_ranges(
        ("fraction of particles that continue", steering.keep, SMALLEST_SHARE, 1),
        ("start of steering", steering.start, 0, 1),
        ("end of steering", steering.stop, 0, 1),
        ("interval of steering", steering.every, SMALLEST_SHARE, 1),
        ("strength of steering", steering.strength, 0, inf),
    )
    if not steering.rewards:
        yield RequestError(
            "Steering needs a reward.", hint="Choose the attention, the picture or both."
        )
    if steering.start > steering.stop:
        yield RequestError(
            "Steering cannot stop before it starts.", hint="Choose a start that is not above stop."
        )


def _particle_faults(request: GenerationRequest) -> Iterator[RequestError]:
    if not request.steering.is_on:
        return
    if not request.scene.mentions:
        yield RequestError(
            "Steering needs at least one object.",
            hint="Name an object in the prompt, or set the particles to 1.",
        )
    if request.capture.stores_words or request.capture.stores_places:
        yield RequestError(
            "Layers cannot be recorded while particles are steered: which of them becomes the "
            "picture is known only at the end.",
            hint="Reduce the recorded attention, or set the particles to 1.",
        )


def _sampler_faults(sampler: str, model: ModelCard) -> Iterator[RequestError]:
    """Yield an error for an unsupported sampler; the backend checks if the list is unknown."""
    if sampler and model.samplers and sampler not in model.samplers:
        yield RequestError(
            f'The model "{model.title}" does not support the sampler {sampler_title(sampler)}.',
            hint=f"Choose {', '.join(map(sampler_title, model.samplers))}.",
        )


def _guidance_faults(guidance: GuidanceSettings) -> Iterator[RequestError]:
    if not (isfinite(guidance.strength) and guidance.strength >= 0):
        yield RequestError(
            f"The strength {guidance.strength:g} (guidance step size) is invalid.",
            hint="Choose 0 for no guidance, or a positive step size.",
        )
    limit = guidance.gradient_limit
    if limit is not None and not (isfinite(limit) and limit > 0):
        yield RequestError(
            f"The gradient cannot be limited to {limit:g}.",
            hint="Choose more than 0; 0.001 is usual. Leave it out for no limit.",
        )
    if not CHANCE < guidance.goal <= 1:
        yield RequestError(
            f"Guidance cannot pause at a PoS of {guidance.goal:g}.",
            hint="Choose more than 0.5 and at most 1; 1 never pauses, 0.95 pauses early.",
        )
    if not 0 < guidance.decay <= 1:
        yield RequestError(
            f"The step size cannot decay to a factor of {guidance.decay:g}.",
            hint="Choose more than 0 and at most 1; 1 keeps it constant.",
        )


def _option_faults(sampling: SamplingSettings) -> Iterator[RequestError]:
    try:
        for option in SAMPLING_OPTIONS:
            option.check(getattr(sampling, option.id))
        if sampling.guidance.method_id != UNGUIDED:
            method_named(sampling.guidance.method_id).check(sampling.guidance)
    except RequestError as error:
        yield error


def _grounding_faults(guidance: GuidanceSettings, model: ModelCard) -> Iterator[RequestError]:
    if not is_grounded(guidance):
        return
    if model.pipeline_class != GLIGEN:
        label = GUIDANCE_METHODS[guidance.method_id].label
        yield RequestError(
            f'{label} needs a model with grounding layers; "{model.title}" has none.',
            hint="Choose a GLIGEN model, or another guidance method.",
        )
    if guidance.strength > 1:
        yield RequestError(
            f"Grounding cannot act on {guidance.strength:g} of the steps.",
            hint="Choose a strength from 0 to 1; 0.3 is usual.",
        )


def _number_faults(request: GenerationRequest) -> Iterator[RequestError]:
    """Yield an error for each number out of its range."""
    guidance, capture = request.sampling.guidance, request.capture
    last = guidance.last_step
    yield from _faults_of_ranges(
        ("CFG scale", request.guidance_scale, 0, inf),
        ("first guided step", guidance.first_step, 0, MAX_STEPS),
        ("number of guided steps", 0 if last is None else last + 1, 0, MAX_STEPS),
        ("interval of guided steps", guidance.every, 1, MAX_STEPS),
        ("number of updates per step", guidance.inner_updates, 1, MAX_UPDATES),
        ("number of refinements", guidance.most_refinements, 1, MAX_STEPS),
        ("PSE that ends the search", request.search.enough, 0, inf),
        ("interval of recorded attention", capture.attention_every, 0, inf),
        ("interval of previews", capture.preview_every, 0, inf),
        *(("target presence", goal.presence, 0, 1) for goal in guidance.refinements),
        *(("mention weight", each, 0, inf) for each in guidance.mention_weights.values()),
        ("weight of the sketched places", guidance.target_weight, 0, 1),
        *(("sketched place", each, 0, 1) for target in guidance.targets for each in target.place),
        *(
            ("sketched size", target.size, SMALLEST_TARGET, 1)
            for target in guidance.targets
            if target.size is not None
        ),
    )


def _faults_of_ranges(*ranges: tuple[str, float, float, float]) -> Iterator[RequestError]:
    """Yield an error for each name and value outside of its range, both ends included."""
    for name, value, low, high in ranges:
        if not (isfinite(value) and low <= value <= high):
            limit = f"{low:g} or more" if high == inf else f"{low:g} to {high:g}"
            yield RequestError(f"The {name} cannot be {value:g}.", hint=f"Choose {limit}.")


def _target_faults(request: GenerationRequest) -> Iterator[RequestError]:
    placed = [target.mention_id for target in request.sampling.guidance.targets]
    known = {mention.id for mention in request.scene.mentions}
    if unknown := [each for each in placed if each not in known]:
        yield RequestError(
            f'The sketch places an object "{unknown[0]}" that the prompt does not mention.',
            hint="Remove it from the sketch, or mention it in the prompt.",
        )
    if len(set(placed)) < len(placed):
        yield RequestError("The sketch places an object twice.", hint="Keep one of the places.")


def _fits(side: int) -> bool:
    return side % SIDE_UNIT == 0 and SIDE_UNIT * SIDE_UNIT <= side <= MAX_SIDE


def _nearest(side: int) -> int:
    rounded = round(side / SIDE_UNIT) * SIDE_UNIT
    return min(max(rounded, SIDE_UNIT * SIDE_UNIT), MAX_SIDE)
