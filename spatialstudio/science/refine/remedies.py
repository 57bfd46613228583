"""The remedies of Fix it: how each changes the request of a picture that is not right.

Every remedy begins with the request of the start, so that attempts do not pile up changes. All but
weaker hold build on layout guidance, without its trial: the picture is known to need guidance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from spatialstudio.domain.fix import Fix, FixReason, Remedy
from spatialstudio.domain.generation import (
    LAYOUT,
    GenerationRequest,
    GuidanceSettings,
    NoiseSearch,
    PlaceTarget,
)
from spatialstudio.domain.options import OptionValue
from spatialstudio.domain.prompt_syntax import typed_with_weights
from spatialstudio.domain.requirements import requirements_of
from spatialstudio.domain.run_settings import SketchedPlaces, seed_after, with_places, with_values
from spatialstudio.domain.scene import (
    ABOVE,
    BEHIND,
    BELOW,
    IN_FRONT_OF,
    MentionId,
    Relation,
    SceneGraph,
    Shape,
    SpanWeight,
)
from spatialstudio.domain.steering import ONE_PARTICLE
from spatialstudio.domain.verdict import Perception
from spatialstudio.science.guidance.steering import MOST_COST, large_choices, particle_counts
from spatialstudio.science.scenes.layout import BLOB_SIDE, arrange
from spatialstudio.science.scenes.placement import find_object

APART = 1000
"""Between the seeds of attempts, so that batches with consecutive seeds do not repeat them."""

WORD_WEIGHT = 1.3
"""Of the words of a missing object."""

ALWAYS: Mapping[str, OptionValue] = {"trial_share": 0.0}

OPTIONS: Mapping[Remedy, Mapping[str, OptionValue]] = {
    Remedy.PRESENCE: {"exclusivity_weight": 1.0},
    Remedy.HOLD: {"order_margin": 0.12},
    Remedy.SEPARATION: {"exclusivity_weight": 1.5},
    Remedy.UNITY: {"unity_weight": 0.3},
    Remedy.COLOUR: {"colour_weight": 1.5},
}
"""Options of layout guidance that a remedy sets."""

HOLD_UPDATES = 2
"""Factor of the latent updates of a guided step, for a stronger hold."""
WEAKER = 0.5
"""Factor of the strength, for a weaker hold."""

_HEIGHTS = {IN_FRONT_OF: BELOW, BEHIND: ABOVE}
"""What is nearer stands lower in the picture."""


def remedied(fix: Fix, place: int) -> GenerationRequest:
    """Return the request of a planned attempt, with the id of the start.

    Args:
        fix: The fix.
        place: Index of the step, from 0.
    """
    step = fix.steps[place]
    request = _CHANGES.get(step.remedy, _guided)(fix, place)
    if not step.other_noise:
        return request
    return with_values(request, seed=seed_after(request.sampling.seed, APART * (place + 1)))


def sketch_for(scene: SceneGraph, perception: Perception | None) -> tuple[PlaceTarget, ...]:
    """Return places where all relations hold, as near as possible to where the objects are.

    Objects that should be far apart are small, so that there is room between them.

    Args:
        scene: The scene; depth is shown by height, the nearer object lower.
        perception: Where the objects of the picture are; None to ignore them.
    """
    kept = {}
    for mention in scene.mentions if perception else ():
        if perception is not None and (found := find_object(mention.id, perception)):
            kept[mention.id] = found.x, found.y
    flat = replace(scene, relations=tuple(map(_in_plane, scene.relations)))
    places = arrange(flat, kept)
    apart = {end for each in scene.relations if each.type.shape is Shape.FAR for end in each.ends}
    return tuple(
        PlaceTarget(mention_id=name, x=x, y=y, size=BLOB_SIDE if name in apart else None)
        for name, (x, y) in places.items()
        if not requirements_of(scene, name).quantity
    )


def _in_plane(relation: Relation) -> Relation:
    flat = _HEIGHTS.get(relation.type)
    return relation if flat is None else replace(relation, type=flat)


def _layout(fix: Fix) -> GuidanceSettings:
    """Return the layout guidance of the start, or the recommended one; always guided."""
    own = fix.request.sampling.guidance
    settings = own if own.method_id == LAYOUT and own.is_on else fix.layout
    settings = replace(settings, targets=own.targets, target_weight=own.target_weight)
    return replace(settings, options={**settings.options, **ALWAYS})


def _guided(fix: Fix, place: int) -> GenerationRequest:
    """Change options of layout guidance."""
    guidance, changed = _layout(fix), OPTIONS.get(fix.steps[place].remedy, {})
    guidance = replace(guidance, options={**guidance.options, **changed})
    return with_values(fix.request, guidance=guidance)


def _held(fix: Fix, place: int) -> GenerationRequest:
    request = _guided(fix, place)
    guidance = request.sampling.guidance
    updates = guidance.inner_updates * HOLD_UPDATES
    return with_values(request, guidance=replace(guidance, inner_updates=updates))


def _present(fix: Fix, place: int) -> GenerationRequest:
    request = _guided(fix, place)
    return replace(request, scene=_weighted(request.scene, fix.steps[place].about or fix.about))


def _weighted(scene: SceneGraph, about: Sequence[MentionId]) -> SceneGraph:
    """Weight the words of objects, unless the prompt weights them itself."""
    spans = [mention.span for mention in scene.mentions if mention.id in about]
    taken = scene.prompt.weights
    new = [
        SpanWeight(span=span, weight=WORD_WEIGHT)
        for span in spans
        if all(span.stop <= known.span.start or known.span.stop <= span.start for known in taken)
    ]
    weights = tuple(sorted((*taken, *new), key=lambda each: each.span.start))
    prompt = replace(scene.prompt, weights=weights)
    return replace(scene, prompt=replace(prompt, typed=typed_with_weights(prompt, weights)))


def _sketched(fix: Fix, _place: int) -> GenerationRequest:
    """Guide every object to its place; the user's own places stay."""
    own = fix.request.sampling.guidance.targets
    free = {each.mention_id for each in own}
    targets = (*own, *(each for each in fix.places if each.mention_id not in free))
    guidance = with_places(_layout(fix), SketchedPlaces(targets=targets))
    return replace(with_values(fix.request, guidance=guidance), steering=ONE_PARTICLE)


def _redrawn(fix: Fix, _place: int) -> GenerationRequest:
    """Redraw the object that failed, and keep the rest of the start."""
    places = SketchedPlaces(targets=fix.request.sampling.guidance.targets)
    if fix.redrawn is not None:
        places = places.with_target(fix.redrawn)
    return with_values(
        fix.request,
        guidance=with_places(_layout(fix), places),
        repair=fix.repair,
        search=NoiseSearch(),
        steering=ONE_PARTICLE,
    )


def _steered(fix: Fix, _place: int) -> GenerationRequest:
    """Steer with as many particles as the cost of the recommended steering allows."""
    request, steps = fix.request, fix.request.sampling.steps
    fitting = (
        each for each in large_choices() if sum(particle_counts(each, steps)) <= MOST_COST * steps
    )
    steering = next(fitting, ONE_PARTICLE)
    return replace(with_values(request, guidance=GuidanceSettings()), steering=steering)


def _with_noise(fix: Fix, _place: int) -> GenerationRequest:
    return fix.request


def _weaker(fix: Fix, place: int) -> GenerationRequest:
    """Halve the strength, once more in each later attempt."""
    guidance = fix.request.sampling.guidance
    strength = guidance.strength * WEAKER ** (place + 1)
    return with_values(fix.request, guidance=replace(guidance, strength=strength))


_CHANGES = {
    Remedy.REDRAW: _redrawn,
    Remedy.HOLD: _held,
    Remedy.PRESENCE: _present,
    Remedy.SKETCH: _sketched,
    Remedy.STEERING: _steered,
    Remedy.NOISE: _with_noise,
    Remedy.WEAKER: _weaker,
}

CANDIDATES: Mapping[FixReason, tuple[Remedy, ...]] = {
    FixReason.MISSING: (Remedy.REDRAW, Remedy.PRESENCE, Remedy.SEPARATION, Remedy.SKETCH),
    FixReason.MERGED: (Remedy.REDRAW, Remedy.SEPARATION, Remedy.SKETCH, Remedy.PRESENCE),
    FixReason.DUPLICATED: (Remedy.REDRAW, Remedy.UNITY, Remedy.SKETCH),
    FixReason.COUNT: (Remedy.STEERING, Remedy.NOISE),
    FixReason.COLOUR: (Remedy.COLOUR, Remedy.NOISE),
    FixReason.PLACE: (Remedy.REDRAW, Remedy.HOLD, Remedy.SKETCH),
    FixReason.DISTANCE: (Remedy.REDRAW, Remedy.HOLD, Remedy.SKETCH),
    FixReason.DEPTH: (Remedy.STEERING, Remedy.HOLD, Remedy.SKETCH),
    FixReason.UNSURE: (Remedy.HOLD, Remedy.SKETCH),
    FixReason.STYLE: (Remedy.WEAKER,),
}
"""Remedies that may act on each reason; which are tried first is measured."""
