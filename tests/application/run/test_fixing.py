"""Fix it through the queue: attempts one after another, kept whatever ends them."""

import pytest

from spatialstudio.application.jobs.messages import (
    EngineStopped,
    EvaluateJob,
    JobFailed,
    PictureJudged,
)
from spatialstudio.application.run.fixing import FixChanged
from spatialstudio.domain.errors import ErrorReport, RequestError
from spatialstudio.domain.fix import FixReason, Remedy
from spatialstudio.domain.generation import (
    GenerationCancelled,
    GenerationFailed,
    GenerationFinished,
)
from spatialstudio.domain.verdict import AbstentionReason, Outcome
from spatialstudio.science.refine.remedies import CANDIDATES
from tests.ui.scripted_engine import evaluation_of, picture_of

TROUBLE = ErrorReport(title="Drawing", message="Not enough memory.")


def judge(engine, outcome, reason=None):
    """Finish the newest job with a verdict."""
    job = engine.jobs[-1]
    engine.play(job, steps=1)
    request = job.request
    picture = picture_of(request.sampling.seed)
    engine.report(
        GenerationFinished(request_id=request.id, image=picture, seconds=2.5, peak_memory_bytes=1),
        PictureJudged(
            request_id=request.id,
            evaluation=evaluation_of(request.scene, picture, outcome, reason),
        ),
    )


@pytest.fixture
def heard(studio):
    """What is published about the fix."""
    events = []
    studio.bus.subscribe(lambda event: isinstance(event, FixChanged) and events.append(event))
    return events


@pytest.fixture
def failed(studio, engine):
    """A stored run whose relation fails."""
    studio.queue.add(studio.new_request(seed=7))
    judge(engine, Outcome.FAIL)
    return studio.session.run


@pytest.fixture
def begun(studio, failed, heard):
    """A fix whose first attempt is being drawn."""
    studio.fixing.start(studio.fixing.plan(failed, budget=3))
    return studio.fixing


def drawn(engine):
    return len(engine.jobs) - 1


def test_a_plan_names_the_reason_and_draws_nothing(studio, failed, engine):
    plan = studio.fixing.plan(failed)

    assert plan.reason is FixReason.PLACE
    assert plan.repair.start == failed.id
    assert len(plan.steps) == 6
    assert len(studio.fixing.requests(plan)) == 6
    assert drawn(engine) == 0


def test_the_first_attempt_that_passes_ends_the_fix(begun, engine, heard, failed):
    judge(engine, Outcome.FAIL)
    judge(engine, Outcome.PASS)

    assert drawn(engine) == 2
    assert not begun.is_running
    assert begun.fix.is_fixed
    assert begun.fix.best == begun.fix.attempts[1]
    assert {job.request.parent_run_id for job in engine.jobs[1:]} == {failed.path.stem}
    assert [(len(each.fix.attempts), each.is_running) for each in heard] == [
        (0, True),
        (1, True),
        (2, False),
    ]


def test_the_budget_ends_it_and_the_start_stays_the_best_of_equal_ones(begun, engine):
    for _ in range(3):
        judge(engine, Outcome.FAIL)

    assert drawn(engine) == 3
    assert begun.fix.is_over
    assert not begun.fix.is_fixed
    assert begun.fix.best == begun.fix.start


def test_where_an_attempt_fails_for_another_reason_the_rest_is_planned_for_it(begun, engine):
    planned = begun.fix.steps
    judge(engine, Outcome.UNDECIDABLE, AbstentionReason.AMBIGUOUS_OBJECT)

    steps = begun.fix.steps
    assert steps[0] == planned[0]
    assert len(steps) == len(planned)
    assert {each.reason for each in steps[1:]} == {FixReason.DUPLICATED}
    assert {each.remedy for each in steps[1:]} <= {*CANDIDATES[FixReason.DUPLICATED], Remedy.NOISE}

    judge(engine, Outcome.UNDECIDABLE, AbstentionReason.AMBIGUOUS_OBJECT)
    assert begun.fix.steps == steps


def test_a_worse_attempt_never_replaces_the_start(studio, engine, heard):
    studio.queue.add(studio.new_request(seed=7))
    judge(engine, Outcome.UNDECIDABLE, AbstentionReason.NEAR_BOUNDARY)
    studio.fixing.start(studio.fixing.plan(studio.session.run, budget=1))
    judge(engine, Outcome.FAIL)

    assert studio.fixing.fix.best == studio.fixing.fix.start


def test_an_attempt_is_drawn_before_waiting_pictures(studio, failed, engine):
    studio.queue.add(studio.new_request(seed=99), studio.new_request(seed=100))
    studio.fixing.start(studio.fixing.plan(failed, budget=2))

    judge(engine, Outcome.PASS)

    assert engine.jobs[-1].request.parent_run_id == failed.path.stem


def test_a_cancelled_fix_keeps_its_attempts_and_continues(begun, studio, engine, heard):
    judge(engine, Outcome.FAIL)
    begun.cancel()
    lost = engine.jobs[-1].request
    engine.report(GenerationCancelled(request_id=lost.id, at_step=1))

    assert not begun.is_running
    assert len(begun.fix.attempts) == 1
    begun.start(begun.fix)
    again = engine.jobs[-1].request
    assert again.id != lost.id
    assert again.sampling == lost.sampling
    judge(engine, Outcome.PASS)
    assert len(begun.fix.attempts) == 2


def test_a_run_cancelled_in_the_queue_pauses_the_fix(begun, studio, engine, heard):
    studio.queue.cancel()
    engine.report(GenerationCancelled(request_id=engine.jobs[-1].request.id, at_step=1))

    assert not begun.is_running
    assert not heard[-1].is_running


@pytest.mark.parametrize("end", ["failed", "engine"])
def test_a_failure_stops_the_fix_with_the_attempts_so_far(begun, studio, engine, heard, end):
    judge(engine, Outcome.FAIL)
    request = engine.jobs[-1].request
    if end == "failed":
        engine.report(GenerationFailed(request_id=request.id, error=TROUBLE))
    else:
        engine.report(EngineStopped(error=TROUBLE, lost=request.id))

    assert not begun.is_running
    assert heard[-1].error == TROUBLE
    assert [each.problem for each in begun.fix.attempts] == ["", "Not enough memory."]
    begun.start(begun.fix)
    judge(engine, Outcome.PASS)
    assert begun.fix.is_fixed
    assert len(begun.fix.attempts) == 2


def unjudged(engine, error=TROUBLE):
    """Finish the newest picture, whose evaluation fails."""
    job = engine.jobs[-1]
    engine.play(job, steps=1)
    picture = picture_of(job.request.sampling.seed)
    engine.report(
        GenerationFinished(
            request_id=job.request.id, image=picture, seconds=2.5, peak_memory_bytes=1
        ),
        JobFailed(request_id=job.request.id, error=error),
    )


def judged_again(engine, outcome):
    """Report the verdict of the newest job, which evaluates a stored picture."""
    job = engine.jobs[-1]
    evaluation = evaluation_of(job.scene, job.image, outcome)
    engine.report(PictureJudged(request_id=job.job_id, evaluation=evaluation))


def test_a_stored_attempt_is_judged_again_instead_of_drawn_again(begun, engine, heard):
    unjudged(engine)
    (lost,) = begun.fix.attempts
    assert not begun.is_running
    assert lost.problem == "Not enough memory."

    begun.start(begun.fix)
    assert isinstance(engine.jobs[-1], EvaluateJob)
    judged_again(engine, Outcome.FAIL)
    first = begun.fix.attempts[0]
    assert (first.picture, first.outcome) == (lost.picture, Outcome.FAIL)
    judge(engine, Outcome.PASS)
    assert begun.fix.is_fixed
    assert len(begun.fix.attempts) == 2


def test_an_attempt_that_cannot_be_judged_again_stops_the_fix(begun, engine, heard):
    unjudged(engine)
    begun.start(begun.fix)

    engine.report(JobFailed(request_id=engine.jobs[-1].job_id, error=TROUBLE))

    assert not begun.is_running
    assert heard[-1].error == TROUBLE
    begun.start(begun.fix)
    judged_again(engine, Outcome.PASS)
    assert begun.fix.is_fixed


def test_a_fix_of_an_earlier_session_is_found_by_any_of_its_pictures(begun, opened, engine, failed):
    judge(engine, Outcome.FAIL)
    attempt = begun.fix.attempts[0]

    later = opened(type(engine)())

    stored = later.fixing.stored(failed)
    assert stored is not None
    judged, in_flight = stored.attempts
    assert judged == attempt
    assert in_flight.problem == "The attempt was interrupted."
    assert later.storage.fixes.of_run(attempt.request_id) == stored


def test_what_passes_is_not_fixed(studio, engine):
    studio.queue.add(studio.new_request(seed=7))
    judge(engine, Outcome.PASS)

    with pytest.raises(RequestError, match="nothing to fix"):
        studio.fixing.plan(studio.session.run)


@pytest.mark.parametrize("budget", [0, 51])
def test_a_budget_out_of_range_is_refused(studio, failed, budget):
    with pytest.raises(RequestError):
        studio.fixing.plan(failed, budget=budget)


def test_a_style_that_guidance_changed_is_fixed_by_a_weaker_hold(studio, engine):
    studio.queue.add(studio.new_request(seed=7))
    judge(engine, Outcome.PASS)
    start = studio.session.run

    studio.fixing.start(studio.fixing.plan(start, reason=FixReason.STYLE))

    strength = engine.jobs[-1].request.sampling.guidance.strength
    assert strength == start.request.sampling.guidance.strength / 2
