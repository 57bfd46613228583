"""Background jobs run in order, can be cancelled, and always report their end."""

import threading

import pytest

from spatialstudio.application.jobs.background_jobs import (
    BackgroundJobEnded,
    BackgroundJobProgressed,
    BackgroundJobs,
)
from spatialstudio.domain.errors import StoreError


@pytest.fixture
def told():
    return []


@pytest.fixture
def background_jobs(told):
    background_jobs = BackgroundJobs(told.append)
    yield background_jobs
    background_jobs.close()


def test_a_job_reports_its_progress_and_its_result(background_jobs, told):
    def work(progress):
        progress(1, 2)
        return "files"

    job_id = background_jobs.run("Working", work)
    background_jobs.finish()
    assert told == [
        BackgroundJobProgressed(job_id=job_id, done=1, total=2),
        BackgroundJobEnded(job_id=job_id, result="files"),
    ]


def test_a_failure_is_reported_with_its_message(background_jobs, told):
    def fail(_):
        raise StoreError("The disk is gone.", hint="Look for it.")

    background_jobs.run("Working", fail)
    background_jobs.finish()
    (ended,) = told
    assert (ended.error.title, ended.error.message) == ("Working", "The disk is gone.")


def test_an_unexpected_failure_is_reported_too(background_jobs, told):
    background_jobs.run("Counting", lambda _: 1 / 0)
    background_jobs.finish()
    (ended,) = told
    assert "ZeroDivisionError" in ended.error.details


def test_a_cancelled_job_stops_at_its_next_part(background_jobs, told):
    begun, may_go_on = threading.Event(), threading.Event()

    def work(progress):
        begun.set()
        may_go_on.wait()
        progress(1, 2)

    job_id = background_jobs.run("Working", work)
    waiting = background_jobs.run("Working", lambda _: told.append("never"))
    begun.wait()
    background_jobs.cancel(job_id)
    background_jobs.cancel(waiting)
    may_go_on.set()
    background_jobs.finish()
    assert told == [
        BackgroundJobEnded(job_id=job_id, is_cancelled=True),
        BackgroundJobEnded(job_id=waiting, is_cancelled=True),
    ]


def test_a_job_after_the_end_is_not_run(background_jobs, told):
    background_jobs.run("Working", lambda progress: None)
    background_jobs.close()
    before = list(told)
    background_jobs.run("Drawing the figure", lambda progress: pytest.fail("was run"))
    assert told == before
