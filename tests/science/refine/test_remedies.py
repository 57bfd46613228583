"""What each remedy changes in the request of the start."""

from dataclasses import replace

import pytest

from spatialstudio.domain.fix import Fix, FixAttempt, FixReason, FixStep, Remedy
from spatialstudio.domain.generation import (
    LAYOUT,
    GenerationRequest,
    GuidanceSettings,
    ModelRef,
    PlaceTarget,
    RequestId,
    SamplingSettings,
)
from spatialstudio.domain.repair import LocalRepair, Region
from spatialstudio.domain.scene import ABOVE, BEHIND, FAR_FROM, IN_FRONT_OF, LEFT_OF, MentionId
from spatialstudio.science.refine.remedies import CANDIDATES, remedied, sketch_for
from tests.fakes import scene_of

DOG, CAR = MentionId("m1"), MentionId("m2")
RECOMMENDED = GuidanceSettings(method_id=LAYOUT, strength=100, inner_updates=5)
START = GenerationRequest(
    id=RequestId("start"),
    scene=scene_of(),
    backend_id="fake",
    model=ModelRef(id="fake"),
    sampling=SamplingSettings(seed=7, steps=20, guidance=RECOMMENDED),
)


def fix_by(*steps, request=START, about=(), places=()):
    return Fix(
        id="one",
        start=FixAttempt(request_id=request.id),
        request=request,
        reason=FixReason.PLACE,
        about=about,
        steps=steps,
        layout=RECOMMENDED,
        places=places,
    )


def request_by(remedy, **more):
    return remedied(fix_by(FixStep(remedy=remedy), **more), 0)


@pytest.mark.parametrize("remedy", [each for each in Remedy if each is not Remedy.NOISE])
def test_each_remedy_changes_something_else_than_the_seed(remedy):
    places = (PlaceTarget(mention_id=DOG, x=0.2, y=0.5),)

    request = request_by(remedy, about=(DOG,), places=places)

    assert request.sampling.seed == 7
    assert request != START


def test_other_noise_is_another_seed_at_each_place_of_the_plan():
    fix = fix_by(*[FixStep(remedy=Remedy.NOISE, other_noise=True)] * 3)

    requests = [remedied(fix, place) for place in range(3)]

    assert len({each.sampling.seed for each in requests} | {7}) == 4
    assert all(replace(each.sampling, seed=7) == START.sampling for each in requests)


def test_presence_weights_only_the_words_of_the_missing_object():
    request = request_by(Remedy.PRESENCE, about=(CAR,))

    (weight,) = request.scene.prompt.weights
    assert weight.span.of(request.scene.prompt.text) == "car"
    assert request.scene.prompt.typed == "a photo of a dog to the left of a (car:1.3)"


def test_weights_of_the_prompt_itself_stay():
    once = request_by(Remedy.PRESENCE, about=(CAR,))

    again = request_by(Remedy.PRESENCE, request=once, about=(CAR,))

    assert again.scene.prompt.weights == once.scene.prompt.weights


def test_guided_remedies_skip_the_trial_and_an_unguided_start_gets_layout_guidance():
    sampling = replace(START.sampling, guidance=GuidanceSettings())

    guidance = request_by(Remedy.HOLD, request=replace(START, sampling=sampling)).sampling.guidance

    assert guidance.method_id == LAYOUT
    assert guidance.options == {"trial_share": 0.0, "order_margin": 0.12}
    assert guidance.inner_updates == 10


def test_the_sketch_keeps_places_of_the_user():
    mine = PlaceTarget(mention_id=DOG, x=0.9, y=0.1)
    sampling = replace(START.sampling, guidance=replace(RECOMMENDED, targets=(mine,)))
    places = sketch_for(START.scene, None)

    request = request_by(Remedy.SKETCH, request=replace(START, sampling=sampling), places=places)

    targets = {each.mention_id: each for each in request.sampling.guidance.targets}
    assert targets.keys() == {DOG, CAR}
    assert targets[DOG] == mine


def test_a_local_repair_redraws_its_regions_with_guidance_towards_the_target():
    repair = LocalRepair(
        start="start", sha256="5ha", regions=(Region(x=0, y=0, width=0.5, height=1),)
    )
    target = PlaceTarget(mention_id=DOG, x=0.2, y=0.5)
    fix = replace(fix_by(FixStep(remedy=Remedy.REDRAW)), repair=repair, redrawn=target)

    request = remedied(fix, 0)

    assert request.repair == repair
    assert request.sampling.guidance.targets == (target,)
    assert not request.steering.is_on


def test_a_weaker_hold_halves_the_strength_in_each_attempt():
    fix = fix_by(*[FixStep(remedy=Remedy.WEAKER)] * 3)

    strengths = [remedied(fix, place).sampling.guidance.strength for place in range(3)]

    assert strengths == [50, 25, 12.5]


def test_steering_takes_several_particles_without_guidance():
    request = request_by(Remedy.STEERING)

    assert request.steering.particles > 2
    assert not request.sampling.guidance.is_on


@pytest.mark.parametrize(
    ("relation_type", "axis", "is_less"),
    [(LEFT_OF, "x", True), (ABOVE, "y", True), (BEHIND, "y", True), (IN_FRONT_OF, "y", False)],
)
def test_the_sketch_shows_the_relation_and_what_is_nearer_stands_lower(
    relation_type, axis, is_less
):
    places = {
        each.mention_id: each for each in sketch_for(scene_of("dog", "car", relation_type), None)
    }

    assert (getattr(places[DOG], axis) < getattr(places[CAR], axis)) is is_less


def test_objects_that_are_far_apart_are_sketched_small():
    assert all(each.size for each in sketch_for(scene_of(relation_type=FAR_FROM), None))
    assert not any(each.size for each in sketch_for(scene_of(), None))


def test_every_reason_has_a_remedy():
    assert CANDIDATES.keys() == set(FixReason)
