from dataclasses import replace

import pytest

from spatialstudio.application.jobs.messages import MemoryEstimated, PictureJudged
from spatialstudio.application.run.choose_settings import new_request
from spatialstudio.application.run.estimates import RunEstimate, RunEstimates
from spatialstudio.domain.attention import AttentionDetail
from spatialstudio.domain.derived_requests import unguided
from spatialstudio.domain.devices import MemoryEstimate
from spatialstudio.domain.generation import (
    CaptureSettings,
    GenerationStarted,
    GuidanceSettings,
    NoiseSearch,
)
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.scene import BEHIND
from spatialstudio.domain.steering import Steering
from tests.fakes import scene_of
from tests.ui.scripted_engine import STICKERS, evaluation_of, picture_of, step_of

GUIDED_S, PLAIN_S, JUDGING_S = 2.0, 1.0, 0.5
MEMORY = MemoryEstimate(
    weights_bytes=100, guiding_bytes=50, denoising_bytes=20, decoding_bytes=30, disk_bytes=7
)


class Clock:
    """Stands still until it is told to go on."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def request_():
    return new_request(scene_of(), STICKERS, seed=1)


@pytest.fixture
def asked():
    return []


@pytest.fixture
def estimates(clock, request_, asked):
    return RunEstimates({request_.id: request_}.get, asked.append, clock)


def run(estimates, request, clock):
    """Let a run go by whose guided steps are slower."""
    estimates.apply_event(
        GenerationStarted(
            request_id=request.id, total_steps=6, token_spans=(), device="cpu", memory=MEMORY
        )
    )
    for step in range(request.sampling.steps):
        event = step_of(request, step)
        clock.seconds += PLAIN_S if event.step_size is None else GUIDED_S
        estimates.apply_event(event)
    clock.seconds += JUDGING_S
    picture = picture_of(1)
    judged = PictureJudged(request_id=request.id, evaluation=evaluation_of(request.scene, picture))
    estimates.apply_event(judged)


def test_before_any_run_only_the_guided_steps_are_known(estimates, request_):
    assert estimates.estimate([request_]) == RunEstimate(guided_steps=(0, 0))


def test_a_run_updates_time_and_memory(estimates, request_, clock):
    run(estimates, request_, clock)
    estimate = estimates.estimate([request_])
    tried = 2  # steps without guidance first
    assert estimate.seconds == pytest.approx(GUIDED_S + (5 + tried) * PLAIN_S + JUDGING_S)
    assert (estimate.memory_bytes, estimate.disk_bytes) == (150, 7)
    assert estimate.device == "cpu"


def test_a_baseline_adds_plain_steps(estimates, request_, clock):
    run(estimates, request_, clock)
    both = estimates.estimate([request_, unguided(request_, "baseline")])
    alone = estimates.estimate([request_])
    assert both.seconds - alone.seconds == pytest.approx(6 * PLAIN_S + JUDGING_S)


def test_the_size_of_stored_layers_follows_the_steps_and_counts_every_run(estimates, request_):
    stored = replace(request_, capture=CaptureSettings(detail=AttentionDetail.EVERYTHING))
    estimates.learn(stored, MEMORY)
    many = estimates.estimate([stored, unguided(stored, "baseline"), replace(stored, height=512)])
    assert (many.run_disk_bytes, many.disk_bytes) == (7, 21)
    assert estimates.estimate([with_values(stored, steps=12)]).disk_bytes == 0  # to be asked for
    prompt = replace(stored.scene.prompt, text=f"{stored.scene.prompt.text} in the snow")
    longer = replace(stored, scene=replace(stored.scene, prompt=prompt))
    assert estimates.estimate([longer]).disk_bytes == 0  # more words have maps


def test_a_search_may_take_as_long_as_all_that_it_may_try(estimates, request_, clock):
    run(estimates, request_, clock)
    alone = estimates.estimate([request_])
    searched = estimates.estimate([replace(request_, search=NoiseSearch(candidates=4))])
    assert searched.seconds == pytest.approx(4 * alone.seconds)
    assert searched.memory_bytes == alone.memory_bytes
    assert (alone.candidates, searched.candidates) == (1, 4)


def test_depth_relations_are_left_to_a_search(estimates, request_):
    deep = with_values(request_, scene=scene_of(relation_type=BEHIND), guidance=GuidanceSettings())
    assert estimates.estimate([deep]).leaves_depth
    assert not estimates.estimate([replace(deep, search=NoiseSearch(candidates=2))]).leaves_depth
    assert not estimates.estimate([replace(deep, scene=scene_of())]).leaves_depth
    steered = replace(deep, steering=Steering(particles=3))
    assert not estimates.estimate([steered]).leaves_depth


def test_each_particle_takes_the_time_of_a_step(estimates, request_, clock):
    run(estimates, request_, clock)
    plain = unguided(request_, "plain")
    halved = Steering(particles=4, keep=0.5, start=0.5, every=1.0)
    alone, steered = (
        estimates.estimate([each]) for each in (plain, replace(plain, steering=halved))
    )
    assert steered.seconds - alone.seconds == pytest.approx((3 * 3 + 3) * PLAIN_S)
    assert steered.particles == 4


def test_steps_that_are_repeated_for_the_record_teach_nothing(estimates, request_, clock):
    run(estimates, request_, clock)
    learnt = estimates.estimate([request_]).seconds
    started = GenerationStarted(
        request_id=request_.id, total_steps=6, token_spans=(), device="cpu", is_repeated=True
    )
    for event in (started, *(step_of(request_, step) for step in range(6))):
        estimates.apply_event(event)
    assert estimates.estimate([request_]).seconds == learnt


def test_other_sizes_are_not_extrapolated(estimates, request_, clock):
    run(estimates, request_, clock)
    assert estimates.estimate([replace(request_, width=256, height=256)]).seconds is None


def test_estimates_are_restored_at_the_next_start(estimates, request_, clock, tmp_path):
    run(estimates, request_, clock)
    estimates.write(tmp_path / "cache" / "paces.json")
    later = RunEstimates({}.get, [].append, clock)
    later.read(tmp_path / "cache" / "paces.json")
    assert later.estimate([request_]).seconds == estimates.estimate([request_]).seconds


def test_every_device_has_a_separate_pace(estimates, request_, clock):
    run(estimates, request_, clock)
    elsewhere = estimates.estimate([with_values(request_, device="cuda:1")])
    assert (elsewhere.seconds, elsewhere.device) == (None, "cuda:1")


@pytest.mark.parametrize(
    "slower",
    [{"scheduler_id": "HeunDiscreteScheduler"}, {"guidance_scale": 1.0}],
    ids=["two calls a step", "half of every prediction"],
)
def test_other_calls_have_a_separate_pace(estimates, request_, clock, slower):
    run(estimates, request_, clock)
    alike = with_values(request_, scheduler_id="EulerDiscreteScheduler")
    assert estimates.estimate([alike]).seconds == estimates.estimate([request_]).seconds
    assert estimates.estimate([with_values(request_, **slower)]).seconds is None


def test_another_number_format_is_estimated_again(estimates, request_, asked):
    halved = with_values(request_, dtype="bfloat16")
    estimates.estimate([request_])
    estimates.estimate([halved])
    assert asked == [request_, halved]


@pytest.mark.parametrize(
    "content",
    ["", "[]", '{"a": 3}', '{"a": {"pace_s": {"0": "x"}}}', '{"a": {"guided_s": 1, "plain_s": 1}}'],
)
def test_a_damaged_file_gives_no_estimates(estimates, request_, tmp_path, content):
    path = tmp_path / "paces.json"
    path.write_text(content)
    estimates.read(path)
    assert estimates.estimate([request_]).seconds is None


def test_unknown_costs_are_requested_once_and_stored(estimates, request_, asked):
    estimates.estimate([request_])
    estimates.estimate([request_])
    assert asked == [request_]
    estimates.apply_event(MemoryEstimated(request=request_, memory=MEMORY))
    assert estimates.estimate([request_]).memory_bytes == MEMORY.peak_bytes


def test_another_capture_is_estimated_again(estimates, request_, asked):
    more = replace(request_, capture=CaptureSettings(detail=AttentionDetail.EVERYTHING))
    estimates.estimate([request_])
    estimates.estimate([more])
    assert asked == [request_, more]
