from dataclasses import replace

import pytest

from spatialstudio.application.jobs.messages import Phase
from spatialstudio.application.run.choose_settings import new_request
from spatialstudio.application.session import OpenRun, RunState
from spatialstudio.domain.attention import Moment
from spatialstudio.ui.inspect.trace_presenter import (
    progress_of,
    span_in_words,
    step_name,
    time_contents,
)
from tests.fakes import scene_of
from tests.ui.judged_runs import CAR, DOG, judged_run
from tests.ui.scripted_engine import STEPS, STICKERS, step_of


@pytest.fixture
def run_of():
    """A maker of runs after four of their steps."""

    def make(**fields):
        request = new_request(scene_of(), STICKERS, seed=7)
        steps = tuple(step_of(request, step) for step in range(4))
        return OpenRun(
            id=request.id,
            scene=request.scene,
            request=request,
            total_steps=STEPS,
            steps=steps,
            **fields,
        )

    return make


def test_a_curve_has_a_point_a_step_in_its_subjects_hue(run_of):
    (curve,) = time_contents(run_of(), None).first.curves
    assert [step for step, _ in curve.points] == [0, 1, 2, 3]
    assert curve.hue == 0
    assert curve.name == "dog to the left of car"


def test_the_steps_that_were_guided_are_known(run_of):
    assert time_contents(run_of(), None).first.guided_steps == (0,)


def test_the_chart_says_when_within_a_step_pos_was_read(run_of):
    steps = tuple(
        replace(step, pos_after=step.pos) if step.is_guided else step for step in run_of().steps
    )
    run = replace(run_of(), steps=steps)
    assert time_contents(run, None).reading == "PoS after the step's updates"
    assert time_contents(run, None, Moment.BEFORE).reading == "PoS before the step's updates"


def with_pos(step, pos):
    return replace(step, pos={"r1": pos}, pos_after={"r1": pos} if step.is_guided else {})


def test_the_curve_is_of_one_reading(run_of):
    steps = tuple(
        replace(step, pos_after={"r1": 0.9}) if step.is_guided else step for step in run_of().steps
    )
    run = replace(run_of(), steps=steps)
    (after,) = time_contents(run, None).first.curves
    (before,) = time_contents(run, None, Moment.BEFORE).first.curves
    assert [value for _, value in after.points] == [0.9] + [s.pos["r1"] for s in steps[1:]]
    assert [value for _, value in before.points] == [step.pos["r1"] for step in steps]


def test_the_difference_is_the_first_run_less_the_second(run_of):
    run, beside = run_of(), run_of()
    lower = tuple(with_pos(step, step.pos["r1"] - 0.1) for step in beside.steps[:2])
    contents = time_contents(run, replace(beside, steps=lower))
    (difference,) = contents.differences
    assert [step for step, _ in difference.points] == [0, 1]
    assert [value for _, value in difference.points] == pytest.approx([0.1, 0.1])


def test_a_range_is_said_with_its_means(run_of):
    run = run_of()
    steps = tuple(with_pos(step, step.step / 10) for step in run.steps)
    run = replace(run, steps=steps)
    said = span_in_words(run, run, (1, 3))
    assert said == "Mean of steps 2 to 4: dog to the left of car 0.20 (Other run 0.20)"


def test_without_a_range_nothing_is_said(run_of):
    assert span_in_words(run_of(), None, None) == ""


@pytest.mark.parametrize(("step", "name"), [(0, f"Step 1 of {STEPS}"), (5, "")])
def test_only_steps_that_happened_have_a_name(run_of, step, name):
    assert step_name(run_of(), step) == name


def test_denoising_tells_how_many_steps_are_done(run_of):
    progress = progress_of(run_of(phase=Phase.DENOISING), "Guided", 3.2)
    assert progress.phases[progress.current] == "Denoise"
    assert progress.detail == f"4 of {STEPS}"
    assert progress.remaining == "about 3 s left"


def test_loading_has_no_known_share(run_of):
    assert progress_of(run_of(phase=Phase.LOADING), "", None).share is None


def test_judging_counts_its_looks(run_of):
    progress = progress_of(run_of(phase=Phase.JUDGING, parts=(1, 4)), "", None)
    assert (progress.detail, progress.share) == ("1 of 4", 0.25)


def test_refinement_is_told(run_of):
    run = run_of(phase=Phase.DENOISING)
    refined = replace(run, steps=(*run.steps[:-1], replace(run.steps[-1], guiding_passes=7)))
    assert progress_of(refined, "", None).detail == f"4 of {STEPS}, 7 refinement passes"


@pytest.mark.parametrize(("silent_s", "detail"), [(1.9, ""), (2.0, "2 s"), (14.4, "14 s")])
def test_what_is_silent_for_long_says_how_long(run_of, silent_s, detail):
    run = run_of(phase=Phase.LOADING)
    assert progress_of(run, "", None, silent_s=silent_s).detail == detail


def test_a_picture_that_is_only_judged_has_two_phases(run_of):
    run = replace(run_of(phase=Phase.LOOKING), request=None)
    assert progress_of(run, "", None).phases == ("Segment", "Judge")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, ""),
        (0.4, "less than 1 s left"),
        (12.0, "about 12 s left"),
        (150.0, "about 2 min left"),
    ],
    ids=["unknown", "almost done", "seconds", "minutes"],
)
def test_the_time_left_is_said_roughly(run_of, seconds, words):
    assert progress_of(run_of(phase=Phase.DENOISING), "", seconds).remaining == words


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"state": RunState.DONE, "seconds": 2.5}, "Generated in 2.5 s"),
        ({"state": RunState.DONE}, "Opened, not judged"),
        ({"state": RunState.CANCELLED}, "Cancelled"),
        ({"state": RunState.FAILED}, "Failed"),
    ],
    ids=["done", "not judged", "cancelled", "failed"],
)
def test_a_run_that_is_over_says_how_it_ended(run_of, fields, words):
    assert progress_of(run_of(**fields), "", None).message == words


def test_a_picture_from_elsewhere_says_that_it_was_judged():
    assert progress_of(judged_run(DOG, CAR), "", None).message == "Judged"
