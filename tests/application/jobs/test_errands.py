"""Errands are done in order, can be stopped, and always end with a word."""

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
def errands(told):
    errands = BackgroundJobs(told.append)
    yield errands
    errands.close()


def test_an_errand_tells_its_parts_and_its_result(errands, told):
    def work(progress):
        progress(1, 2)
        return "files"

    errand_id = errands.run("Working", work)
    errands.finish()
    assert told == [
        BackgroundJobProgressed(errand_id=errand_id, done=1, total=2),
        BackgroundJobEnded(errand_id=errand_id, result="files"),
    ]


def test_a_failure_is_told_in_words(errands, told):
    def fail(_):
        raise StoreError("The disk is gone.", hint="Look for it.")

    errands.run("Working", fail)
    errands.finish()
    (ended,) = told
    assert (ended.error.title, ended.error.message) == ("Working", "The disk is gone.")


def test_what_nobody_foresaw_ends_with_a_word_as_well(errands, told):
    errands.run("Counting", lambda _: 1 / 0)
    errands.finish()
    (ended,) = told
    assert "ZeroDivisionError" in ended.error.details


def test_a_cancelled_errand_stops_at_its_next_part(errands, told):
    begun, may_go_on = threading.Event(), threading.Event()

    def work(progress):
        begun.set()
        may_go_on.wait()
        progress(1, 2)

    errand_id = errands.run("Working", work)
    waiting = errands.run("Working", lambda _: told.append("never"))
    begun.wait()
    errands.cancel(errand_id)
    errands.cancel(waiting)
    may_go_on.set()
    errands.finish()
    assert told == [
        BackgroundJobEnded(errand_id=errand_id, is_cancelled=True),
        BackgroundJobEnded(errand_id=waiting, is_cancelled=True),
    ]
