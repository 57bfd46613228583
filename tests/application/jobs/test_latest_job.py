"""Only the latest request counts, and nothing is left running."""

import threading

import pytest

from spatialstudio.application.jobs.background_jobs import LatestJob


class Slow:
    """Fulfils a request when the test lets it."""

    def __init__(self):
        self.done = []
        self.begun = threading.Event()
        self.may_go_on = threading.Event()

    def fulfil(self, request):
        self.begun.set()
        self.may_go_on.wait()
        self.done.append(request)


@pytest.fixture
def slow():
    slow = Slow()
    yield slow
    slow.may_go_on.set()


def come_to_rest(jobs):
    while (thread := jobs._thread) is not None:
        thread.join()


def test_a_waiting_job_is_replaced_by_a_newer_one(slow):
    jobs = LatestJob("test", slow.fulfil)
    jobs.ask("first")
    slow.begun.wait()
    jobs.ask("second")
    jobs.ask("third")
    assert jobs.is_out_of_date
    slow.may_go_on.set()
    come_to_rest(jobs)
    assert slow.done == ["first", "third"]


def test_a_job_after_a_pause_runs_as_well(slow):
    slow.may_go_on.set()
    jobs = LatestJob("test", slow.fulfil)
    for request in (1, 2):
        jobs.ask(request)
        come_to_rest(jobs)
    assert slow.done == [1, 2]


def test_nothing_starts_after_closing(slow):
    slow.may_go_on.set()
    jobs = LatestJob("test", slow.fulfil)
    jobs.close()
    jobs.ask(1)
    assert slow.done == []
    assert jobs.is_out_of_date
