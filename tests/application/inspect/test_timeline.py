from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from spatialstudio.application.inspect.step_numbers import (
    baseline_in_words,
    due_steps,
    goal_of,
    mean_pos,
    name_first,
    name_second,
    pos_bounds,
)
from spatialstudio.application.run.choose_settings import new_request
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.attention import AttentionSnapshot
from spatialstudio.domain.derived_requests import unguided
from spatialstudio.domain.generation import StepEvent
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.steering import Steering
from spatialstudio.domain.verdict import Outcome
from tests.fakes import scene_of
from tests.ui.scripted_engine import STICKERS, evaluation_of, picture_of

SCENE = scene_of()
(RELATION,) = SCENE.relations
STEPS = 6
STEERED = Steering(particles=4)


def event_of(request, step, dog, car, **fields):
    """Return a step on which both things have these profiles along x."""
    subject, other = RELATION.ends
    maps = {subject: np.array([dog], np.float32), other: np.array([car], np.float32)}
    return StepEvent(
        request_id=request.id,
        step=step,
        total_steps=STEPS,
        timestep=0.0,
        pos={RELATION.id: step / 10},
        attention=AttentionSnapshot(maps=maps, layers=("fake",)),
        **fields,
    )


@pytest.fixture
def request_():
    request = new_request(SCENE, STICKERS, seed=7, steps=STEPS)
    return with_values(request, guidance=replace(request.sampling.guidance, last_step=2))


@pytest.fixture
def run(request_):
    """A guided run, due on three steps; on the third guidance rested."""
    steps = tuple(
        event_of(request_, step, [1, 0], [0, 1], step_size=5.0 if step < 2 else None)
        for step in range(5)
    )
    return OpenRun(id=request_.id, scene=SCENE, request=request_, total_steps=STEPS, steps=steps)


def judged(outcome):
    return evaluation_of(SCENE, picture_of(7), outcome)


def test_the_bounds_count_ties_as_zero_and_as_one(request_):
    # dog: half at 0, half at 1; car: wholly at 1. Before: 1/2. Tied: 1/2.
    assert pos_bounds(event_of(request_, 0, [1, 1], [0, 2]), RELATION) == (0.5, 1.0)


def test_separate_objects_have_no_ties(request_):
    assert pos_bounds(event_of(request_, 0, [1, 0], [0, 1]), RELATION) is None


def test_an_empty_map_has_no_bounds(request_):
    assert pos_bounds(event_of(request_, 0, [0, 0], [0, 1]), RELATION) is None


def test_guidance_acts_on_the_steps_of_its_window(run):
    assert due_steps(run) == (0, 1, 2)


def test_without_guidance_no_step_is_guided(run, request_):
    plain = replace(run, request=unguided(request_, request_.id))
    assert due_steps(plain) == ()
    assert goal_of(plain) is None


def test_the_mean_includes_both_ends(run):
    assert mean_pos(run, 1, 3)[RELATION.id] == pytest.approx(0.2)


def test_a_range_without_steps_has_no_mean(run):
    assert mean_pos(run, 5, 5) == {}


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda request: unguided(request, request.id), "Baseline"),
        (lambda request: with_values(request, seed=8), "Seed 8"),
        (lambda request: request, "Other run"),
        (lambda request: replace(unguided(request, request.id), steering=STEERED), "Other run"),
    ],
    ids=["unguided", "another seed", "the same again", "steered"],
)
def test_a_second_run_is_named_by_its_differences(run, request_, change, name):
    assert name_second(run, replace(run, request=change(request_))) == name


def test_the_first_of_two_seeds_is_named_by_its_seed(run, request_):
    other = replace(run, request=with_values(request_, seed=4244055911))
    assert name_first(run, other) == f"Seed {request_.sampling.seed}"
    assert name_second(run, other) == "Seed 4244055911"
    assert name_first(run, run) == name_first(run)


def test_a_sentence_on_a_second_run_is_of_its_baseline_only(run, request_):
    baseline = replace(run, request=unguided(request_, request_.id))
    said = "Attention PoS 1 %: the maps contradict it."
    words = "Baseline: attention PoS 1 %: the maps contradict it."
    assert baseline_in_words(run, baseline, said) == words
    assert baseline_in_words(run, baseline, "") == ""
    other = replace(run, request=with_values(request_, seed=8))
    assert baseline_in_words(run, other, said) == ""


@pytest.mark.parametrize(("passes", "name"), [(0, "Guidance not needed"), (3, "Guided")])
def test_a_finished_run_whose_trial_needed_no_guidance_is_not_called_guided(run, passes, name):
    assert name_first(run) == "Guided"  # one step is still to come
    steps = tuple(replace(each, guiding_passes=passes) for each in run.steps)
    assert name_first(replace(run, steps=(*steps, replace(steps[-1], step=STEPS - 1)))) == name


@pytest.mark.parametrize(
    ("outcome", "name"), [(Outcome.PASS, "Fixed"), (Outcome.FAIL, "Attempt"), (None, "Attempt")]
)
def test_a_picture_is_compared_with_the_start_of_its_fix(run, request_, outcome, name):
    start = replace(run, path=Path("runs/a.png"), evaluation=judged(Outcome.FAIL))
    child = with_values(request_, seed=8, parent_run_id="a")
    fixed = replace(run, request=child, evaluation=outcome and judged(outcome))
    assert (name_first(fixed, start), name_second(fixed, start)) == (name, "Start")


def test_a_child_of_a_picture_that_passes_is_named_by_its_differences(run, request_):
    parent = replace(run, path=Path("runs/a.png"), evaluation=judged(Outcome.PASS))
    child = replace(run, request=with_values(request_, seed=8, parent_run_id="a"))
    assert (name_first(child, parent), name_second(child, parent)) == ("Seed 8", "Seed 7")


def test_ties_are_measured_once_for_each_step(request_, monkeypatch):
    event = event_of(request_, 0, [1, 1], [0, 2])
    before = pos_bounds(event, RELATION)
    monkeypatch.setattr("spatialstudio.application.inspect.step_numbers.relation_pos", None)
    assert pos_bounds(event, RELATION) == before
