import pytest

from spatialstudio.application.run.choose_settings import new_request
from spatialstudio.application.run.estimates import RemainingTime
from tests.fakes import scene_of
from tests.ui.scripted_engine import STICKERS, step_of

GUIDED_S, PLAIN_S = 2.0, 1.0


@pytest.fixture
def request_of_six():
    return new_request(scene_of(), STICKERS, seed=1)


@pytest.fixture
def remaining():
    remaining = RemainingTime()
    remaining.start(0.0)
    return remaining


def watch(remaining, request, steps):
    """Let some steps end, guided ones slower; return when the last did."""
    now = 0.0
    for step in range(steps):
        event = step_of(request, step)
        now += PLAIN_S if event.step_size is None else GUIDED_S
        remaining.observe(event, now)
    return now


def test_there_is_no_estimate_before_the_first_step(remaining, request_of_six):
    assert remaining.seconds_left(request_of_six, 0) is None


def test_one_step_is_not_enough(remaining, request_of_six):
    watch(remaining, request_of_six, 1)
    assert remaining.seconds_left(request_of_six, 1) is None


def test_guided_and_plain_steps_are_timed_separately(remaining, request_of_six):
    watch(remaining, request_of_six, 5)
    assert remaining.seconds_left(request_of_six, 5) == pytest.approx(PLAIN_S)


def test_timings_are_reused_for_the_next_run(remaining, request_of_six):
    watch(remaining, request_of_six, 6)
    remaining.start(100.0)
    assert remaining.seconds_left(request_of_six, 0) == pytest.approx(
        2 * GUIDED_S + 4 * PLAIN_S, rel=0.25
    )


def test_at_the_end_no_time_remains(remaining, request_of_six):
    watch(remaining, request_of_six, 6)
    assert remaining.seconds_left(request_of_six, 6) == 0
