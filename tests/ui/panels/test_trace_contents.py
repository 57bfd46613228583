import pytest

from spatialstudio.application.engine.messages import Phase
from spatialstudio.application.flow.generate_image import new_request
from spatialstudio.application.session import OpenRun, RunState
from spatialstudio.ui.panels.trace_contents import (
    guided_steps,
    pos_curves,
    progress_of,
    step_name,
)
from tests.fakes import scene_of
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
    (curve,) = pos_curves(run_of())
    assert [step for step, _ in curve.points] == [0, 1, 2, 3]
    assert curve.hue == 0
    assert curve.name == "dog to the left of car"


def test_the_steps_that_were_guided_are_known(run_of):
    assert guided_steps(run_of()) == (0, 1, 2)


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
        ({"state": RunState.DONE, "seconds": 2.5}, "Done in 2.5 s"),
        ({"state": RunState.DONE}, "Judged"),
        ({"state": RunState.CANCELLED}, "Cancelled"),
        ({"state": RunState.FAILED}, "Failed"),
    ],
    ids=["done", "judged", "cancelled", "failed"],
)
def test_a_run_that_is_over_says_how_it_ended(run_of, fields, words):
    assert progress_of(run_of(**fields), "", None).message == words
