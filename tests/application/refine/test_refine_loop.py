"""The loop on recorded scores: what each round asks for, by hand, as published and corrected."""

from dataclasses import replace
from pathlib import Path

import pytest

from spatialstudio.application.refine.refine_loop import RefineLoop, run_loop
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.assertion import DA_RECOMMENDED, AssertionScore, DaScore
from spatialstudio.domain.generation import (
    GenerationRequest,
    GuidanceSettings,
    ModelRef,
    RequestId,
    SamplingSettings,
)
from spatialstudio.domain.refinement import (
    REFINE_PUBLISHED,
    REFINE_RECOMMENDED,
    RefineAttempt,
    Refinement,
)
from spatialstudio.domain.scene import TextSpan
from spatialstudio.science.questions.da_score import assertions_of
from spatialstudio.science.refine.prompt_parts import in_prompt_order
from tests.fakes import scene_of
from tests.ui.scripted_engine import evaluation_of, picture_of

PRESENCE = GuidanceSettings(method_id="weighted-presence", strength=2, last_step=19)
RECORDED = (
    (0.9, 0.2, 0.3),  # dog, "to the left of", car
    (0.9, 0.2, 0.5),
    (0.9, 0.1, 0.8),
    (0.9, 0.6, 0.6),
    (0.9, 0.3, 0.9),
)


def prompt_scene():
    """Return the scene of "a photo of a dog to the left of a car", with the relation's words."""
    scene = scene_of()
    (relation,), start = scene.relations, scene.prompt.text.index("to the left of")
    span = TextSpan(start=start, stop=start + len("to the left of"))
    return replace(scene, relations=(replace(relation, span=span),))


def scored(assertions, chances):
    scores = tuple(
        AssertionScore(assertion=assertion, probability_yes=chance)
        for assertion, chance in zip(assertions.items, chances, strict=True)
    )
    return DaScore(value=sum(chances) / len(chances), scores=scores, source_id="recorded")


def recorded_loop(rules, rounds):
    """Return the loop after the recorded rounds, with the weights that the rules gave them."""
    scene = prompt_scene()
    refinement = Refinement(
        id="one",
        request=GenerationRequest(
            id=RequestId("r"),
            scene=scene,
            backend_id="fake",
            model=ModelRef(id="fake"),
            sampling=SamplingSettings(seed=7),
        ),
        presence=PRESENCE,
        rules=rules,
        assertions=in_prompt_order(assertions_of(scene), scene),
    )
    loop = RefineLoop(refinement, lambda _: None, DA_RECOMMENDED)
    for number, chances in enumerate(rounds):
        _, weights = loop.next_request()
        attempt = RefineAttempt(
            request_id=RequestId(f"a{number}"),
            weights=weights,
            score=scored(refinement.assertions, chances),
            picture=f"/runs/a{number}.png",
        )
        attempts = (*loop.refinement.attempts, attempt)
        loop = RefineLoop(
            replace(loop.refinement, attempts=attempts), lambda _: None, DA_RECOMMENDED
        )
    return loop


def asked(rules, rounds):
    """Return the prompt and the coefficients of every round, the first included."""
    requests = [
        recorded_loop(rules, RECORDED[:number]).next_request()[0] for number in range(rounds)
    ]
    return [
        (each.scene.prompt.as_typed, dict(each.sampling.guidance.mention_weights))
        for each in requests
    ]


def test_the_published_loop_asks_for_what_the_authors_code_asks():
    # the first below 0.75 is the relation in every round; it has no entity, so no coefficient;
    # its words are rebuilt from the parts: the bracket stays, and the weights are 1.1^w
    start = r"a photo of \[a dog to the left of a car"
    assert asked(REFINE_PUBLISHED, 5) == [
        (start, {"m1": 0, "m2": 0}),
        (r"a photo of \[a dog (to the left of:1.21) a car", {"m1": 0, "m2": 0}),
        (r"a photo of \[a dog (to the left of:1.331) a car", {"m1": 0, "m2": 0}),
        (r"a photo of \[a dog (to the left of:1.4641) a car", {"m1": 0, "m2": 0}),
        (r"a photo of \[a dog (to the left of:1.6105) a car", {"m1": 0, "m2": 0}),
    ]


def test_the_corrected_loop_raises_the_missing_object_before_its_relation():
    # the car, 0.3 and 0.5, before the relation that needs it; then the relation, 0.1; then, of two
    # equal scores, the car, as the relation waits for it
    assert asked(REFINE_RECOMMENDED, 5) == [
        ("a photo of a dog to the left of a car", {}),
        ("a photo of a dog to the left of a (car:1.1)", {"m1": 0, "m2": 1}),
        ("a photo of a dog to the left of a (car:1.21)", {"m1": 0, "m2": 2}),
        ("a photo of a dog (to the left of:1.1) a (car:1.21)", {"m1": 0, "m2": 2}),
        ("a photo of a dog (to the left of:1.1) a (car:1.331)", {"m1": 0, "m2": 3}),
    ]


@pytest.mark.parametrize("rules", [REFINE_PUBLISHED, REFINE_RECOMMENDED], ids=["code", "paper"])
def test_five_rounds_end_the_loop_and_the_highest_mean_is_kept(rules):
    # means: 0.467, 0.533, 0.6, 0.7, 0.7
    loop = recorded_loop(rules, RECORDED)

    assert loop.is_over
    assert loop.best.picture == "/runs/a3.png"


@pytest.mark.parametrize("rules", [REFINE_PUBLISHED, REFINE_RECOMMENDED], ids=["code", "paper"])
def test_every_round_has_the_seed_of_the_first_and_is_its_child(rules):
    request, _ = recorded_loop(rules, RECORDED[:3]).next_request()

    assert request.sampling.seed == 7
    assert request.parent_run_id == "a0"


def test_only_the_published_loop_guides_while_every_coefficient_is_0():
    published, _ = recorded_loop(REFINE_PUBLISHED, ()).next_request()
    corrected, _ = recorded_loop(REFINE_RECOMMENDED, ()).next_request()

    assert published.sampling.guidance.method_id == "weighted-presence"
    assert not corrected.sampling.guidance.is_on


def test_a_round_without_a_score_is_drawn_again():
    loop = recorded_loop(REFINE_RECOMMENDED, RECORDED[:2])
    lost = replace(loop.refinement.attempts[1], score=None, problem="The server is gone.")
    stored = replace(loop.refinement, attempts=(loop.refinement.attempts[0], lost))

    again = RefineLoop(stored, lambda _: None, DA_RECOMMENDED)

    assert len(again.refinement.attempts) == 1
    assert again.next_request()[1] == lost.weights


def test_a_round_that_was_cut_off_is_judged_by_its_whole_picture_instead_of_drawn_again():
    saved, two = [], recorded_loop(REFINE_RECOMMENDED, RECORDED[:2]).refinement
    loop = RefineLoop(two, saved.append, DA_RECOMMENDED)
    request, weights = loop.next_request()
    loop.begin(request.id, weights)
    picture = Path("/runs/cut-off.png")
    asked, judged = [], []

    def find(request_id, known):
        asked.append((request_id, known))
        return picture

    def judge(path, assertions):
        judged.append(path)
        score = scored(assertions, (0.9, 0.9, 0.9))
        run = OpenRun(id=request.id, scene=request.scene, path=path)
        evaluation = evaluation_of(request.scene, picture_of(7))
        return replace(run, evaluation=replace(evaluation, da_score=score))

    again = RefineLoop(saved[-1], saved.append, DA_RECOMMENDED, find)
    run_loop(again, lambda *_: pytest.fail("drawn again"), judge, lambda _: None)

    assert asked == [(request.id, "")]
    assert judged == [picture]
    assert again.refinement.attempts[:2] == two.attempts
    assert again.refinement.attempts[2].weights == weights
    assert again.is_over
