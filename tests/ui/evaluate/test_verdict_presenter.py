from dataclasses import replace
from pathlib import Path

import pytest

from spatialstudio.application.run.choose_settings import new_request
from spatialstudio.application.session import OpenRun, RunState
from spatialstudio.cli.answers import run_answer, run_lines
from spatialstudio.domain.generation import CandidateScore
from spatialstudio.domain.scene import RIGHT_OF
from spatialstudio.domain.steering import Steering
from spatialstudio.domain.verdict import Outcome
from spatialstudio.science.guidance.methods.layout import TRIAL_SHARE
from spatialstudio.ui.evaluate.verdict_checks import judged_relations
from spatialstudio.ui.run.run_facts import facts_of
from tests.fakes import counted_scene, scene_of
from tests.ui.scripted_engine import STICKERS, evaluation_of, picture_of, step_of


@pytest.fixture
def done():
    request = new_request(scene_of(), STICKERS, seed=7)
    picture = picture_of(7)
    return OpenRun(
        id=request.id,
        scene=request.scene,
        request=request,
        state=RunState.DONE,
        image=picture,
        evaluation=evaluation_of(request.scene, picture),
        device="cpu",
        seconds=2.5,
        path=Path("runs") / "one.png",
    )


def test_a_verdict_is_told_with_its_relation_and_sentence(done):
    (judged,) = judged_relations(done, "Guided")
    assert judged.relation == "dog to the left of car"
    assert judged.run == "Guided"
    assert "0.50" in judged.explanation


def attended(done, pos):
    """The run with the PoS of its attention at the last step."""
    step = step_of(done.request, 0)
    return replace(done, steps=(step, replace(step, step=1, pos={"r1": pos})))


@pytest.mark.parametrize(
    ("outcome", "pos", "said"),
    [
        (Outcome.FAIL, 0.98, "Attention PoS is 98 %, but the picture does not satisfy"),
        (Outcome.PASS, 0.02, "Attention PoS is only 2 %, but the picture satisfies"),
    ],
)
def test_a_verdict_tells_that_the_attention_says_otherwise(done, outcome, pos, said):
    (verdict,) = done.evaluation.verdicts
    verdicts = (replace(verdict, outcome=outcome, reason=None),)
    run = attended(replace(done, evaluation=replace(done.evaluation, verdicts=verdicts)), pos)
    (judged,) = judged_relations(run)
    assert said in judged.explanation
    assert said in " ".join(run_lines(run))
    (answer,) = run_answer(run)["verdicts"]
    assert said in answer["why"]
    assert answer["attention_pos"] == pos


def test_attention_to_another_prompt_says_nothing_of_this_one(done):
    other = replace(done, scene=scene_of(relation_type=RIGHT_OF))
    (judged,) = judged_relations(attended(other, 0.02))
    assert "attention" not in judged.explanation


def test_counts_and_colours_are_said_not_to_be_checked(done):
    picture = picture_of(7)
    scene = counted_scene()
    run = replace(done, scene=scene, evaluation=evaluation_of(scene, picture))
    said = "Count (three) and colour (blue) were not checked."
    (judged,) = judged_relations(run)
    assert judged.explanation.endswith(said)
    assert said in " ".join(run_lines(run))
    (answer,) = run_answer(run)["verdicts"]
    assert answer["why"].endswith(said)
    assert [(each["kind"], each["words"]) for each in answer["not_checked"]] == [
        ("count", "three"),
        ("colour", "blue"),
    ]
    assert [box["label"] for box in answer["evidence"]["boxes"]] == ["dog", "car"]


def test_what_is_not_judged_says_nothing():
    assert judged_relations(OpenRun(id="x", scene=scene_of())) == ()


def test_the_facts_suffice_to_draw_it_again(done):
    facts = dict(facts_of(done))
    assert facts["Seed"] == "7"
    assert facts["Model"] == "stickers"
    assert facts["Guidance"] == "layout, step size 100"
    assert facts["Time"] == "2.5 s on cpu"
    assert facts["Folder"] == "runs"


def test_a_run_that_its_trial_left_unguided_names_the_setting_that_guides_it(done):
    step = step_of(done.request, 0)
    unguided = replace(step, guiding_passes=0, step_size=None)
    said = "needed no guidance; with 0 as Trial without guidance it is guided"
    assert TRIAL_SHARE.label in said
    facts = dict(facts_of(replace(done, steps=(unguided,))))
    assert (facts["Guidance"], facts["Trial"]) == ("layout, step size 100, not needed", said)
    assert "Trial" not in dict(facts_of(replace(done, steps=(replace(step, guiding_passes=1),))))


def test_a_steered_run_tells_how_many_particles_it_had(done):
    assert "Steering" not in dict(facts_of(done))
    steered = replace(done, request=replace(done.request, steering=Steering(particles=12)))
    assert dict(facts_of(steered))["Steering"] == "12 particles"


def test_a_search_tells_how_many_it_compared_and_what_did_not_choose(done):
    scores = [
        CandidateScore(seed=seed, pse=0.5, lead=0.0, found=2, sureness=0.5, second=second)
        for seed, second in ((7, 0.5), (8, 1.0))
    ]
    facts = dict(facts_of(replace(done, candidates=tuple(scores))))
    assert facts["Noise search"] == "best of 2; 50% of its relations pass"
    assert "Noise search" not in dict(facts_of(done))


def test_a_foreign_picture_has_a_size_only(done):
    foreign = OpenRun(id="x", scene=done.scene, image=done.image)
    assert [name for name, _ in facts_of(foreign)] == ["Size"]
