import multiprocessing
import os
import queue
import signal
import sys
import threading
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from spatialstudio.application.engine.child_main import NICENESS
from spatialstudio.application.engine.process_engine import ProcessEngine
from spatialstudio.application.jobs.messages import (
    EngineStopped,
    EvaluateJob,
    PictureJudged,
    ReadTokens,
    TokensRead,
)
from spatialstudio.domain.generation import (
    GenerationCancelled,
    GenerationFinished,
    GenerationStarted,
    RequestId,
    StepEvent,
)
from tests.fakes import FakeBackend, FakeEngineRegistry, scene_of
from tests.patience import PATIENCE_S

ENDINGS = (PictureJudged, GenerationCancelled, EngineStopped)
MANY_STEPS = 100_000
KILL = signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL


class DyingBackend(FakeBackend):
    """Is ended from outside after the first step when the seed is 13."""

    def generate(self, request, model, token, report):
        def die(event):
            report(event)
            if request.sampling.seed == 13 and isinstance(event, StepEvent):
                os.kill(os.getpid(), KILL)

        return super().generate(request, model, token, die)


class DeafBackend(FakeBackend):
    """Does not ask whether it is still wanted."""

    def generate(self, request, model, token, report):
        def wait(event):
            report(event)
            threading.Event().wait()

        return super().generate(request, model, token, wait)


class PoliteBackend(FakeBackend):
    """Tells how far its process gives way, in the place of its device."""

    def generate(self, request, model, token, report):
        def tell(event):
            is_first = isinstance(event, GenerationStarted)
            report(replace(event, device=str(os.nice(0))) if is_first else event)

        return super().generate(request, model, token, tell)


class Reports:
    """Takes an engine's reports on its thread, gives them out on the test's."""

    def __init__(self):
        self.seen = []
        self._queue = queue.SimpleQueue()

    def take(self, report):
        self._queue.put(report)

    def until(self, *kinds):
        """Wait for a report of one of these types and return it."""
        while True:
            self.seen.append(self._queue.get(timeout=PATIENCE_S))
            if isinstance(self.seen[-1], kinds):
                return self.seen[-1]


@pytest.fixture
def reports():
    return Reports()


@pytest.fixture
def start(reports):
    engines = []

    def run(backend=FakeBackend):
        engine = ProcessEngine(partial(registry_with, backend))
        engines.append(engine)
        engine.start(reports.take)
        return engine

    yield run
    for engine in engines:
        engine.close()


def registry_with(backend):
    return FakeEngineRegistry(backend())


def test_reports_arrive_in_order(start, reports, job, report_order):
    start().submit(job)
    reports.until(PictureJudged)
    assert [getattr(report, "phase", type(report)) for report in reports.seen] == report_order


@pytest.mark.skipif(sys.platform == "win32", reason="niceness is a word of POSIX")
def test_the_engine_has_a_lower_priority_than_the_program(start, reports, job):
    start(PoliteBackend).submit(job)
    assert int(reports.until(GenerationStarted).device) == min(os.nice(0) + NICENESS, 19)


def test_arrays_arrive_complete_and_read_only(start, reports, make_job):
    start().submit(make_job(seed=9))
    step, finished = reports.until(StepEvent), reports.until(GenerationFinished)
    assert np.array_equal(finished.image, np.full((16, 16, 3), 9))
    assert not finished.image.flags.writeable
    assert not step.attention.maps["m1"].flags.writeable


def test_a_query_is_answered_during_generation(start, reports, make_job):
    engine, job = start(), make_job(steps=MANY_STEPS)
    engine.submit(job)
    reports.until(StepEvent)
    engine.ask(ReadTokens(prompt="a dog", model=job.model))
    assert reports.until(TokensRead).prompt == "a dog"
    engine.cancel(job.job_id)
    reports.until(GenerationCancelled)


def test_jobs_run_one_at_a_time(start, reports, make_job):
    engine = start()
    engine.submit(make_job("first"))
    engine.submit(make_job("second"))
    assert reports.until(PictureJudged).request_id == "first"
    assert reports.until(PictureJudged).request_id == "second"


def test_a_large_picture_can_be_judged(start, reports):
    picture = np.zeros((1024, 1024, 3), np.uint8)
    start().submit(EvaluateJob(job_id=RequestId("look"), image=picture, scene=scene_of()))
    assert reports.until(PictureJudged).request_id == "look"


def test_cancelling_ends_the_running_job_and_the_next_one_works(start, reports, make_job):
    engine = start()
    engine.submit(make_job("long", steps=MANY_STEPS))
    reports.until(StepEvent)
    engine.cancel(RequestId("long"))
    assert reports.until(*ENDINGS).at_step < MANY_STEPS
    engine.submit(make_job("next"))
    assert reports.until(PictureJudged).request_id == "next"


def test_a_waiting_job_can_be_cancelled(start, reports, make_job):
    engine = start()
    engine.submit(make_job("long", steps=MANY_STEPS))
    engine.submit(make_job("waiting"))
    reports.until(StepEvent)
    engine.cancel(RequestId("waiting"))
    engine.cancel(RequestId("long"))
    assert reports.until(*ENDINGS).request_id == "long"
    assert reports.until(*ENDINGS) == GenerationCancelled(
        request_id=RequestId("waiting"), at_step=0
    )


def test_a_child_that_dies_is_reported_and_the_next_job_works(start, reports, make_job):
    engine = start(DyingBackend)
    engine.submit(make_job("deadly", seed=13))
    assert "stopped unexpectedly" in reports.until(EngineStopped).error.message
    engine.submit(make_job("next"))
    assert reports.until(*ENDINGS).request_id == "next"


def test_a_crash_loses_only_the_current_picture(start, reports, make_job):
    engine = start(DyingBackend)
    for name, seed in (("deadly", 13), ("second", 0), ("third", 0)):
        engine.submit(make_job(name, seed=seed))
    assert reports.until(EngineStopped).lost == "deadly"
    assert reports.until(*ENDINGS).request_id == "second"
    assert reports.until(*ENDINGS).request_id == "third"


def test_a_job_cancelled_before_a_crash_stays_cancelled(start, reports, make_job):
    engine = start(DyingBackend)
    engine.submit(make_job("deadly", seed=13, steps=MANY_STEPS))
    engine.submit(make_job("waiting"))
    engine.cancel(RequestId("waiting"))
    reports.until(EngineStopped)
    assert isinstance(reports.until(*ENDINGS), GenerationCancelled)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows tells no one who ended a process")
def test_a_child_killed_by_the_system_is_reported_as_out_of_memory(start, reports, make_job):
    start(DyingBackend).submit(make_job("deadly", seed=13))
    assert "smaller" in reports.until(EngineStopped).error.hint


def test_a_job_can_be_submitted_from_the_report_of_a_crash(start, reports, make_job):
    take = reports.take

    def submit_again(report):
        if isinstance(report, EngineStopped):
            engine.submit(make_job("next"))
        take(report)

    reports.take = submit_again
    engine = start(DyingBackend)
    engine.submit(make_job("deadly", seed=13))
    assert reports.until(PictureJudged).request_id == "next"


def test_closing_an_idle_engine_leaves_no_process_and_reports_no_crash(start, reports, job):
    engine = start()
    engine.submit(job)
    reports.until(PictureJudged)
    engine.close()
    assert multiprocessing.active_children() == []
    assert not any(isinstance(report, EngineStopped) for report in reports.seen)


def test_closing_ends_a_running_job(start, reports, make_job):
    engine = start()
    engine.submit(make_job(steps=MANY_STEPS))
    reports.until(StepEvent)
    engine.close()
    assert multiprocessing.active_children() == []


def test_closing_does_not_wait_for_work_that_ignores_cancellation(start, reports, job):
    engine = start(DeafBackend)
    engine.submit(job)
    reports.until(GenerationStarted)
    engine.close()  # without a time limit it would never return
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("backend", [FakeBackend, DeafBackend])
def test_a_child_ends_when_its_parent_was_killed(make_job, backend):
    context = multiprocessing.get_context("spawn")
    pronounced, told = context.Pipe(duplex=False)
    parent = context.Process(target=be_parent, args=(told, backend, make_job(steps=MANY_STEPS)))
    parent.start()
    told.close()
    assert pronounced.poll(PATIENCE_S)
    assert pronounced.recv() == "drawing"
    parent.kill()
    parent.join()
    assert pronounced.poll(PATIENCE_S)  # the child has let go of the pipe
    with pytest.raises(EOFError):
        pronounced.recv()


def be_parent(told, backend, job):
    """Have a child draw that holds on to a pipe, and wait to be killed."""

    def tell(report):
        if isinstance(report, GenerationStarted):
            told.send("drawing")

    engine = ProcessEngine(partial(registry_holding, backend, told))
    engine.start(tell)
    engine.submit(job)
    threading.Event().wait()


def registry_holding(backend, pipe):  # the engine keeps what makes its workshop
    return registry_with(backend)


def test_a_closed_engine_rejects_jobs(start, job):
    engine = start()
    engine.close()
    with pytest.raises(RuntimeError, match="between start and close"):
        engine.submit(job)
